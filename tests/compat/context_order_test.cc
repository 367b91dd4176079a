// The guarantee for memory functions: the last delivered context is that of the read; see
// perf-cs-etm.md 7.
#include <map>

#include "capi_fixture.h"

namespace waymark::compat {
namespace {

/// Different code at the same address for each context ID and trace ID: a NOP for each, then a
/// branch back.
struct Machine {
  std::map<std::uint8_t, std::uint32_t> context_of;  ///< By trace ID: delivered last.
  std::vector<std::string> wrong;
  std::size_t reads = 0;
  bool readable = true;

  static std::uint32_t nops(std::uint32_t context_id, std::uint8_t trace_id) {
    return 1 + context_id * 2 + (trace_id & 1);
  }
};

std::uint32_t read(const void* context, const ocsd_vaddr_t address,
                   const ocsd_mem_space_acc_t space, const std::uint8_t trace_id,
                   const std::uint32_t wanted, std::uint8_t* out) {
  auto& machine = *static_cast<Machine*>(const_cast<void*>(context));
  ++machine.reads;
  if (!machine.readable) return 0;
  if (space != OCSD_MEM_SPACE_EL1N) machine.wrong.push_back("space " + std::to_string(space));
  const auto known = machine.context_of.find(trace_id);
  if (known == machine.context_of.end()) {
    machine.wrong.push_back("read before any context of ID " + std::to_string(trace_id));
    return 0;
  }
  ByteVector bytes;
  const std::uint32_t nops = Machine::nops(known->second, trace_id);
  for (std::uint32_t i = 0; i < nops; ++i) bytes = bytes + code({0xD503201F});
  // B.NE to 1000.
  const std::uint32_t back = 0x54000001U | ((0U - nops) & 0x7FFFFU) << 5;
  bytes = bytes + code({back});
  if (address < kLoopAddress || address >= kLoopAddress + bytes.size()) return 0;
  const auto offset = static_cast<std::size_t>(address - kLoopAddress);
  const auto size = std::min<std::size_t>(wanted, bytes.size() - offset);
  std::memcpy(out, bytes.data() + offset, size);
  return static_cast<std::uint32_t>(size);
}

class ContextOrder : public CApi {
 protected:
  void watch(bool waits) {
    notes.answer = [this, waits](const ocsd_generic_trace_elem& element, std::uint8_t id) {
      if (element.elem_type == OCSD_GEN_TRC_ELEM_PE_CONTEXT)
        machine.context_of[id] = element.context.context_id;
      if (element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE) {
        const auto at = machine.context_of.find(id);
        const std::uint32_t context_id = at != machine.context_of.end() ? at->second : 0xFFFF;
        if (element.num_instr_range != Machine::nops(context_id, id) + 1)
          machine.wrong.push_back("range of " + std::to_string(element.num_instr_range) +
                                  " in context " + std::to_string(context_id));
      }
      return waits ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
    };
  }
  void add_memory() {
    ASSERT_EQ(
        ocsd_dt_add_callback_trcid_mem_acc(
            tree, 0, ~ocsd_vaddr_t{0}, static_cast<ocsd_mem_space_acc_t>(0x1F), &read, &machine),
        OCSD_OK);
  }
  /// Where nothing else is.
  void add_memory_beside() {
    ASSERT_EQ(ocsd_dt_add_callback_trcid_mem_acc(tree, 0x1000, 0x1FFF, OCSD_MEM_SPACE_ANY, &read,
                                                 &machine),
              OCSD_OK);
  }
  void run(const ByteVector& trace) {
    for (std::size_t at = 0; at < trace.size();) {
      ocsd_datapath_resp_t answer =
          ocsd_dt_process_data(tree, OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(at),
                               static_cast<std::uint32_t>(trace.size() - at), &trace[at], &used);
      at += used;
      while (OCSD_DATA_RESP_IS_WAIT(answer)) answer = operate(OCSD_OP_FLUSH);
      ASSERT_EQ(answer, OCSD_RESP_CONT);
    }
  }

