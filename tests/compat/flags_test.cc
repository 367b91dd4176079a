// The effects of the flags of packet processors and of the sizes of the memory cache, by protocol.
#include <algorithm>
#include <cstdlib>

#include "capi_fixture.h"

namespace waymark::compat {
namespace {

ByteVector zeros_and_80(std::size_t zeros) {
  ByteVector bytes(zeros, 0);
  bytes.push_back(0x80);
  return bytes;
}

class FlagsCApi : public CApi {
 protected:
  /// Packets of a monitor and of a sink, by type; `flags` are added to those that make a decoder.
  struct Seen {
    std::vector<int> monitor, sink;
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    std::uint32_t used = 0;
  };
  static ocsd_datapath_resp_t to_sink(const void* context, ocsd_datapath_op_t operation,
                                      ocsd_trc_index_t /*index*/, const void* packet) {
    if (operation == OCSD_OP_DATA) seen(context).sink.push_back(*static_cast<const int*>(packet));
    return OCSD_RESP_CONT;
  }
  static void to_monitor(const void* context, ocsd_datapath_op_t operation,
                         ocsd_trc_index_t /*index*/, const void* packet, uint32_t /*size*/,
                         const uint8_t* /*data*/) {
    if (operation == OCSD_OP_DATA)
      seen(context).monitor.push_back(*static_cast<const int*>(packet));
  }
  static Seen& seen(const void* context) { return *static_cast<Seen*>(const_cast<void*>(context)); }

  Seen packets(const char* decoder, const void* config, int flags, const ByteVector& bytes) {
    single();
    Seen all;
    EXPECT_EQ(ocsd_dt_create_decoder(tree, decoder, OCSD_CREATE_FLG_PACKET_PROC | flags, config,
                                     &id_of_decoder),
              OCSD_OK);
    EXPECT_EQ(ocsd_dt_attach_packet_callback(tree, 0, OCSD_C_API_CB_PKT_SINK,
                                             reinterpret_cast<void*>(&to_sink), &all),
              OCSD_OK);
    EXPECT_EQ(ocsd_dt_attach_packet_callback(tree, 0, OCSD_C_API_CB_PKT_MON,
                                             reinterpret_cast<void*>(&to_monitor), &all),
              OCSD_OK);
    index = 0;
    all.answer = feed(bytes);
    all.used = used;
    return all;
  }

