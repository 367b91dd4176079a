#include "waymark/mtb/decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/element/text.h"
#include "waymark/mtb/encoder.h"
#include "waymark/mtb/parser.h"

namespace waymark::mtb {
namespace {

Packet branch(std::uint32_t from, std::uint32_t to, bool start = false) {
  return {.source = from, .destination = to, .type = PacketType::kBranch, .start = start};
}
Packet exception(std::uint32_t back, std::uint32_t handler, bool start = false) {
  return {.source = back, .destination = handler, .type = PacketType::kException, .start = start};
}
Packet back_from(std::uint32_t value, std::uint32_t to) {
  return {.source = value, .destination = to, .type = PacketType::kExceptionReturn};
}
constexpr std::uint32_t kExcReturn = 0xFFFF'FFF9;

/// The program of mtb.md 5, and records to text.
class Bench {
 public:
  Bench() {
    code(0x100, {0x2000, 0xF000, 0xF803, 0x3001, 0x2803, 0xD1FA, 0x4770});
    code(0x200, {0xBF00, 0x4770});
  }

  Config config;
  image::Image image;
  std::size_t span = 3;

  void code(std::uint64_t at, std::initializer_list<std::uint16_t> halves) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint16_t half : halves) {
      bytes.push_back(static_cast<std::uint8_t>(half));
      bytes.push_back(static_cast<std::uint8_t>(half >> 8));
    }
    bytes.resize(bytes.size() + 2);  // An opcode is fetched as four bytes.
    ASSERT_TRUE(image.add_buffer(at, bytes));
  }
  void table(std::uint64_t at, std::initializer_list<std::uint32_t> words) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : words)
      for (unsigned shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    ASSERT_TRUE(image.add_buffer(at, bytes));
  }

  /// "8 100-104 x2 E BR", or "error at 8: …"; one line each.
  std::string run(const std::vector<Packet>& packets, bool end = false) {
    std::vector<std::uint8_t> bytes;
    for (const Packet& packet : packets) EXPECT_TRUE(encode(packet, bytes));
    return run_bytes(bytes, end);
  }
  std::string run_bytes(Bytes bytes, bool end = false) {
    Decoder decoder(config, image);
    Parser parser;
    const frames::Run input{.position = 0, .index = 0};
    parser.feed({bytes, {&input, 1}});
    text_.clear();
    Packet packet;
    while (parser.next(packet)) {
      decoder.accept(packet);
      drain(decoder);
    }
    if (parser.finish(packet)) {
      decoder.accept(packet);
      drain(decoder);
    }
    if (end) {
      decoder.end_of_trace();
      drain(decoder);
    }
    return text_;
  }

 private:
  void drain(Decoder& decoder) {
    std::vector<Element> out(span);
    while (decoder.busy()) {
      const std::size_t count = decoder.drain(out);
      for (const Element& element : std::span(out).first(count)) add(element);
      for (const Diagnostic& record : decoder.diagnostics()) {
        text_ += fmt::format(
            "{} at {}, {:x}: {}\n", record.severity == Severity::kWarning ? "warning" : "error",
            record.index, record.address == kNoAddress ? 0 : record.address, describe(record));
      }
      decoder.clear_diagnostics();
    }
  }
  void add(const Element& element) {
    text_ += fmt::format("{} ", element.index);
    if (element.kind == ElementKind::kInstrRange) {
      static constexpr std::string_view kTypes[] = {"", " BR", " iBR", " ISB", " DSB", " WFI"};
      static constexpr std::string_view kSubtypes[] = {"", " link", " ret", " eret", " implied"};
      text_ += fmt::format("{:x}-{:x} x{} {}{}{}{}", element.start, element.end, element.count,
                           (element.flags & kElementExecuted) != 0 ? 'E' : 'N',
                           kTypes[static_cast<std::size_t>(element.last_type)],
                           kSubtypes[static_cast<std::size_t>(element.last_subtype)],
                           (element.flags & kElementConditional) != 0 ? " cond" : "");
      EXPECT_EQ(element.isa, isa::Isa::kT32);
    } else {
      TextBuffer line;
      write_element(line, element);
      text_ += line.view().substr(std::string_view("OCSD_GEN_TRC_ELEM_").size());
    }
    text_ += '\n';
  }

  std::string text_;
};