  Machine machine;
};

TEST_F(ContextOrder, every_read_is_answered_for_the_context_delivered_last) {
  ByteVector first = start(kLoopAddress, 1) + taken_three_times();
  ByteVector second = start(kLoopAddress, 2) + taken();
  for (std::uint8_t i = 0; i < 12; ++i) {
    const auto context_id = static_cast<std::uint8_t>(i % 5);
    first = first + context(context_id) + taken() + address_context(kLoopAddress, context_id) +
            taken_three_times();
    second = second + address_context(kLoopAddress, static_cast<std::uint8_t>(4 - context_id)) +
             taken_three_times() + taken();
  }
  for (const bool waits : {false, true}) {
    formatted();
    ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
    ASSERT_EQ(add_etmv4(0x11), OCSD_OK);
    note_elements();
    machine = {};
    add_memory();
    watch(waits);
    ByteVector trace;
    for (std::size_t at = 0; at < first.size(); at += 20) {
      const auto part = [at](const ByteVector& all) {
        const auto begin = std::min(at, all.size());
        return ByteVector(
            all.begin() + static_cast<std::ptrdiff_t>(begin),
            all.begin() + static_cast<std::ptrdiff_t>(std::min(begin + 20, all.size())));
      };
      trace = trace + frames_of({{0x10, part(first)}, {0x11, part(second)}});
    }
    run(trace);
    EXPECT_EQ(machine.wrong, std::vector<std::string>{}) << waits;
    EXPECT_GT(ranges(), 80U);
    notes = {};
  }
}

TEST_F(ContextOrder, without_frames_as_well) {
  single();
  ASSERT_EQ(add_etmv4(0x11), OCSD_OK);
  note_elements();
  add_memory();
  watch(false);
  ByteVector trace = start(kLoopAddress, 3) + taken_three_times();
  for (std::uint8_t i = 0; i < 20; ++i)
    trace = trace + context(i % 3) + taken_three_times() + taken();
  run(trace);
  EXPECT_EQ(machine.wrong, std::vector<std::string>{});
  EXPECT_EQ(ranges(), 83U);
}

TEST_F(ContextOrder, accessors_may_come_after_the_decoder_and_the_first_data) {
  single();
  ASSERT_EQ(add_etmv4(0x11), OCSD_OK);
  note_elements();
  watch(false);
  ByteVector nothing(16, 0);
  add_code(0x8000, nothing);
  feed(async() + trace_info());
  add_memory_beside();
  feed(trace_on() + address_context(kLoopAddress, 1) + taken() + context(2) + taken());
  EXPECT_EQ(machine.wrong, std::vector<std::string>{});
  EXPECT_EQ(ranges(), 2U);
}

TEST_F(ContextOrder, what_could_not_be_read_is_asked_for_again_at_the_next_address) {
  single();
  ASSERT_EQ(add_etmv4(0x11), OCSD_OK);
  note_elements();
  add_memory();
  watch(false);
  machine.readable = false;
  run(start(kLoopAddress, 1) + taken());
  EXPECT_EQ(notes.structures.back().elem_type, OCSD_GEN_TRC_ELEM_ADDR_NACC);
  EXPECT_EQ(notes.structures.back().st_addr, kLoopAddress);
  machine.readable = true;
  index = 30;
  feed(address_context(kLoopAddress, 1) + taken());
  EXPECT_EQ(ranges(), 1U);
}

TEST_F(ContextOrder, memory_that_changed_between_calls_is_read_again_in_a_new_context) {
  single();
  ASSERT_EQ(add_etmv4(0x11), OCSD_OK);
  note_elements();
  add_memory();
  watch(false);
  run(start(kLoopAddress, 1) + taken() + context(2) + taken() + context(1) + taken());
  const std::size_t reads = machine.reads;
  index = 42;
  feed(context(2) + taken());
  EXPECT_GT(machine.reads, reads);
  EXPECT_EQ(machine.wrong, std::vector<std::string>{});
}

TEST_F(ContextOrder, a_length_beyond_what_was_asked_is_an_error_and_no_memory) {
  single();
  ASSERT_EQ(add_etmv4(0x11), OCSD_OK);
  note_elements();
  ASSERT_EQ(ocsd_dt_add_callback_mem_acc(
                tree, 0, ~ocsd_vaddr_t{0}, OCSD_MEM_SPACE_ANY,
                [](const void*, ocsd_vaddr_t, ocsd_mem_space_acc_t, uint32_t wanted, uint8_t*) {
                  return wanted + 1;
                },
                nullptr),
            OCSD_OK);
  feed(start(kLoopAddress, 1) + taken());
  EXPECT_EQ(notes.structures.back().elem_type, OCSD_GEN_TRC_ELEM_ADDR_NACC);
  EXPECT_NE(notes.log.find("0x0022 (OCSD_ERR_MEM_ACC_BAD_LEN)"), std::string::npos);
}

}  // namespace
}  // namespace waymark::compat