  const ocsd_stm_cfg stm{0x00100003, 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};
  const ocsd_etmv3_cfg etmv3{0x410CF250, 0x10000000, 0x344008F2, 1, ARCH_V7, profile_CortexA};
  const ocsd_ptm_cfg ptm{0x4100F310, 0, 0x30800000, 1, ARCH_V7, profile_CortexA};
  // ASYNC, VERSION 3, two reserved packets, data, and ASYNC, VERSION, data.
  const ByteVector stm_trace{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F,
                             0x0F, 0x30, 0x1F, 0x1F, 0x44, 0x33, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                             0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x0F, 0x30, 0x14, 0x00};
  // A-sync, a reserved header, a trigger.
  const ByteVector v7_trace = zeros_and_80(5) + ByteVector{0x12, 0x0C};
  const ByteVector ptm_trace = zeros_and_80(5) + ByteVector{0x10, 0x0C};
};

TEST_F(FlagsCApi, the_flag_hides_bad_packets_from_the_consumers_that_it_names) {
  const std::vector<int> all{ETM3_PKT_A_SYNC, ETM3_PKT_RESERVED, ETM3_PKT_TRIGGER};
  const std::vector<int> good{ETM3_PKT_A_SYNC, ETM3_PKT_TRIGGER};
  const Seen plain = packets("ETMV3", &etmv3, 0, v7_trace);
  EXPECT_EQ(plain.monitor, all);
  EXPECT_EQ(plain.sink, all);
  const Seen not_forwarded = packets("ETMV3", &etmv3, OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, v7_trace);
  EXPECT_EQ(not_forwarded.monitor, all);
  EXPECT_EQ(not_forwarded.sink, good);
  const Seen not_monitored = packets("ETMV3", &etmv3, OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS, v7_trace);
  EXPECT_EQ(not_monitored.monitor, good);
  EXPECT_EQ(not_monitored.sink, all);
}

TEST_F(FlagsCApi, nothing_is_a_bad_packet_to_the_flags_of_ptm) {
  const std::vector<int> all{PTM_PKT_A_SYNC, PTM_PKT_RESERVED, PTM_PKT_TRIGGER};
  for (const int flag : {OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS,
                         OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS}) {
    const Seen found = packets("PTM", &ptm, flag, ptm_trace);
    EXPECT_EQ(found.monitor, all) << flag;
    EXPECT_EQ(found.sink, all) << flag;
    EXPECT_EQ(found.answer, OCSD_RESP_CONT) << flag;
  }
}

TEST_F(FlagsCApi, only_software_trace_ends_at_a_bad_packet) {
  const int flag = OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS;
  EXPECT_EQ(packets("ETMV3", &etmv3, flag, v7_trace).answer, OCSD_RESP_CONT);
  const ocsd_etmv4_cfg etmv4 = etmv4_config(1);
  EXPECT_EQ(packets("ETMV4I", &etmv4, flag, async() + trace_info() + ByteVector{0x0F}).answer,
            OCSD_RESP_CONT);
  const Seen found = packets("STM", &stm, flag, stm_trace);
  EXPECT_EQ(found.answer, OCSD_RESP_FATAL_INVALID_DATA);
  EXPECT_EQ(found.used, 14U);
  EXPECT_EQ(found.monitor, (std::vector<int>{STM_PKT_ASYNC, STM_PKT_VERSION}));
  EXPECT_EQ(found.sink, found.monitor);
}

TEST_F(FlagsCApi, software_trace_can_search_for_the_next_synchronisation) {
  const Seen plain = packets("STM", &stm, 0, stm_trace);
  EXPECT_EQ(std::ranges::count(plain.sink, int{STM_PKT_RESERVED}), 2);
  EXPECT_EQ(std::ranges::count(plain.sink, int{STM_PKT_NOTSYNC}), 0);
  const Seen found = packets("STM", &stm, OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS, stm_trace);
  EXPECT_EQ(found.answer, OCSD_RESP_CONT);
  EXPECT_EQ(std::ranges::count(found.sink, int{STM_PKT_RESERVED}), 1);
  ASSERT_GE(found.sink.size(), 4U);
  EXPECT_EQ(found.sink[3], STM_PKT_NOTSYNC);
  EXPECT_EQ(std::ranges::count(found.sink, int{STM_PKT_VERSION}), 2);
}

TEST_F(FlagsCApi, the_end_can_be_signalled_after_a_fatal_error) {
  single();
  ASSERT_EQ(ocsd_dt_create_decoder(tree, "ETMV3", OCSD_CREATE_FLG_FULL_DECODER, &etmv3, nullptr),
            OCSD_OK);
  note_elements();
  add_code(kLoopAddress, loop);
  EXPECT_EQ(feed(zeros_and_80(5) + ByteVector{0x08, 0x21, 0x00, 0x10, 0x00, 0x00, 0x12, 0x0C}),
            OCSD_RESP_FATAL_INVALID_DATA);
  EXPECT_EQ(used, 13U);
  EXPECT_EQ(operate(OCSD_OP_EOT), OCSD_RESP_CONT);
  EXPECT_EQ(notes.elements.back(), "12 EO_TRACE( [end-of-trace])");

  single();
  ASSERT_EQ(ocsd_dt_create_decoder(tree, "STM", OCSD_CREATE_FLG_FULL_DECODER, &stm, nullptr),
            OCSD_OK);
  note_elements();
  index = 0;
  EXPECT_EQ(feed(stm_trace), OCSD_RESP_FATAL_INVALID_DATA);
  EXPECT_EQ(used, 14U);
  EXPECT_EQ(operate(OCSD_OP_EOT), OCSD_RESP_CONT);
  EXPECT_EQ(notes.elements.back(), "13 EO_TRACE( [end-of-trace])");
}

// ---- The memory cache ---------------------------------------------------------------------------

class CacheCApi : public CApi {
 protected:
  static void set(const char* name, const char* value) {
    // NOLINTBEGIN(concurrency-mt-unsafe): this program tests in one thread.
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
    // NOLINTEND(concurrency-mt-unsafe)
  }