const std::vector<Packet> kExample = {branch(0x102, 0x10C, true),   branch(0x10C, 0x106),
                                      exception(0x106, 0x200),      branch(0x202, 0xFFFF'FFF8),
                                      back_from(kExcReturn, 0x106), branch(0x10A, 0x102),
                                      branch(0x102, 0x10C)};

constexpr std::string_view kExampleText =
    "0 NO_SYNC( [init-decoder])\n"
    "0 TRACE_ON( [begin or filter])\n"
    "0 PE_CONTEXT((ISA=T32) N; 32-bit; )\n"
    "0 102-106 x1 E BR link\n"
    "8 10c-10e x1 E iBR implied\n"
    "16 EXCEPTION(pref ret addr:0x106 [addr also prev br tgt]; excep num (0x00) )\n"
    "24 200-204 x2 E iBR implied\n"
    "32 EXCEPTION_RET()\n"
    "40 106-10c x3 E BR cond\n"
    "48 102-106 x1 E BR link\n";

TEST(MtbDecoder, follows_the_example_of_the_specification) {
  EXPECT_EQ(Bench().run(kExample), kExampleText);
}

TEST(MtbDecoder, gives_the_same_in_spans_of_one_element) {
  Bench bench;
  bench.span = 1;
  EXPECT_EQ(bench.run(kExample), kExampleText);
}

TEST(MtbDecoder, reads_the_bytes_of_the_specification) {
  const std::vector<std::uint8_t> bytes = {0x02, 0x01, 0,    0,    0x0D, 0x01, 0,    0,     // #0
                                           0x0C, 0x01, 0,    0,    0x06, 0x01, 0,    0,     // #1
                                           0x07, 0x01, 0,    0,    0x00, 0x02, 0,    0,     // #2
                                           0x02, 0x02, 0,    0,    0xF8, 0xFF, 0xFF, 0xFF,  // #3
                                           0xF9, 0xFF, 0xFF, 0xFF, 0x06, 0x01, 0,    0,     // #4
                                           0x0A, 0x01, 0,    0,    0x02, 0x01, 0,    0,     // #5
                                           0x02, 0x01, 0,    0,    0x0C, 0x01, 0,    0};    // #6
  EXPECT_EQ(Bench().run_bytes(bytes), kExampleText);
}

TEST(MtbDecoder, gives_a_range_for_each_branch_that_was_not_taken) {
  // 0x10a is passed: bne was not taken the last time.
  EXPECT_EQ(Bench().run({branch(0x10C, 0x106, true), branch(0x10C, 0x100)}),
            "0 NO_SYNC( [init-decoder])\n"
            "0 TRACE_ON( [begin or filter])\n"
            "0 PE_CONTEXT((ISA=T32) N; 32-bit; )\n"
            "0 10c-10e x1 E iBR implied\n"
            "8 106-10c x3 N BR cond\n"
            "8 10c-10e x1 E iBR implied\n");
}

TEST(MtbDecoder, a_first_record_without_start_is_after_a_loss) {
  EXPECT_EQ(Bench().run({branch(0x10A, 0x102)}),
            "0 NO_SYNC( [init-decoder])\n"
            "0 TRACE_ON( [overflow])\n"
            "0 PE_CONTEXT((ISA=T32) N; 32-bit; )\n"
            "0 10a-10c x1 E BR cond\n");
}

TEST(MtbDecoder, a_restart_of_tracing_is_reported) {
  EXPECT_EQ(Bench().run({branch(0x10A, 0x102, true), branch(0x10C, 0x106, true)}),
            "0 NO_SYNC( [init-decoder])\n"
            "0 TRACE_ON( [begin or filter])\n"
            "0 PE_CONTEXT((ISA=T32) N; 32-bit; )\n"
            "0 10a-10c x1 E BR cond\n"
            "8 TRACE_ON( [begin or filter])\n"
            "8 10c-10e x1 E iBR implied\n");
}

/// Without the four elements of the first record, which are always alike.
std::string rest(const std::string& text) {
  std::size_t at = 0;
  for (unsigned lines = 4; lines != 0; --lines) at = text.find('\n', at) + 1;
  return text.substr(at);
}

TEST(MtbDecoder, instructions_before_an_exception_are_a_range) {
  EXPECT_EQ(rest(Bench().run({branch(0x10C, 0x106, true), exception(0x10A, 0x200)})),
            "8 106-10a x2 E\n"
            "8 EXCEPTION(pref ret addr:0x10a; excep num (0x00) )\n");
  // The last of them is a branch that was not taken.
  EXPECT_EQ(rest(Bench().run({branch(0x10C, 0x106, true), exception(0x10C, 0x200)})),
            "8 106-10c x3 N BR cond\n"
            "8 EXCEPTION(pref ret addr:0x10c; excep num (0x00) )\n");
}

TEST(MtbDecoder, an_exception_has_the_number_of_its_vector) {
  Bench bench;
  bench.table(0, {0x2000'1000, 0x101, 0, 0x201});
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0x106, true), exception(0x106, 0x200)})),
            "8 EXCEPTION(pref ret addr:0x106 [addr also prev br tgt]; excep num (0x03) )\n");
}

