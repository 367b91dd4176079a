// Error codes of trees, decoders and memory; opencsd-c-api.md 3.
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "capi_fixture.h"

namespace waymark::compat {
namespace {

class MisuseCApi : public CApi {
 protected:
  std::string file_of(std::size_t size) {
    const std::string path = testing::TempDir() + "capi_" + std::to_string(::getpid()) + "_" +
                             std::to_string(files_.size()) + ".bin";
    std::ofstream(path, std::ios::binary) << std::string(size, '\0');
    files_.push_back(path);
    return path;
  }
  ~MisuseCApi() override {
    for (const std::string& path : files_) std::filesystem::remove(path);
  }
  void decode_loop_in(ocsd_mem_space_acc_t space) {
    ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
    note_elements();
    ASSERT_EQ(ocsd_dt_add_buffer_mem_acc(tree, kLoopAddress, space, loop.data(), 8), OCSD_OK);
  }
  std::vector<std::string> files_;
};

constexpr ocsd_mem_space_acc_t kOldAny = static_cast<ocsd_mem_space_acc_t>(0x1F);

TEST_F(MisuseCApi, every_function_survives_a_null_or_dead_tree) {
  single();
  void* const dead = tree;
  ocsd_destroy_dcd_tree(tree);
  tree = nullptr;
  const ocsd_etmv4_cfg config = etmv4_config(0x10);
  const ocsd_file_mem_region_t region{};
  ocsd_decode_stats_t* stats = nullptr;
  for (void* none : {static_cast<void*>(nullptr), dead}) {
    ocsd_destroy_dcd_tree(none);
    ocsd_tl_log_mapped_mem_ranges(none);
    EXPECT_EQ(ocsd_dt_set_gen_elem_outfn(none, &note_element, &notes), 6);
    EXPECT_EQ(ocsd_dt_create_decoder(none, "ETMV4I", 2, &config, nullptr), 6);
    EXPECT_EQ(ocsd_dt_remove_decoder(none, 0x10), 6);
    EXPECT_EQ(ocsd_dt_attach_packet_callback(none, 0x10, OCSD_C_API_CB_PKT_MON, dead, nullptr), 6);
    EXPECT_EQ(ocsd_dt_get_decode_stats(none, 0x10, &stats), 6);
    EXPECT_EQ(ocsd_dt_reset_decode_stats(none, 0x10), 6);
    EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(none, 0, kOldAny, "x"), 6);
    EXPECT_EQ(ocsd_dt_add_binfile_region_mem_acc(none, &region, 1, kOldAny, "x"), 6);
    EXPECT_EQ(ocsd_dt_add_buffer_mem_acc(none, 0, kOldAny, loop.data(), 8), 6);
    EXPECT_EQ(ocsd_dt_add_callback_mem_acc(none, 0, 1, kOldAny, nullptr, nullptr), 6);
    EXPECT_EQ(ocsd_dt_add_callback_trcid_mem_acc(none, 0, 1, kOldAny, nullptr, nullptr), 6);
    EXPECT_EQ(ocsd_dt_remove_mem_acc(none, 0, kOldAny), 6);
    EXPECT_EQ(ocsd_dt_set_mem_acc_cacheing(none, 1, 1024, 8), 6);
    EXPECT_EQ(ocsd_def_errlog_set_strprint_cb(none, &notes, &note_text), 3);
    EXPECT_EQ(ocsd_dt_set_raw_frame_printer(none, 8), 3);
    EXPECT_EQ(ocsd_dt_set_gen_elem_printer(none), 3);
    EXPECT_EQ(ocsd_dt_set_pkt_protocol_printer(none, 0x10, 0), 3);
  }
}

TEST_F(MisuseCApi, trees_refuse_flags_that_exclude_each_other) {
  single();
  const auto refused = [&](std::uint32_t flags, std::string_view why) {
    notes.log.clear();
    EXPECT_EQ(ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, flags), nullptr);
    EXPECT_EQ(notes.log,
              "DFMT_CSFRAMES : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) [Invalid value "
              "parameter passed to component.]; " +
                  std::string(why));
  };
  refused(0, "No Config Flags Set");
  refused(0x40, "No Config Flags Set");
  refused(OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_HAS_FSYNCS,
          "Invalid Config Flag Combination Set");
  refused(OCSD_DFRMTR_FRAME_MEM_ALIGN | 0x40, "Unknown Config Flags");
  void* const hsyncs = ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_HAS_HSYNCS);
  EXPECT_NE(hsyncs, nullptr);
  ocsd_destroy_dcd_tree(hsyncs);
}