  struct Code {
    ByteVector bytes;
    std::uint32_t most_asked = 0;
    unsigned asked = 0;
  };
  static std::uint32_t read(const void* context, const ocsd_vaddr_t address,
                            const ocsd_mem_space_acc_t /*space*/, const std::uint32_t wanted,
                            std::uint8_t* out) {
    Code& code = *static_cast<Code*>(const_cast<void*>(context));
    code.most_asked = std::max(code.most_asked, wanted);
    ++code.asked;
    if (address < kLoopAddress || address >= kLoopAddress + code.bytes.size()) return 0;
    const auto at = static_cast<std::size_t>(address - kLoopAddress);
    const std::size_t size = std::min<std::size_t>(wanted, code.bytes.size() - at);
    std::copy_n(code.bytes.begin() + static_cast<std::ptrdiff_t>(at), size, out);
    return static_cast<std::uint32_t>(size);
  }

  void begin() {
    single();
    index = 0;
    code = {};
    // 200 instructions of which the last comes back.
    for (unsigned i = 0; i < 199; ++i) code.bytes = code.bytes + compat::code({0xD503201F});
    code.bytes = code.bytes + compat::code({0x54000001 | (0x7FFFF - 198) << 5});
    ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
    note_elements();
    ASSERT_EQ(
        ocsd_dt_add_callback_mem_acc(tree, 0, ~ocsd_vaddr_t{0}, OCSD_MEM_SPACE_ANY, &read, &code),
        OCSD_OK);
  }
  void run() {
    notes = {};
    EXPECT_EQ(feed(start(kLoopAddress, 7) + taken()), OCSD_RESP_CONT);
    ASSERT_EQ(ranges(), 1U);
    EXPECT_EQ(notes.structures.back().num_instr_range, 200U);
  }

  Code code;
};

TEST_F(CacheCApi, functions_are_asked_for_no_more_than_a_page) {
  begin();
  run();
  EXPECT_GE(code.most_asked, 64U);
  begin();
  ASSERT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 1, 64, 4), OCSD_OK);
  run();
  EXPECT_EQ(code.most_asked, 64U);
  begin();
  ASSERT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 0, 0, 0), OCSD_OK);
  run();
  EXPECT_EQ(code.most_asked, 4U);
}

TEST_F(CacheCApi, the_environment_sets_how_to_begin) {
  set("OPENCSD_MEMACC_CACHE_PAGE_SIZE", "128");
  begin();
  run();
  EXPECT_EQ(code.most_asked, 128U);
  set("OPENCSD_MEMACC_CACHE_PAGE_SIZE", "1");
  begin();
  run();
  EXPECT_EQ(code.most_asked, 64U);
  set("OPENCSD_MEMACC_CACHE_PAGE_SIZE", nullptr);
  set("OPENCSD_MEMACC_CACHE_OFF", "0");
  begin();
  run();
  EXPECT_EQ(code.most_asked, 4U);
  set("OPENCSD_MEMACC_CACHE_OFF", nullptr);
}

TEST_F(CacheCApi, without_it_each_call_sees_memory_as_it_is) {
  for (const bool cached : {true, false}) {
    begin();
    if (!cached) {
      ASSERT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 0, 0, 0), OCSD_OK);
    }
    run();
    // B.NE at 1004 now.
    code.bytes[4] = 0xE1;
    code.bytes[5] = code.bytes[6] = 0xFF;
    code.bytes[7] = 0x54;
    EXPECT_EQ(feed(taken()), OCSD_RESP_CONT);
    EXPECT_EQ(notes.structures.back().num_instr_range, cached ? 200U : 2U);
    // A change of the sizes discards everything.
    ASSERT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 1, 1024, 8), OCSD_OK);
    EXPECT_EQ(feed(taken()), OCSD_RESP_CONT);
    EXPECT_EQ(notes.structures.back().num_instr_range, 2U);
  }
}

}  // namespace
}  // namespace waymark::compat