TEST(MtbDecoder, an_exception_whose_handler_has_several_vectors_has_no_number) {
  Bench bench;
  bench.config.vtor = 0x4000;
  bench.table(0x4000, {0x2000'1000, 0x101, 0x201, 0x201});
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0x106, true), exception(0x106, 0x200)})),
            "8 EXCEPTION(pref ret addr:0x106 [addr also prev br tgt]; excep num (0x00) )\n");
}

TEST(MtbDecoder, a_debugger_goes_to_a_place_without_a_vector) {
  Bench bench;
  bench.config.vtor = 0x4000;
  bench.table(0x4000, {0x2000'1000, 0x101, 0x201, 0x201});
  EXPECT_EQ(
      rest(bench.run({branch(0x10C, 0x106, true), exception(0x108, 0x102), branch(0x102, 0x10C)})),
      "8 106-108 x1 E\n"
      "8 TRACE_ON( [debug restart])\n"
      "16 102-106 x1 E BR link\n");
}

TEST(MtbDecoder, a_return_to_another_handler_is_tail_chained) {
  Bench bench;
  bench.code(0x300, {0xBF00, 0x4770});
  bench.table(0, {0x2000'1000, 0x101, 0x301, 0x201});
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0x106, true), exception(0x106, 0x200),
                            branch(0x202, 0xFFFF'FFF8), back_from(kExcReturn, 0x300),
                            branch(0x302, 0xFFFF'FFF8), back_from(kExcReturn, 0x106)})),
            "8 EXCEPTION(pref ret addr:0x106 [addr also prev br tgt]; excep num (0x03) )\n"
            "16 200-204 x2 E iBR implied\n"
            "24 EXCEPTION_RET()\n"
            "24 EXCEPTION(excep num (0x02) )\n"
            "32 300-304 x2 E iBR implied\n"
            "40 EXCEPTION_RET()\n");
}

TEST(MtbDecoder, a_handler_that_was_interrupted_at_its_beginning_goes_on) {
  Bench bench;
  bench.table(0, {0x2000'1000, 0x101, 0x107, 0x201});
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0x102, true), exception(0x102, 0x200),
                            exception(0x200, 0x106), branch(0x10C, 0xFFFF'FFF0),
                            back_from(0xFFFF'FFF1, 0x200), branch(0x202, 0xFFFF'FFF8)})),
            "8 EXCEPTION(pref ret addr:0x102 [addr also prev br tgt]; excep num (0x03) )\n"
            "16 EXCEPTION(pref ret addr:0x200 [addr also prev br tgt]; excep num (0x02) )\n"
            "24 106-10c x3 N BR cond\n"
            "24 10c-10e x1 E iBR implied\n"
            "32 EXCEPTION_RET()\n"
            "40 200-204 x2 E iBR implied\n");
}

TEST(MtbDecoder, an_it_block_goes_on_after_an_exception) {
  Bench bench;
  // ite eq; moveq r0, r1; popne {r4, pc}; bx lr.  An exception between the second and the third,
  // which was not executed.
  bench.code(0x400, {0xBF0C, 0x4608, 0xBD10, 0x4770});
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0x400, true), exception(0x404, 0x200),
                            branch(0x202, 0xFFFF'FFF8), back_from(kExcReturn, 0x404),
                            branch(0x406, 0x100)})),
            "8 400-404 x2 E\n"
            "8 EXCEPTION(pref ret addr:0x404; excep num (0x00) )\n"
            "16 200-204 x2 E iBR implied\n"
            "24 EXCEPTION_RET()\n"
            "32 404-406 x1 N iBR implied cond\n"
            "32 406-408 x1 E iBR implied\n");
}