TEST_F(MisuseCApi, decoders_are_known_by_name_and_id) {
  formatted();
  ocsd_etmv4_cfg config = etmv4_config(0x90);
  unsigned char id = 0;
  EXPECT_EQ(ocsd_dt_create_decoder(tree, "etmv4i", 2, &config, &id), OCSD_ERR_DCDREG_NAME_UNKNOWN);
  EXPECT_EQ(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4D, 2, &config, &id),
            OCSD_ERR_DCDREG_NAME_UNKNOWN);
  EXPECT_EQ(ocsd_dt_create_decoder(tree, nullptr, 2, &config, &id), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_create_decoder(tree, "ETMV4I", 2, nullptr, &id), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_create_decoder(tree, "ETMV4I", 0, &config, &id), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_create_decoder(tree, "ETMV4I", 3, &config, &id), OCSD_OK);
  EXPECT_EQ(id, 0x10);
  EXPECT_EQ(ocsd_dt_create_decoder(tree, "ETMV4I", 2, &config, &id), OCSD_ERR_ATTACH_TOO_MANY);
  EXPECT_EQ(ocsd_dt_remove_decoder(tree, 0), OCSD_ERR_INVALID_ID);
  EXPECT_EQ(ocsd_dt_remove_decoder(tree, 0x70), OCSD_ERR_INVALID_ID);
  EXPECT_EQ(ocsd_dt_remove_decoder(tree, 0x20), OCSD_OK);
  EXPECT_EQ(ocsd_dt_remove_decoder(tree, 0x10), OCSD_OK);
  EXPECT_EQ(ocsd_dt_create_decoder(tree, "ETMV4I", 2, &config, &id), OCSD_OK);
  single();
  EXPECT_EQ(add_etmv4(0x10), OCSD_OK);
  EXPECT_EQ(id_of_decoder, 0x10);
  EXPECT_EQ(add_etmv4(0x11), OCSD_ERR_ATTACH_TOO_MANY);
  EXPECT_EQ(ocsd_dt_remove_decoder(tree, 0x55), OCSD_OK);
  EXPECT_EQ(add_etmv4(0x11), OCSD_OK);
}

TEST_F(MisuseCApi, packet_functions_go_where_they_can) {
  formatted();
  ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
  ASSERT_EQ(add_etmv4(0x11, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
  void* const function = reinterpret_cast<void*>(&note_element);
  const auto attach = [&](unsigned char id, int type) {
    return ocsd_dt_attach_packet_callback(tree, id, static_cast<ocsd_c_api_cb_types>(type),
                                          function, &notes);
  };
  EXPECT_EQ(attach(0x20, OCSD_C_API_CB_PKT_MON), OCSD_ERR_INVALID_ID);
  EXPECT_EQ(attach(0x10, 2), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(attach(0x10, OCSD_C_API_CB_PKT_SINK), OCSD_ERR_INVALID_PARAM_TYPE);
  EXPECT_EQ(attach(0x10, OCSD_C_API_CB_PKT_MON), OCSD_OK);
  EXPECT_EQ(attach(0x10, OCSD_C_API_CB_PKT_MON), OCSD_OK);
  EXPECT_EQ(attach(0x11, OCSD_C_API_CB_PKT_SINK), OCSD_OK);
  EXPECT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x20, 0), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 0), OCSD_ERR_INVALID_PARAM_TYPE);
  EXPECT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1), OCSD_OK);
  EXPECT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1), OCSD_OK);
}

TEST_F(MisuseCApi, memory_ranges_begin_even_and_do_not_overlap) {
  formatted();
  const auto buffer = [&](ocsd_vaddr_t address, ocsd_mem_space_acc_t space, std::uint32_t size) {
    static const std::array<std::uint8_t, 64> kBytes{};
    return ocsd_dt_add_buffer_mem_acc(tree, address, space, kBytes.data(), size);
  };
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, 0, kOldAny), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 1, 1024, 8), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(buffer(0x1000, OCSD_MEM_SPACE_EL1N, 64), OCSD_OK);
  EXPECT_EQ(buffer(0x2001, OCSD_MEM_SPACE_EL1N, 64), OCSD_ERR_MEM_ACC_RANGE_INVALID);
  EXPECT_EQ(buffer(0x2000, OCSD_MEM_SPACE_EL1N, 63), OCSD_ERR_MEM_ACC_RANGE_INVALID);
  EXPECT_EQ(buffer(0x2000, OCSD_MEM_SPACE_EL1N, 2), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, kOldAny, nullptr, 64),
            OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(buffer(0x1020, kOldAny, 64), OCSD_ERR_MEM_ACC_OVERLAP);
  EXPECT_EQ(buffer(0x1020, OCSD_MEM_SPACE_EL1S, 64), OCSD_OK);
  EXPECT_EQ(buffer(0x1000, OCSD_MEM_SPACE_NONE, 64), OCSD_OK);
  EXPECT_EQ(buffer(~ocsd_vaddr_t{0} - 31, kOldAny, 64), OCSD_ERR_MEM_ACC_RANGE_INVALID);
  const auto none = [](const void*, ocsd_vaddr_t, ocsd_mem_space_acc_t, uint32_t, uint8_t*) {
    return 0U;
  };
  EXPECT_EQ(ocsd_dt_add_callback_mem_acc(tree, 0, ~ocsd_vaddr_t{0}, kOldAny, nullptr, nullptr),
            OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_add_callback_mem_acc(tree, 0x8001, 0x8FFF, kOldAny, none, nullptr),
            OCSD_ERR_MEM_ACC_RANGE_INVALID);
  EXPECT_EQ(ocsd_dt_add_callback_mem_acc(tree, 0x8000, 0x8FFE, kOldAny, none, nullptr),
            OCSD_ERR_MEM_ACC_RANGE_INVALID);
  EXPECT_EQ(ocsd_dt_add_callback_mem_acc(tree, 0x9000, 0x8FFF, kOldAny, none, nullptr),
            OCSD_ERR_MEM_ACC_RANGE_INVALID);
  EXPECT_EQ(ocsd_dt_add_callback_mem_acc(tree, 0x8000, 0x8FFF, kOldAny, none, nullptr), OCSD_OK);
  // By any address inside, in a space in common.
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, 0x8123, OCSD_MEM_SPACE_EL3), OCSD_OK);
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, 0x8123, OCSD_MEM_SPACE_EL3), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, 0x1010, OCSD_MEM_SPACE_EL3), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, 0x1010, OCSD_MEM_SPACE_EL1N), OCSD_OK);
  EXPECT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 1, 63, 8), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 1, 64, 257), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 0, 1, 1), OCSD_OK);
  EXPECT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 1, 64, 4), OCSD_OK);
}