TEST(MtbDecoder, a_return_from_a_function_of_the_other_state_has_two_records) {
  const Packet back{
      .source = 0xFEFF'FFFF, .destination = 0x106, .type = PacketType::kFunctionReturn};
  EXPECT_EQ(rest(Bench().run({branch(0x102, 0x10C, true), branch(0x10C, 0xFEFF'FFFE), back,
                              branch(0x10A, 0x102)})),
            "8 10c-10e x1 E iBR implied\n"
            "24 106-10c x3 E BR cond\n");
}

TEST(MtbDecoder, half_a_return_is_reported) {
  EXPECT_EQ(rest(Bench().run(
                {branch(0x102, 0x10C, true), branch(0x10C, 0xFFFF'FFF8), branch(0x10A, 0x102)})),
            "8 10c-10e x1 E iBR implied\n"
            "error at 16, 10a: A return from an exception or function takes two consecutive "
            "records, and one of them is missing.\n"
            "16 NO_SYNC( [bad-program-image])\n"
            "16 10a-10c x1 E BR cond\n");
  EXPECT_EQ(rest(Bench().run(
                {branch(0x102, 0x10C, true), back_from(kExcReturn, 0x106), branch(0x10A, 0x102)})),
            "error at 8, fffffff9: A return from an exception or function takes two consecutive "
            "records, and one of them is missing.\n"
            "8 NO_SYNC( [bad-program-image])\n"
            "8 EXCEPTION_RET()\n"
            "16 106-10c x3 E BR cond\n");
}

constexpr std::string_view kUnreached =
    "The program cannot reach the source of a record from the last destination: the code image is "
    "not what was executed, or records are missing or not in order (POSITION and MASTER).\n";

TEST(MtbDecoder, a_source_before_the_last_destination_is_not_reached) {
  EXPECT_EQ(rest(Bench().run({branch(0x102, 0x10C, true), branch(0x102, 0x10C)})),
            "error at 8, 102: " + std::string(kUnreached) +
                "8 NO_SYNC( [bad-program-image])\n"
                "8 102-106 x1 E BR link\n");
}

TEST(MtbDecoder, a_source_after_an_unconditional_branch_is_not_reached) {
  EXPECT_EQ(rest(Bench().run({branch(0x10A, 0x102, true), branch(0x10A, 0x102)})),
            "error at 8, 102: " + std::string(kUnreached) +
                "8 NO_SYNC( [bad-program-image])\n"
                "8 10a-10c x1 E BR cond\n");
}

TEST(MtbDecoder, a_source_in_an_instruction_is_not_reached) {
  EXPECT_EQ(rest(Bench().run({branch(0x10A, 0x102, true), branch(0x104, 0x10C)})),
            "error at 8, 104: " + std::string(kUnreached) + "8 NO_SYNC( [bad-program-image])\n");
}

TEST(MtbDecoder, a_source_that_is_not_a_branch_is_reported) {
  EXPECT_EQ(rest(Bench().run({branch(0x10C, 0x106, true), branch(0x108, 0x102)})),
            "error at 8, 108: The image has no branch at the source of a record: trace and code "
            "image disagree.\n"
            "8 NO_SYNC( [bad-program-image])\n");
}

TEST(MtbDecoder, a_direct_branch_that_goes_elsewhere_is_reported) {
  EXPECT_EQ(rest(Bench().run({branch(0x10C, 0x106, true), branch(0x10A, 0x100)})),
            "8 106-10c x3 E BR cond\n"
            "error at 8, 10a: The branch of a record goes to another place in the image: trace "
            "and code image disagree.\n");
}

TEST(MtbDecoder, memory_that_cannot_be_read_ends_a_walk) {
  Bench bench;
  bench.code(0x500, {0xBF00, 0xBF00, 0xBF00});
  // The branch itself can be read again.
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0x500, true), branch(0x10000, 0x200),
                            branch(0x202, 0x500), exception(0x600, 0x200)})),
            "8 500-508 x4 E\n"
            "8 ADDR_NACC( 0x508; Memspace [0xff:Any] )\n"
            "16 200-204 x2 E iBR implied\n"
            "24 500-508 x4 E\n"
            "24 ADDR_NACC( 0x508; Memspace [0xff:Any] )\n"
            "24 EXCEPTION(pref ret addr:0x600; excep num (0x00) )\n");
}

TEST(MtbDecoder, a_branch_after_memory_that_cannot_be_read_is_a_range) {
  Bench bench;
  bench.code(0xC0, {0xBF00});
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0xC0, true), branch(0x102, 0x10C)})),
            "8 c0-c4 x2 E\n"
            "8 ADDR_NACC( 0xc4; Memspace [0xff:Any] )\n"
            "8 102-106 x1 E BR link\n");
}