TEST_F(MisuseCApi, a_range_that_encloses_another_is_accepted) {
  single();
  ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
  note_elements();
  const ByteVector nops = code({0xD503201F, 0xD503201F, 0xD503201F, 0xD503201F, 0xD503201F,
                                0xD503201F, 0xD503201F, 0xD503201F});
  const auto add = [&](ocsd_vaddr_t address, const ByteVector& bytes) {
    return ocsd_dt_add_buffer_mem_acc(tree, address, kOldAny, bytes.data(),
                                      static_cast<std::uint32_t>(bytes.size()));
  };
  EXPECT_EQ(add(kLoopAddress, loop), OCSD_OK);
  EXPECT_EQ(add(kLoopAddress, nops), OCSD_ERR_MEM_ACC_OVERLAP) << "begins inside";
  EXPECT_EQ(add(kLoopAddress - 28, nops), OCSD_ERR_MEM_ACC_OVERLAP) << "ends inside";
  EXPECT_EQ(add(kLoopAddress - 8, nops), OCSD_OK);
  notes.log.clear();
  ocsd_tl_log_mapped_mem_ranges(tree);
  EXPECT_EQ(notes.log,
            "Gen_Info : Mapped Memory Accessors\n"
            "Gen_Info : BuffAcc; Range::0x1000:1007; Mem Space::Any\n"
            "Gen_Info : BuffAcc; Range::0xff8:1017; Mem Space::Any\n"
            "Gen_Info : ========================\n");
  // From the outer range into the inner one.
  feed(start(kLoopAddress - 8, 7) + taken());
  EXPECT_NE(elements().find("exec range=0xff8:[0x1008] num_i(4)"), std::string::npos) << elements();
  // Without the inner range, the outer one is seen there.
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, kLoopAddress, kOldAny), OCSD_OK);
  notes.elements.clear();
  feed(taken());
  EXPECT_NE(elements().find("ADDR_NACC( 0x1018;"), std::string::npos) << elements();
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, kLoopAddress, kOldAny), OCSD_OK);
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, kLoopAddress, kOldAny), OCSD_ERR_INVALID_PARAM_VAL);
}

TEST_F(MisuseCApi, mapped_ranges_are_listed_once_memory_was_added) {
  single();
  notes.log.clear();
  ocsd_tl_log_mapped_mem_ranges(tree);
  EXPECT_EQ(notes.log, "");
  EXPECT_EQ(ocsd_dt_add_buffer_mem_acc(tree, 0, kOldAny, nullptr, 0), OCSD_ERR_INVALID_PARAM_VAL);
  ocsd_tl_log_mapped_mem_ranges(tree);
  EXPECT_EQ(notes.log, "Gen_Info : Mapped Memory Accessors\nGen_Info : ========================\n");
}

TEST_F(MisuseCApi, a_block_without_bytes_is_answered_with_the_count_0) {
  const auto answer = [&](std::uint32_t size, const std::uint8_t* data) {
    used = 77;
    notes.log.clear();
    return ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, size, data, &used);
  };
  single();
  ASSERT_EQ(add_etmv4(0x10, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
  const std::string zero =
      "PKTP_ETMV4I : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) [Invalid value parameter passed to "
      "component.]; Packet Processor: Zero length data block or NULL pointer error\n";
  EXPECT_EQ(answer(0, loop.data()), OCSD_RESP_FATAL_INVALID_PARAM);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(notes.log, zero);
  EXPECT_EQ(answer(4, nullptr), OCSD_RESP_FATAL_INVALID_PARAM);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(notes.log, zero);
  notes.log.clear();
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 8, loop.data(), nullptr),
            OCSD_RESP_FATAL_INVALID_PARAM);
  EXPECT_EQ(notes.log, zero);

  single();
  ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
  EXPECT_EQ(answer(0, loop.data()), OCSD_RESP_FATAL_INVALID_PARAM);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(notes.log, "") << "a decoder says nothing";

  formatted();
  EXPECT_EQ(answer(0, loop.data()), OCSD_RESP_FATAL_INVALID_PARAM);
  EXPECT_EQ(used, 77U);
  EXPECT_EQ(notes.log, "");
}

TEST_F(MisuseCApi, files_have_one_address_in_the_whole_process) {
  formatted();
  const std::string path = file_of(65);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, kOldAny, ""), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, kOldAny, nullptr),
            OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, kOldAny, "/no/such/file"), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, kOldAny, path.c_str()), OCSD_OK);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(tree, 0x2000, kOldAny, path.c_str()),
            OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, kOldAny, path.c_str()),
            OCSD_ERR_MEM_ACC_OVERLAP);
  notes.log.clear();
  ocsd_tl_log_mapped_mem_ranges(tree);
  EXPECT_EQ(notes.log,
            "Gen_Info : Mapped Memory Accessors\nGen_Info : FileAcc; Range::0x1000:103f; Mem "
            "Space::Any\nFilename=" +
                path + "\nGen_Info : ========================\n");

  void* const other = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(other, 0x2000, kOldAny, path.c_str()),
            OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(other, 0x1000, kOldAny, path.c_str()), OCSD_OK);
  ocsd_destroy_dcd_tree(other);
  EXPECT_EQ(ocsd_dt_remove_mem_acc(tree, 0x1000, kOldAny), OCSD_OK);
  EXPECT_EQ(ocsd_dt_add_binfile_mem_acc(tree, 0x2000, kOldAny, path.c_str()), OCSD_OK);
}

TEST_F(MisuseCApi, regions_that_do_not_fit_are_left_out) {
  formatted();
  const std::string path = file_of(64);
  const ocsd_file_mem_region_t regions[] = {
      {0, 0x8000, 16}, {1000, 0x9000, 16}, {8, 0x7000, 16}, {0, 0x8008, 16}};
  EXPECT_EQ(ocsd_dt_add_binfile_region_mem_acc(tree, regions, 0, kOldAny, path.c_str()),
            OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_add_binfile_region_mem_acc(tree, nullptr, 1, kOldAny, path.c_str()),
            OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_add_binfile_region_mem_acc(tree, &regions[1], 3, kOldAny, path.c_str()),
            OCSD_ERR_NOT_INIT);
  EXPECT_EQ(ocsd_dt_add_binfile_region_mem_acc(tree, regions, 4, kOldAny, path.c_str()), OCSD_OK);
  notes.log.clear();
  ocsd_tl_log_mapped_mem_ranges(tree);
  EXPECT_EQ(notes.log,
            "Gen_Info : Mapped Memory Accessors\nGen_Info : FileAcc; Range::0x8000:800f; Mem "
            "Space::Any\nFileAcc; Range::0x7000:700f; Mem Space::Any\nFilename=" +
                path + "\nGen_Info : ========================\n");
}

TEST_F(MisuseCApi, callers_of_1_3_3_mean_every_space_by_their_any) {
  single();
  decode_loop_in(kOldAny);
  // Root state: space 0x80, which 1.3.3 did not know.
  ByteVector root = address_context(kLoopAddress, 1);
  root[9] = 0x98 | 1;
  feed(async() + trace_info() + trace_on() + root + taken());
  EXPECT_EQ(notes.structures.back().elem_type, OCSD_GEN_TRC_ELEM_INSTR_RANGE);
  EXPECT_EQ(notes.structures.back().context.security_level, ocsd_sec_root);
}

TEST_F(MisuseCApi, statistics_belong_to_decoders_that_count) {
  formatted();
  ocsd_decode_stats_t* stats = nullptr;
  EXPECT_EQ(ocsd_dt_get_decode_stats(tree, 0x10, &stats), OCSD_ERR_INVALID_PARAM_VAL);
  decode_loop();
  const ocsd_stm_cfg stm{0x00200000, 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};
  ASSERT_EQ(ocsd_dt_create_decoder(tree, "STM", 2, &stm, nullptr), OCSD_OK);
  EXPECT_EQ(ocsd_dt_get_decode_stats(tree, 0x20, &stats), OCSD_ERR_NOT_INIT);
  const ByteVector trace = frames_of({{0x10, start(kLoopAddress, 7) + taken()}});
  feed(trace);
  ASSERT_EQ(ocsd_dt_get_decode_stats(tree, 0x10, &stats), OCSD_OK);
  EXPECT_EQ(stats->version, 0x010800U);
  EXPECT_EQ(stats->revision, 1U);
  EXPECT_EQ(stats->channel_total, 30U);
  EXPECT_EQ(stats->demux.valid_id_bytes, 30U);
  EXPECT_EQ(stats->demux.valid_id_bytes + stats->demux.no_id_bytes + stats->demux.frame_bytes +
                stats->demux.reserved_id_bytes + stats->demux.unknown_id_bytes,
            trace.size());
  EXPECT_EQ(ocsd_dt_reset_decode_stats(tree, 0x33), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_reset_decode_stats(tree, 0x10), OCSD_OK);
  EXPECT_EQ(stats->channel_total, 0U);
  EXPECT_EQ(stats->demux.frame_bytes, 0U);
}

}  // namespace
}  // namespace waymark::compat