TEST(MtbDecoder, an_unreadable_source_is_named) {
  EXPECT_EQ(rest(Bench().run({branch(0x10C, 0x106, true), branch(0x180, 0x200)})),
            "error at 8, 10c: " + std::string(kUnreached) + "8 NO_SYNC( [bad-program-image])\n" +
                "8 ADDR_NACC( 0x180; Memspace [0xff:Any] )\n");
}

TEST(MtbDecoder, unused_memory_is_reported_once) {
  const Packet unused{.type = PacketType::kUnused};
  EXPECT_EQ(rest(Bench().run({branch(0x102, 0x10C, true),
                              unused,
                              unused,
                              {.type = PacketType::kUnused, .ones = true},
                              branch(0x10A, 0x102)})),
            "warning at 8, 0: This part of the buffer was never written or was erased: its bits "
            "are all 0 or all 1.\n"
            "32 TRACE_ON( [overflow])\n"
            "32 10a-10c x1 E BR cond\n");
}

TEST(MtbDecoder, partial_records_are_reported) {
  const std::vector<std::uint8_t> bytes = {0x02, 0x01, 0, 0, 0x0D, 0x01, 0, 0, 0x0C};
  EXPECT_EQ(rest(Bench().run_bytes(bytes, true)),
            "warning at 8, 0: The trace ends inside a packet.\n"
            "8 EO_TRACE( [end-of-trace])\n");
}

TEST(MtbDecoder, the_pc_at_the_stop_ends_the_trace) {
  Bench bench;
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0x106, true), branch(0x10A, 0x102)}, true)),
            "8 106-10c x3 E BR cond\n"
            "8 EO_TRACE( [end-of-trace])\n");
  bench.config.pc = 0x10C;
  EXPECT_EQ(rest(bench.run({branch(0x10A, 0x102, true), branch(0x102, 0x106)}, true)),
            "8 102-106 x1 E BR link\n"
            "error at 8, 102: The branch of a record goes to another place in the image: trace "
            "and code image disagree.\n"
            "8 106-10c x3 N BR cond\n"
            "8 EO_TRACE( [end-of-trace])\n");
  bench.config.pc = 0x100;
  EXPECT_EQ(rest(bench.run({branch(0x10C, 0x106, true), branch(0x10A, 0x102)}, true)),
            "8 106-10c x3 E BR cond\n"
            "error at 8, 100: The program cannot reach the PC at which it was halted from the "
            "last destination.\n"
            "8 NO_SYNC( [bad-program-image])\n"
            "8 EO_TRACE( [end-of-trace])\n");
}

TEST(MtbDecoder, a_lockup_ends_with_an_exception) {
  EXPECT_EQ(rest(Bench().run({branch(0x102, 0x10C, true), exception(0x10C, 0xEFFF'FFFE),
                              exception(0xEFFF'FFFE, 0x200), branch(0x202, 0xFFFF'FFF8)})),
            "8 EXCEPTION(pref ret addr:0x10c [addr also prev br tgt]; excep num (0x00) )\n"
            "16 EXCEPTION(pref ret addr:0xeffffffe [addr also prev br tgt]; excep num (0x00) )\n"
            "24 200-204 x2 E iBR implied\n");
}

}  // namespace
}  // namespace waymark::mtb
