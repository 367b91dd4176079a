#include "waymark/etmv4/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/decoder_bench.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {
namespace {

class Etmv4Decoder : public testing::Test, protected support::DecoderBench {
 protected:
  Etmv4Decoder() { usual_program(); }

  void speculate(std::uint32_t depth) { config.trcidr8 = depth; }
  void return_stack() { config.trcconfigr |= 1U << 12; }
};

// ---- Synchronisation; etmv4-ete.md 4.2 ------------------------------------------------------

TEST_F(Etmv4Decoder, reports_at_the_first_packet_that_it_is_not_synchronised) {
  EXPECT_EQ(run_raw(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}),
            "0 NO_SYNC( [init-decoder])\n");
}

TEST_F(Etmv4Decoder, swallows_everything_until_a_trace_info) {
  auto bytes = sync(false);
  bytes.resize(12);
  bytes.insert(bytes.end(), {0x04, 0xF7, 0x02, 0x01, 0x71, 0x06, 0x05});
  EXPECT_EQ(run_raw(bytes), "0 NO_SYNC( [init-decoder])\n");
}

TEST_F(Etmv4Decoder, swallows_atoms_until_an_address_and_a_context_are_known) {
  auto bytes = sync(false);
  bytes.insert(bytes.end(), {0xF7, 0x9D, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0x81, 0x31, 0xF7});
  EXPECT_EQ(run_raw(bytes),
            "0 NO_SYNC( [init-decoder])\n"
            "24 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
            "26 1000-1008 x2 E BR\n");
}

TEST_F(Etmv4Decoder, atoms_before_the_first_context_leave_the_place) {
  auto bytes = sync(false);
  bytes.insert(bytes.end(), {0x9D, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0xF7, 0x81, 0x31, 0xF7});
  const std::string synced =
      "0 NO_SYNC( [init-decoder])\n24 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n";
  EXPECT_EQ(run_raw(bytes), synced);
  quirks.place_unchecked = true;
  EXPECT_EQ(run_raw(bytes), synced + "26 1000-1008 x2 E BR\n");
}

TEST_F(Etmv4Decoder, a_same_context_does_not_satisfy_the_need_of_one) {
  auto bytes = sync(false);
  bytes.insert(bytes.end(), {0x9D, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0x80, 0xF7});
  EXPECT_EQ(run_raw(bytes), "0 NO_SYNC( [init-decoder])\n");
}

TEST_F(Etmv4Decoder, ete_keeps_events_before_the_trace_info) {
  ete();
  std::vector<std::uint8_t> bytes(11, 0x00);
  bytes.insert(bytes.end(), {0x80, 0x73, 0x01, 0x00, 0x04, 0xF7});
  EXPECT_EQ(run_raw(bytes),
            "0 NO_SYNC( [init-decoder])\n"
            "12 EVENT( Numbered:3; )\n"
            "15 TRACE_ON( [begin or filter])\n");
}

TEST_F(Etmv4Decoder, etmv4_keeps_events_before_the_trace_info_unless_the_quirk_is_on) {
  std::vector<std::uint8_t> bytes(11, 0x00);
  bytes.insert(bytes.end(), {0x80, 0x73, 0x01, 0x00, 0x04, 0xF7});
  EXPECT_EQ(run_raw(bytes),
            "0 NO_SYNC( [init-decoder])\n"
            "12 EVENT( Numbered:3; )\n"
            "15 TRACE_ON( [begin or filter])\n");
  quirks.early_events_lost = true;
  EXPECT_EQ(run_raw(bytes),
            "0 NO_SYNC( [init-decoder])\n"
            "15 TRACE_ON( [begin or filter])\n");
}

TEST_F(Etmv4Decoder, a_trace_info_can_start_inside_a_transaction) {
  ete();
  std::vector<std::uint8_t> bytes(11, 0x00);
  bytes.insert(bytes.end(), {0x80, 0x01, 0x01, 0x40, 0xF7});
  EXPECT_EQ(run_raw(bytes), "0 NO_SYNC( [init-decoder])\n12 MEMTRANS(Init)\n");
}

// ---- Atoms; etmv4-ete.md 4.6 ----------------------------------------------------------------

TEST_F(Etmv4Decoder, e_takes_a_direct_branch) {
  EXPECT_EQ(run({0xDB}), "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n");
}

TEST_F(Etmv4Decoder, n_falls_through) {
  EXPECT_EQ(run({0xDA}), "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n");
}

TEST_F(Etmv4Decoder, atoms_after_an_indirect_branch_wait_for_its_target) {
  EXPECT_EQ(run({0xDB, 0xF7, 0x95, 0x06, 0xF7}),
            "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n28 1018-1020 x2 E iBR ret\n");
}

TEST_F(Etmv4Decoder, e_on_a_barrier_falls_through) {
  EXPECT_EQ(run({0x95, 0x08, 0xF7, 0xF6}), "26 1020-1024 x1 E ISB\n27 1024-1028 x1 N iBR eret\n");
}

TEST_F(Etmv4Decoder, missing_memory_is_reported_once_until_an_address) {
  EXPECT_EQ(run({0x95, 0x0C, 0xDB, 0xF7}), "26 nacc 1030 space 2\n");
}

TEST_F(Etmv4Decoder, missing_memory_after_instructions_ends_a_range_flagged_e) {
  EXPECT_EQ(run({0x95, 0x0B, 0xF6}), "26 102c-1030 x1 E\n26 nacc 1030 space 2\n");
}

TEST_F(Etmv4Decoder, ete_reports_the_exception_return_of_an_eret) {
  ete();
  EXPECT_EQ(run({0x95, 0x09, 0xF7}), "26 1024-1028 x1 E iBR eret\n26 EXCEPTION_RET()\n");
}

TEST_F(Etmv4Decoder, etmv4_leaves_the_exception_return_to_its_packet) {
  EXPECT_EQ(run({0x95, 0x09, 0xF7, 0x07, 0x95, 0x00, 0xF7}),
            "26 1024-1028 x1 E iBR eret\n27 EXCEPTION_RET()\n30 1000-1008 x2 E BR\n");
}

TEST_F(Etmv4Decoder, with_data_trace_markers_are_elements_and_atoms_are_not_followed) {
  config.trcidr0 |= 3U << 3;
  config.trcconfigr |= 1U << 16 | 1U << 1;
  EXPECT_EQ(run({0x25, 0xF7, 0x2B, 0x02, 0x05, 0xF6}),
            "24 SYNC_MARKER( [Data sync marker(0x00000005)])\n"
            "warning: Loads or stores are P0 elements (INSTP0 of TRCCONFIGR). It is unknown which "
            "instruction an atom refers to, so there are no instruction ranges.\n"
            "26 SYNC_MARKER( [Data sync marker(0x00000003)])\n"
            "27 TIMESTAMP( [ TS=0x000000000005]; )\n");
}

TEST_F(Etmv4Decoder, quirk_data_trace_is_unsupported) {
  config.trcidr0 |= 3U << 3;
  config.trcconfigr |= 1U << 16 | 1U << 1;
  quirks.data_trace_is_unsupported = true;
  EXPECT_EQ(run({0x25}),
            "error: Packets of data trace and of conditional instructions cannot be decoded "
            "here; `packets` shows them.\n24 NO_SYNC( [bad-packet])\n");
}

// The size of the trace limits the work that a packet causes beyond its own size.
TEST_F(Etmv4Decoder, walks_past_the_cache_are_limited_by_the_bytes_of_trace) {
  config.core.profile = isa::Profile::kR;
  const std::vector<std::uint8_t> nops(std::size_t{1} << 22, 0x00);  // T32: MOVS r0, r0
  ASSERT_TRUE(image.add_buffer(0x100000, nops));
  auto bytes = sync(false);
  // Context EL1, AArch32; then over and over: at 0x100000, an exception that returns to 0x180000.
  bytes.insert(bytes.end(), {0x81, 0x21});
  for (unsigned i = 0; i < 10; ++i)
    bytes.insert(bytes.end(),
                 {0x9B, 0x00, 0x00, 0x10, 0x00, 0x06, 0x05, 0x9B, 0x00, 0x00, 0x18, 0x00});
  const std::string text = run_raw(bytes);
  EXPECT_THAT(text, testing::HasSubstr("100000-180000 x262144 E T32"));
  EXPECT_THAT(
      text, testing::HasSubstr("error: The instructions before an exception cannot be followed."));
}

TEST_F(Etmv4Decoder, entries_that_a_mispredict_looks_through_are_limited_by_the_bytes_of_trace) {
  speculate(0x10000);
  auto bytes = sync();
  bytes.push_back(0xF7);
  bytes.insert(bytes.end(), 200'000, 0x71);
  bytes.insert(bytes.end(), 2000, 0x30);
  EXPECT_THAT(run_raw(bytes), testing::HasSubstr("error: Too many elements wait for a commit."));
}

TEST_F(Etmv4Decoder, memory_spaces_follow_the_context) {
  EXPECT_EQ(run({0x81, 0x12, 0x95, 0x0C, 0xF7}),
            "24 PE_CONTEXT((ISA=A64) EL2S; 64-bit; )\n28 nacc 1030 space 10\n");
  EXPECT_EQ(run({0x81, 0x3A, 0x95, 0x0C, 0xF7}),
            "24 PE_CONTEXT((ISA=A64) EL2Realm; 64-bit; )\n28 nacc 1030 space 40\n");
  EXPECT_EQ(run({0x81, 0x1B, 0x95, 0x0C, 0xF7}),
            "24 PE_CONTEXT((ISA=A64) EL3Root; 64-bit; )\n28 nacc 1030 space 80\n");
}

TEST_F(Etmv4Decoder, a_context_after_the_address_still_decides_the_instruction_set) {
  program({0xE1A00000, 0xE12FFF1E}, 0x2000);  // MOV r0, r0; BX LR
  EXPECT_EQ(run({0x95, 0x80, 0x10, 0x81, 0x21, 0xF7}),
            "27 PE_CONTEXT((ISA=A32) EL1N; 32-bit; )\n29 2000-2008 x2 E iBR implied A32\n");
}

TEST_F(Etmv4Decoder, context_and_vmid_stick_once_seen) {
  EXPECT_EQ(run({0x81, 0xF1, 1, 0, 0, 0, 2, 0, 0, 0, 0x81, 0x31, 0xF6}),
            "24 PE_CONTEXT((ISA=A64) EL1N; 64-bit; VMID=0x1; CTXTID=0x2; )\n"
            "34 PE_CONTEXT((ISA=A64) EL1N; 64-bit; VMID=0x1; CTXTID=0x2; )\n"
            "36 1000-1008 x2 N BR\n");
}

// ---- Range limit, opcode check; etmv4-ete.md 4.1, 4.6 -----------------------------------------

TEST_F(Etmv4Decoder, a_range_over_the_limit_is_an_error_of_the_atom) {
  range_limit = 1;
  EXPECT_EQ(run({0xF7}),
            "error: A range has more instructions than the limit allows.\n"
            "error: The instructions that an atom stands for cannot be followed.\n"
            "24 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, quirk_range_limit_repeats_its_note) {
  program({0xD503201F, 0xD503201F, 0xD503201F, 0xD65F03C0}, 0x2000);
  range_limit = 2;
  const std::string note = "error: A range has more instructions than the limit allows.\n";
  const std::string rest =
      "error: The instructions that an atom stands for cannot be followed.\n27 NO_SYNC( "
      "[bad-packet])\n";
  EXPECT_EQ(run({0x95, 0x80, 0x10, 0xF7}), note + rest);
  quirks.range_limit_repeats = true;
  EXPECT_EQ(run({0x95, 0x80, 0x10, 0xF7}), note + note + rest);
}

TEST_F(Etmv4Decoder, quirk_range_limit_repeats_its_note_up_to_the_return_address) {
  program({0xD503201F, 0xD503201F, 0xD503201F, 0xD503201F, 0xD65F03C0}, 0x2000);
  range_limit = 1;
  const std::string note = "error: A range has more instructions than the limit allows.\n";
  const std::string rest =
      "error: The instructions before an exception cannot be followed.\n29 NO_SYNC( "
      "[bad-packet])\n";
  const std::initializer_list<std::uint8_t> bytes{0x95, 0x80, 0x10, 0x06, 0x05, 0x95, 0x84, 0x10};
  EXPECT_EQ(run(bytes), note + rest);
  quirks.range_limit_repeats = true;
  EXPECT_EQ(run(bytes), note + note + note + rest);
}

TEST_F(Etmv4Decoder, the_opcode_check_refuses_words_without_upper_half) {
  program({0x00000000, 0xD65F03C0}, 0x2000);
  EXPECT_EQ(run({0x95, 0x80, 0x10, 0xF7}), "27 2000-2008 x2 E iBR ret\n");
  flags = kA64OpcodeCheck;
  EXPECT_EQ(run({0x95, 0x80, 0x10, 0xF7}),
            "error: The instructions that an atom stands for cannot be followed.\n27 NO_SYNC( "
            "[bad-packet])\n");
}

// Memory from a callback may be endless, but every walk ends.
TEST_F(Etmv4Decoder, endless_memory_ends_in_an_error) {
  config.trcidr0 |= 3U << 15;
  ASSERT_TRUE(image.add_callback(
      0x100000, ~std::uint64_t{0}, image::kSpaceAny,
      [](std::uint64_t, image::SpaceMask, TraceId, std::span<std::uint8_t> out) -> std::size_t {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = i % 4 == 0 ? 0x1F : 0;
        return out.size();
      }));
  EXPECT_EQ(run({0x9A, 0, 0, 0x10, 0, 0xF7}),
            "error: The instructions that an atom stands for cannot be followed.\n29 NO_SYNC( "
            "[bad-packet])\n");
  EXPECT_EQ(run({0x9A, 0, 0, 0x10, 0, 0xAA, 0, 0, 0x20, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}),
            "29 nopath 100000->200000 x4294967295\n");
  for (const bool unchecked : {false, true}) {
    quirks.exception_walk_unchecked = unchecked;
    EXPECT_EQ(run({0x9A, 0, 0, 0x10, 0, 0x06, 0x05, 0x9D, 0, 0, 0, 0, 0, 0, 0, 0x80}),
              "error: The instructions before an exception cannot be followed.\n31 NO_SYNC( "
              "[bad-packet])\n");
  }
}

// ---- Speculation; etmv4-ete.md 4.3, 4.4 -------------------------------------------------------

TEST_F(Etmv4Decoder, atoms_wait_for_their_commit) {
  speculate(4);
  EXPECT_EQ(run({0xDB}), "");
  EXPECT_EQ(run({0xDB, 0x2D, 0x01}), "24 1000-1008 x2 E BR\n");
}

TEST_F(Etmv4Decoder, more_than_the_depth_commits_the_oldest) {
  speculate(1);
  EXPECT_EQ(run({0xDB}), "24 1000-1008 x2 E BR\n");
}

TEST_F(Etmv4Decoder, what_follows_the_last_committed_atom_waits_for_the_next) {
  speculate(4);
  EXPECT_EQ(run({0xF6, 0x73, 0x2D, 0x01}), "24 1000-1008 x2 N BR\n");
  EXPECT_EQ(run({0xF6, 0x73, 0x2D, 0x01, 0xF7, 0x2D, 0x01}),
            "24 1000-1008 x2 N BR\n25 EVENT( Numbered:3; )\n28 1008-100c x1 E BR link\n");
}

TEST_F(Etmv4Decoder, cancel_takes_the_newest_atoms) {
  speculate(8);
  EXPECT_EQ(run({0xDA, 0x2E, 0x01, 0x2D, 0x01}), "24 1000-1008 x2 N BR\n");
}

TEST_F(Etmv4Decoder, cancel_keeps_events_counts_and_timestamps_and_drops_addresses) {
  speculate(8);
  EXPECT_EQ(run({0xF6, 0x73, 0x02, 0x05, 0x95, 0x06, 0x2E, 0x01, 0xF6, 0x2D, 0x01}),
            "25 EVENT( Numbered:3; )\n26 TIMESTAMP( [ TS=0x000000000005]; )\n"
            "32 1000-1008 x2 N BR\n");
}

TEST_F(Etmv4Decoder, mispredict_flips_the_newest_atom_and_drops_addresses_after_it) {
  speculate(8);
  EXPECT_EQ(run({0xF7, 0x95, 0x06, 0x30, 0x2D, 0x01}), "24 1000-1008 x2 N BR\n");
}

TEST_F(Etmv4Decoder, mispredict_with_atoms_flips_the_newest_of_them) {
  speculate(8);
  EXPECT_EQ(run({0x32, 0x2D, 0x02}), "24 1000-1008 x2 E BR\n24 100c-1010 x1 N iBR ret\n");
}

TEST_F(Etmv4Decoder, cancel_and_mispredict_together) {
  speculate(8);
  EXPECT_EQ(run({0xF6, 0xF7, 0x34, 0x2D, 0x01}), "24 1000-1008 x2 E BR\n");
  EXPECT_EQ(run({0xF6, 0xF7, 0x2F, 0x01, 0x2D, 0x01}), "24 1000-1008 x2 E BR\n");
  EXPECT_EQ(run({0xF6, 0xDB, 0x38, 0x2D, 0x01}), "24 1000-1008 x2 E BR\n");
}

TEST_F(Etmv4Decoder, too_much_to_commit_is_an_error) {
  speculate(8);
  EXPECT_EQ(run({0xF7, 0x2D, 0x03}),
            "24 1000-1008 x2 E BR\nerror: The trace commits more elements than are outstanding.\n"
            "25 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, quirk_an_error_loses_the_elements_of_its_packet) {
  speculate(8);
  quirks.error_loses_elements = true;
  EXPECT_EQ(
      run({0xF7, 0x2D, 0x03}),
      "error: The trace commits more elements than are outstanding.\n25 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, too_much_to_cancel_is_an_error_that_keeps_events) {
  speculate(8);
  EXPECT_EQ(
      run({0xF7, 0x73, 0x2E, 0x02}),
      "error: The trace cancels more elements than are outstanding.\n26 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, nothing_to_mispredict_is_an_error) {
  speculate(8);
  EXPECT_EQ(run({0x30}),
            "error: The trace corrects the last atom (mispredict), but no atom is "
            "outstanding.\n24 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, elements_before_the_trace_info_are_committed_unseen) {
  speculate(8);
  std::vector<std::uint8_t> bytes(11, 0x00);
  bytes.insert(bytes.end(), {0x80, 0x01, 0x04, 0x02, 0x04, 0xF7, 0x2D, 0x02, 0x2D, 0x01});
  EXPECT_EQ(run_raw(bytes), "0 NO_SYNC( [init-decoder])\n15 TRACE_ON( [begin or filter])\n");
}

TEST_F(Etmv4Decoder, a_later_trace_info_leaves_the_depth_alone) {
  speculate(2);
  EXPECT_EQ(run({0xF6, 0x01, 0x04, 0x02, 0xF7}), "");
}

TEST_F(Etmv4Decoder, a_cycle_count_commits_what_its_packet_says) {
  speculate(8);
  config.trcidr0 = 1U << 7;
  EXPECT_EQ(run({0xF6, 0x10, 0xF7, 0x10}),
            "24 1000-1008 x2 N BR\n25 CYCLE_COUNT( [CC=0]; )\n26 1008-100c x1 E BR link\n");
}

// ---- Discard and overflow; etmv4-ete.md 4.12 --------------------------------------------------

TEST_F(Etmv4Decoder, discard_gives_what_survives_and_loses_atoms) {
  speculate(8);
  EXPECT_EQ(run({0xF7, 0x73, 0x02, 0x05, 0x00, 0x03}),
            "25 EVENT( Numbered:3; )\n26 TIMESTAMP( [ TS=0x000000000005]; )\n"
            "28 NO_SYNC( [discard])\n");
}

TEST_F(Etmv4Decoder, overflow_shows_in_the_next_trace_on) {
  std::vector<std::uint8_t> bytes = sync();
  bytes.insert(bytes.end(), {0xF6, 0x00, 0x05});
  const auto again = sync();
  bytes.insert(bytes.end(), again.begin(), again.begin() + 14);
  bytes.insert(bytes.end(), {0x04, 0xF7, 0x04, 0xF7});
  EXPECT_EQ(run_raw(bytes),
            "0 NO_SYNC( [init-decoder])\n14 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
            "24 1000-1008 x2 N BR\n25 NO_SYNC( [overflow])\n41 TRACE_ON( [overflow])\n"
            "43 TRACE_ON( [begin or filter])\n");
}

TEST_F(Etmv4Decoder, instrumentation_survives_a_discard_without_the_quirk) {
  ete(3);
  EXPECT_EQ(run({0x09, 0x01, 0xFF, 0xFF, 0x0F, 0, 0, 0, 0, 0, 0x00, 0x03}),
            "24 INSTRUMENTATION(EL1; 0x00000000000fffff)\n34 NO_SYNC( [discard])\n");
  quirks.discard_loses_instrumentation = true;
  EXPECT_EQ(run({0x09, 0x01, 0xFF, 0xFF, 0x0F, 0, 0, 0, 0, 0, 0x00, 0x03}),
            "34 NO_SYNC( [discard])\n");
}

// ---- Exceptions; etmv4-ete.md 4.6b ------------------------------------------------------------

TEST_F(Etmv4Decoder, an_exception_ends_a_range_at_its_return_address) {
  EXPECT_EQ(run({0x06, 0x05, 0x95, 0x01}), "24 1000-1004 x1 E\n24 exception 2 returns to 1004\n");
}

TEST_F(Etmv4Decoder, an_exception_passes_waypoints_on_its_way) {
  EXPECT_EQ(run({0x06, 0x1D, 0x95, 0x03}),
            "24 1000-100c x3 E BR link\n24 exception e returns to 100c\n");
}

TEST_F(Etmv4Decoder, an_exception_right_at_its_return_address_has_no_range) {
  EXPECT_EQ(run({0x06, 0x1D, 0x95, 0x00}), "24 exception e returns to 1000\n");
}

TEST_F(Etmv4Decoder, an_exception_can_give_the_target_of_the_branch_before_it) {
  EXPECT_EQ(run({0xDB, 0x06, 0x5C, 0x95, 0x06, 0x95, 0x00, 0xF6}),
            "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n"
            "25 exception e returns to 1018 which was the target\n31 1000-1008 x2 N BR\n");
}

TEST_F(Etmv4Decoder, a_context_with_the_return_address_comes_before_the_exception) {
  EXPECT_EQ(run({0x06, 0x05, 0x81, 0x33, 0x95, 0x01}),
            "24 PE_CONTEXT((ISA=A64) EL3N; 64-bit; )\n24 1000-1004 x1 E\n"
            "24 exception 2 returns to 1004\n");
}

TEST_F(Etmv4Decoder, an_exception_without_its_address_is_an_error) {
  EXPECT_EQ(run({0x06, 0x05, 0x02, 0x01, 0x95, 0x01}),
            "error: No address follows an exception packet.\n28 NO_SYNC( [bad-packet])\n");
  quirks.second_error_after_missing_address = true;
  EXPECT_EQ(
      run({0x06, 0x05, 0x02, 0x01, 0x95, 0x01}),
      "error: No address follows an exception packet.\n"
      "error: The trace commits more elements than are outstanding.\n28 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, a_commit_of_an_exception_that_is_the_newest_entry_is_an_error) {
  speculate(4);
  EXPECT_EQ(run({0x06, 0x05, 0x2D, 0x01}),
            "error: No address follows an exception packet.\n26 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, missing_memory_before_an_exception_is_reported_before_it) {
  EXPECT_EQ(run({0x95, 0x0B, 0x06, 0x05, 0x95, 0x0F}),
            "26 102c-1030 x1 E\n26 nacc 1030 space 2\n26 exception 2 returns to 103c\n");
}

TEST_F(Etmv4Decoder, a_stale_address_before_an_exception_is_not_walked_without_the_quirk) {
  EXPECT_EQ(run({0x95, 0x0B, 0xF7, 0x06, 0x05, 0x95, 0x0F}),
            "26 102c-1030 x1 E\n26 nacc 1030 space 2\n27 exception 2 returns to 103c\n");
  quirks.exception_walk_unchecked = true;
  EXPECT_EQ(run({0x95, 0x0B, 0xF7, 0x06, 0x05, 0x95, 0x0F}),
            "26 102c-1030 x1 E\n26 nacc 1030 space 2\n27 nacc 1030 space 2\n"
            "27 exception 2 returns to 103c\n");
}

TEST_F(Etmv4Decoder, the_range_before_an_exception_is_read_in_the_old_space_without_the_quirk) {
  program({0xD503201F, 0xD503201F}, 0x2000, image::kSpaceEl1N);
  const auto bytes = {0x95, 0x80, 0x10, 0x06, 0x05, 0x81, 0x33, 0x95, 0x01};
  std::vector<std::uint8_t> all = sync();
  for (const int byte : bytes) all.push_back(static_cast<std::uint8_t>(byte));
  const std::string before =
      "0 NO_SYNC( [init-decoder])\n14 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
      "27 PE_CONTEXT((ISA=A64) EL3N; 64-bit; )\n";
  EXPECT_EQ(run_raw(all), before + "27 2000-2004 x1 E\n27 exception 2 returns to 2004\n");
  quirks.exception_walk_unchecked = true;
  EXPECT_EQ(run_raw(all), before + "27 nacc 2000 space 8\n27 exception 2 returns to 2004\n");
}

TEST_F(Etmv4Decoder, an_m_profile_tail_chain_has_no_return_address) {
  config.core = {isa::Arch::kV8, isa::Profile::kM};
  EXPECT_EQ(run({0x06, 0x1D, 0x9B, 0x7F, 0xFF, 0xFF, 0xFF}), "24 exception e tail chain\n");
}

TEST_F(Etmv4Decoder, a_pe_reset_is_an_exception_without_address_unless_the_quirk_is_on) {
  ete();
  EXPECT_EQ(run({0xF6, 0x06, 0x01, 0x70}), "24 1000-1008 x2 N BR\n25 exception 0\n");
  quirks.pe_reset_is_bad = true;
  EXPECT_EQ(run({0xF6, 0x06, 0x01, 0x70, 0x04}),
            "24 1000-1008 x2 N BR\nwarning: A packet has an unknown type.\n25 "
            "NO_SYNC( [bad-packet])\n");
}

// ---- Return stack; etmv4-ete.md 4.8 -----------------------------------------------------------

TEST_F(Etmv4Decoder, a_return_pops_the_address_that_the_call_pushed) {
  return_stack();
  EXPECT_EQ(run({0xDA, 0xF7, 0xF7}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n"
            "26 100c-1010 x1 E iBR ret\n");
}

TEST_F(Etmv4Decoder, an_address_packet_takes_the_place_of_a_pop) {
  return_stack();
  EXPECT_EQ(run({0xDA, 0xF7, 0x95, 0x00, 0xF6}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n"
            "28 1000-1008 x2 N BR\n");
}

TEST_F(Etmv4Decoder, a_return_without_a_call_is_an_error_at_the_next_atom) {
  return_stack();
  EXPECT_EQ(run({0xDB, 0xF7}),
            "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n"
            "error: An atom stands for a return, but no call is on the return stack.\n25 NO_SYNC( "
            "[bad-packet])\n");
}

TEST_F(Etmv4Decoder, an_exception_return_takes_nothing_from_the_return_stack) {
  return_stack();
  EXPECT_THAT(run({0xDA, 0x95, 0x09, 0xF7, 0x07, 0xF7, 0x95, 0x00, 0xF6}),
              testing::EndsWith("27 1024-1028 x1 E iBR eret\n28 EXCEPTION_RET()\n"
                                "32 1000-1008 x2 N BR\n"));
  quirks.exception_return_pops = true;
  EXPECT_THAT(run({0xDA, 0x95, 0x09, 0xF7, 0x07, 0xF7}),
              testing::EndsWith("28 EXCEPTION_RET()\n29 100c-1010 x1 E iBR ret\n"));
}

TEST_F(Etmv4Decoder,
       after_code_that_cannot_be_read_older_calls_are_not_on_top_of_the_return_stack) {
  return_stack();
  EXPECT_THAT(run({0xDA, 0x95, 0x0C, 0xF7, 0x95, 0x07, 0xF7, 0xF7, 0x95, 0x00, 0xF6}),
              testing::EndsWith("27 nacc 1030 space 2\n30 101c-1020 x1 E iBR ret\n"
                                "34 1000-1008 x2 N BR\n"));
  // Later calls are.
  EXPECT_THAT(run({0xDA, 0x95, 0x0C, 0xF7, 0x95, 0x02, 0xF7, 0xF7, 0xF7, 0xF7}),
              testing::EndsWith("30 1008-100c x1 E BR link\n31 1018-1020 x2 E iBR ret\n"
                                "32 100c-1010 x1 E iBR ret\n"));
  quirks.calls_not_missed = true;
  EXPECT_THAT(run({0xDA, 0x95, 0x0C, 0xF7, 0x95, 0x07, 0xF7, 0xF7}),
              testing::EndsWith("31 100c-1010 x1 E iBR ret\n"));
}

TEST_F(Etmv4Decoder, trace_on_empties_the_return_stack) {
  return_stack();
  EXPECT_EQ(run({0xDA, 0x04, 0x95, 0x06, 0xF7, 0xF7}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 TRACE_ON( [begin or filter])\n"
            "28 1018-1020 x2 E iBR ret\nerror: An atom stands for a return, but no call is on the "
            "return stack.\n"
            "29 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, a_trace_info_between_valid_elements_leaves_the_return_stack) {
  return_stack();
  // A call after it, and then a return.
  EXPECT_EQ(run({0xF6, 0x01, 0x00, 0xF7, 0xF7, 0xF7}),
            "24 1000-1008 x2 N BR\n27 1008-100c x1 E BR link\n28 1018-1020 x2 E iBR ret\n"
            "29 100c-1010 x1 E iBR ret\n");
  // A call before it, and the return after it.
  EXPECT_EQ(run({0xDA, 0x01, 0x00, 0xF7, 0xF7}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n27 1018-1020 x2 E iBR ret\n"
            "28 100c-1010 x1 E iBR ret\n");
  // Both before it: the next atom is at the target.
  EXPECT_EQ(run({0xDA, 0xF7, 0x01, 0x00, 0xF7}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n"
            "28 100c-1010 x1 E iBR ret\n");
}

TEST_F(Etmv4Decoder, an_exception_after_a_trace_info_takes_the_target_from_the_return_stack) {
  return_stack();
  EXPECT_EQ(run({0xDA, 0xF7, 0x01, 0x00, 0x06, 0x1E, 0x9A, 0x04, 0x08, 0x00, 0x00}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n"
            "28 100c-1010 x1 E iBR ret\n28 exception f returns to 1010\n");
}

TEST_F(Etmv4Decoder, as_in_the_reference_a_trace_info_empties_the_return_stack) {
  return_stack();
  quirks.trace_info_empties_stack = true;
  // Nor are calls pushed up to the next address.
  EXPECT_EQ(run({0xF6, 0x01, 0x00, 0xF7, 0xF7, 0xF7}),
            "24 1000-1008 x2 N BR\n27 1008-100c x1 E BR link\n28 1018-1020 x2 E iBR ret\n"
            "error: An atom stands for a return, but no call is on the return stack.\n29 NO_SYNC( "
            "[bad-packet])\n");
  EXPECT_EQ(run({0xDA, 0xF7, 0x01, 0x00, 0xF7}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n");
}

TEST_F(Etmv4Decoder, an_exception_that_states_the_target_of_a_return_replaces_a_pop) {
  return_stack();
  const std::string told =
      "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n"
      "25 exception e returns to 1018 which was the target\n31 1000-1008 x2 N BR\n";
  EXPECT_EQ(run({0xDB, 0x06, 0x5C, 0x95, 0x06, 0x95, 0x00, 0xF6}), told);
  quirks.exception_pops_stated_target = true;
  EXPECT_EQ(run({0xDB, 0x06, 0x5C, 0x95, 0x06}),
            "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n"
            "error: An atom stands for a return, but no call is on the return stack.\n27 NO_SYNC( "
            "[bad-packet])\n");
}

TEST_F(Etmv4Decoder, an_exception_that_states_a_target_leaves_the_return_stack_to_later_returns) {
  return_stack();
  // A call, a return whose target the exception gives, and then a return to after the call.
  const std::string before =
      "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n"
      "26 exception e returns to 100c which was the target\n32 1018-1020 x2 E iBR ret\n";
  EXPECT_EQ(run({0xDA, 0xF7, 0x06, 0x5C, 0x95, 0x03, 0x95, 0x06, 0xF7, 0xF7}),
            before + "33 100c-1010 x1 E iBR ret\n");
  quirks.exception_pops_stated_target = true;
  EXPECT_EQ(run({0xDA, 0xF7, 0x06, 0x5C, 0x95, 0x03, 0x95, 0x06, 0xF7, 0xF7}),
            before +
                "error: An atom stands for a return, but no call is on the return stack.\n33 "
                "NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, without_the_return_stack_a_return_waits_for_its_address) {
  EXPECT_EQ(run({0xDA, 0xF7, 0xF7}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n");
}

// ---- Q elements; etmv4-ete.md 4.7b ------------------------------------------------------------

class Etmv4DecoderQ : public Etmv4Decoder {
 protected:
  Etmv4DecoderQ() { config.trcidr0 |= 3U << 15; }
};

TEST_F(Etmv4DecoderQ, a_count_that_ends_at_a_branch_gives_a_range) {
  EXPECT_EQ(run({0xA5, 0x03, 0x02, 0xF7}), "24 1000-1008 x2 E BR\n27 100c-1010 x1 E iBR ret\n");
}

TEST_F(Etmv4DecoderQ, its_address_says_whether_its_last_branch_was_taken) {
  EXPECT_EQ(run({0xA5, 0x03, 0x02}), "24 1000-1008 x2 E BR\n");
  EXPECT_EQ(run({0xA5, 0x02, 0x02}), "24 1000-1008 x2 N BR\n");
  EXPECT_EQ(run({0xA5, 0x04, 0x02}), "24 nopath 1000->1010 x2\n");
  EXPECT_EQ(run({0x95, 0x02, 0xA5, 0x03, 0x01}), "26 nopath 1008->100c x1\n");
  EXPECT_EQ(run({0x95, 0x03, 0xA5, 0x04, 0x01}), "26 100c-1010 x1 E iBR ret\n");
  quirks.q_branch_always_taken = true;
  EXPECT_EQ(run({0xA5, 0x02, 0x02}), "24 1000-1008 x2 E BR\n");
}

TEST_F(Etmv4DecoderQ, a_count_that_meets_the_address_gives_a_range) {
  EXPECT_EQ(run({0xA5, 0x01, 0x01}), "24 1000-1004 x1 E\n");
}

TEST_F(Etmv4DecoderQ, a_count_that_does_not_fit_gives_no_path) {
  EXPECT_EQ(run({0xA5, 0x06, 0x03, 0xF7}), "24 nopath 1000->1018 x3\n27 1018-1020 x2 E iBR ret\n");
}

TEST_F(Etmv4DecoderQ, an_unknown_count_gives_no_path) {
  EXPECT_EQ(run({0xAF, 0x95, 0x06, 0xF7}), "24 nopath 1000->1018 x0\n27 1018-1020 x2 E iBR ret\n");
}

TEST_F(Etmv4DecoderQ, its_address_can_follow_with_a_context) {
  EXPECT_EQ(run({0xAC, 0x02, 0x81, 0x33, 0x95, 0x03, 0xF7}),
            "24 1000-1008 x2 E BR\n26 PE_CONTEXT((ISA=A64) EL3N; 64-bit; )\n"
            "30 100c-1010 x1 E iBR ret\n");
}

TEST_F(Etmv4DecoderQ, its_missing_address_is_an_error_which_the_quirk_makes_fatal) {
  EXPECT_EQ(run({0xAC, 0x02, 0x73, 0x95, 0x06}),
            "error: No address follows a Q packet.\n27 NO_SYNC( [bad-packet])\n");
  quirks.fatal_walk_errors = true;
  EXPECT_EQ(run({0xAC, 0x02, 0x73, 0x95, 0x06}), "error: No address follows a Q packet.\nfailed\n");
}

TEST_F(Etmv4DecoderQ, it_begins_at_the_target_that_a_return_takes_from_the_return_stack) {
  return_stack();
  EXPECT_EQ(run({0xDA, 0xF7, 0xA5, 0x05, 0x02, 0xF7, 0xF7}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n"
            "26 nopath 100c->1014 x2\n29 1014-1018 x1 E BR\n30 1010-1014 x1 E iBR\n");
  quirks.source_and_q_do_not_pop = quirks.place_unchecked = true;
  EXPECT_THAT(run({0xDA, 0xF7, 0xA5, 0x05, 0x02}),
              testing::EndsWith("26 1020-1028 x2 E iBR eret\n"));
}

TEST_F(Etmv4DecoderQ, it_gives_no_range_from_an_unknown_place) {
  EXPECT_EQ(run({0xDB, 0xA5, 0x06, 0x02, 0xF7}),
            "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n28 1018-1020 x2 E iBR ret\n");
  auto bytes = sync(false);
  bytes.insert(bytes.end(), {0xA5, 0x06, 0x02, 0x81, 0x31, 0xF7});
  EXPECT_EQ(
      run_raw(bytes),
      "0 NO_SYNC( [init-decoder])\n17 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n19 nacc 18 space 2\n");
  quirks.place_unchecked = true;
  EXPECT_THAT(run({0xDB, 0xA5, 0x06, 0x02}), testing::EndsWith("25 nopath 1010->1018 x2\n"));
}

TEST_F(Etmv4DecoderQ, quirk_it_deletes_the_next_entry) {
  speculate(2);
  EXPECT_EQ(run({0xA5, 0x03, 0x02, 0xF6, 0xF6, 0xF6}),
            "24 1000-1008 x2 E BR\n27 100c-1010 x1 N iBR ret\n");
  quirks.q_deletes_next_entry = true;
  EXPECT_EQ(run({0xA5, 0x03, 0x02, 0xF6, 0xF6, 0xF6}),
            "24 1000-1008 x2 E BR\n28 100c-1010 x1 N iBR ret\n");
}

// ---- Source addresses; etmv4-ete.md 4.7 -------------------------------------------------------

class EteDecoder : public Etmv4Decoder {
 protected:
  EteDecoder() { ete(); }
};

TEST_F(EteDecoder, an_eret_takes_nothing_from_the_return_stack) {
  return_stack();
  EXPECT_THAT(run({0xDA, 0x95, 0x09, 0xF7, 0xF7}),
              testing::EndsWith("27 1024-1028 x1 E iBR eret\n27 EXCEPTION_RET()\n"));
  quirks.exception_return_pops = true;
  EXPECT_THAT(run({0xDA, 0x95, 0x09, 0xF7, 0xF7}),
              testing::EndsWith("27 EXCEPTION_RET()\n28 100c-1010 x1 E iBR ret\n"));
}

TEST_F(EteDecoder, a_source_address_is_a_taken_branch_there) {
  EXPECT_EQ(run({0xB4, 0x01, 0xF7}), "24 1000-1008 x2 E BR\n26 100c-1010 x1 E iBR ret\n");
}

TEST_F(EteDecoder, a_source_address_passes_branches_that_were_not_taken) {
  EXPECT_EQ(run({0xB4, 0x03}), "24 1000-1010 x4 E iBR ret\n");
  flags = kSourceAddressNRanges;
  EXPECT_EQ(run({0xB4, 0x03}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 N BR link\n24 100c-1010 x1 E iBR ret\n");
}

TEST_F(EteDecoder, a_source_address_before_the_current_one_makes_a_range_of_its_own) {
  EXPECT_EQ(run({0x95, 0x06, 0xB4, 0x02}), "26 1008-100c x1 E BR link\n");
}

TEST_F(EteDecoder, a_source_address_needs_no_address_before_it) {
  EXPECT_EQ(run({0xDB, 0xB4, 0x07}),
            "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n25 101c-1020 x1 E iBR ret\n");
}

TEST_F(EteDecoder, a_source_address_needs_a_context_before_it) {
  auto bytes = sync(false);
  bytes.insert(bytes.end(), {0xB8, 0x02, 0x08, 0, 0, 0, 0, 0, 0, 0x81, 0x31, 0xF7});
  EXPECT_EQ(run_raw(bytes),
            "0 NO_SYNC( [init-decoder])\n23 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n");
  quirks.place_unchecked = true;
  EXPECT_THAT(run_raw(bytes), testing::HasSubstr("14 1008-100c x1 E A32\n"));
}

TEST_F(EteDecoder, a_source_address_that_cannot_be_read_leads_to_an_unknown_place) {
  EXPECT_EQ(run({0xB4, 0x0C, 0xF6}), "24 1000-1030 x12 E\n24 nacc 1030 space 2\n");
  quirks.source_walk_unread = true;
  EXPECT_EQ(run({0xB4, 0x0C, 0xF6}), "24 nacc 1030 space 2\n26 1000-1008 x2 N BR\n");
}

TEST_F(EteDecoder, the_code_before_a_source_address_is_read) {
  program({0x14000000}, 0x1'0000'1000);  // B .
  const std::initializer_list<std::uint8_t> far = {0xB8, 0x00, 0x08, 0, 0, 1, 0, 0, 0, 0xF7};
  EXPECT_EQ(run(far),
            "24 1000-1030 x12 E\n24 nacc 1030 space 2\n24 100001000-100001004 x1 E BR\n"
            "33 100001000-100001004 x1 E BR\n");
  flags = kSourceAddressNRanges;
  EXPECT_THAT(run(far), testing::StartsWith("24 1000-1008 x2 N BR\n24 1008-100c x1 N BR link\n"));
  flags = 0;
  quirks.source_walk_unread = true;
  EXPECT_EQ(run(far), "24 1000-100001004 x1073741825 E BR\n33 100001000-100001004 x1 E BR\n");
}

TEST_F(EteDecoder, a_source_address_can_be_cancelled_without_the_quirk) {
  speculate(4);
  EXPECT_EQ(run({0xF6, 0xB4, 0x02, 0x2E, 0x01, 0x2D, 0x01}), "24 1000-1008 x2 N BR\n");
  quirks.source_address_not_cancelled = true;
  EXPECT_EQ(run({0xF6, 0xB4, 0x02, 0x2E, 0x01, 0xF7, 0x2D, 0x01}), "29 1000-1008 x2 E BR\n");
}

TEST_F(EteDecoder, a_source_address_at_an_eret_gives_the_return_unless_the_quirk_is_on) {
  EXPECT_EQ(run({0xB4, 0x09}), "24 1000-1028 x10 E iBR eret\n24 EXCEPTION_RET()\n");
  quirks.source_address_after_state = true;
  EXPECT_EQ(run({0xB4, 0x09}), "24 1000-1028 x10 E iBR eret\n");
}

TEST_F(EteDecoder, a_source_address_follows_the_target_that_a_return_takes_from_the_return_stack) {
  return_stack();
  EXPECT_EQ(run({0xDA, 0xF7, 0xB4, 0x05, 0xF7}),
            "24 1000-1008 x2 N BR\n24 1008-100c x1 E BR link\n25 1018-1020 x2 E iBR ret\n"
            "26 100c-1018 x3 E BR\n28 1010-1014 x1 E iBR\n");
  EXPECT_THAT(run({0xF7, 0xF7, 0xB4, 0x05}),
              testing::EndsWith("no call is on the return stack.\n26 NO_SYNC( [bad-packet])\n"));
  quirks.source_and_q_do_not_pop = true;
  EXPECT_THAT(run({0xDA, 0xF7, 0xB4, 0x05}), testing::EndsWith("26 1014-1018 x1 E BR\n"));
}

TEST_F(EteDecoder, a_source_address_with_link_pushes_for_the_return_stack) {
  return_stack();
  EXPECT_EQ(run({0xB4, 0x02, 0xF7, 0xF7}),
            "24 1000-100c x3 E BR link\n26 1018-1020 x2 E iBR ret\n27 100c-1010 x1 E iBR ret\n");
}

// ---- Transactions, timestamps and the rest; etmv4-ete.md 4.10 ---------------------------------

TEST_F(EteDecoder, transactions_start_commit_and_fail) {
  EXPECT_EQ(run({0x0A, 0x0B, 0x06, 0x31, 0x70, 0xF6}),
            "24 MEMTRANS(Start)\n25 MEMTRANS(Commit)\n26 MEMTRANS(Fail)\n29 1000-1008 x2 N BR\n");
}

TEST_F(EteDecoder, a_transaction_start_without_a_p0_element_waits_for_one) {
  config.trcidr0 |= 1U << 30;
  EXPECT_EQ(run({0x0A}), "");
  EXPECT_EQ(run({0x0A, 0xF6}), "24 MEMTRANS(Start)\n25 1000-1008 x2 N BR\n");
}

TEST_F(EteDecoder, timestamps_wait_for_the_first_marker_where_markers_are_in_use) {
  ete(1);
  config.trcidr0 |= 1U << 23;
  EXPECT_EQ(run({0x02, 0x05, 0x88, 0x02, 0x06, 0xF6}),
            "26 SYNC_MARKER( [Timestamp marker(0x00000000)])\n"
            "27 TIMESTAMP( [ TS=0x000000000006]; )\n29 1000-1008 x2 N BR\n");
}

TEST_F(Etmv4Decoder, a_timestamp_has_a_count_where_cycles_are_counted) {
  config.trcconfigr |= 1U << 4;
  EXPECT_EQ(run({0x02, 0x05, 0x03, 0x06, 0x07, 0xF6}),
            "24 TIMESTAMP( [ TS=0x000000000005]; )\n"
            "26 TIMESTAMP( [ TS=0x000000000006];  [CC=7]; )\n29 1000-1008 x2 N BR\n");
  quirks.missing_counts_are_zero = true;
  EXPECT_EQ(run({0x02, 0x05, 0xF6}),
            "24 TIMESTAMP( [ TS=0x000000000005];  [CC=0]; )\n26 1000-1008 x2 N BR\n");
}

// ---- Consistency checks; etmv4-ete.md 4.9 -----------------------------------------------------

TEST_F(Etmv4Decoder, n_on_an_unconditional_direct_branch_is_a_bad_image) {
  EXPECT_EQ(run({0xD8}), "24 1000-1008 x2 N BR\n24 1008-100c x1 N BR link\n");
  flags = kCheckDirectBranchN;
  EXPECT_EQ(
      run({0xD8}),
      "24 1000-1008 x2 N BR\n"
      "error: An atom N stands for an unconditional direct branch: trace and code image disagree.\n"
      "24 NO_SYNC( [bad-program-image])\n");
}

TEST_F(Etmv4Decoder, n_on_a_branch_to_the_next_instruction_is_strictly_bad_only) {
  program({0x14000001, 0xD65F03C0}, 0x2000);
  flags = kCheckDirectBranchN;
  EXPECT_EQ(run({0x95, 0x80, 0x10, 0xF6}), "27 2000-2004 x1 N BR\n");
  flags = kCheckStrictBranchN;
  EXPECT_EQ(
      run({0x95, 0x80, 0x10, 0xF6}),
      "error: An atom N stands for an unconditional direct branch: trace and code image disagree.\n"
      "27 NO_SYNC( [bad-program-image])\n");
}

TEST_F(Etmv4Decoder, n_on_an_indirect_branch_is_strictly_bad) {
  flags = kCheckStrictBranchN;
  EXPECT_EQ(run({0xD9}),
            "24 1000-1008 x2 E BR\n"
            "error: An atom N stands for an unconditional indirect branch: trace and code image "
            "disagree.\n"
            "24 NO_SYNC( [bad-program-image])\n");
}

TEST_F(Etmv4Decoder, a_range_after_n_must_go_on_where_that_ended) {
  flags = kCheckRangeContinuity;
  EXPECT_EQ(
      run({0xF6, 0x95, 0x06, 0xF7}),
      "24 1000-1008 x2 N BR\n"
      "error: A range does not begin where the last one ended: trace and code image disagree.\n"
      "27 NO_SYNC( [bad-program-image])\n");
  EXPECT_EQ(run({0xF6, 0x04, 0x95, 0x06, 0xF7}),
            "24 1000-1008 x2 N BR\n25 TRACE_ON( [begin or filter])\n28 1018-1020 x2 E iBR ret\n");
}

TEST_F(Etmv4Decoder, atoms_before_a_target_can_be_reported_once_for_each_branch) {
  flags = kReportLostAtoms;
  EXPECT_EQ(run({0xDB, 0xF7, 0xF7, 0x95, 0x06, 0xF7}),
            "24 1000-1008 x2 E BR\n24 100c-1010 x1 E iBR ret\n"
            "warning: Atoms come before the target of an indirect branch: trace and code image "
            "disagree.\n"
            "29 1018-1020 x2 E iBR ret\n");
}

TEST_F(Etmv4Decoder, atoms_before_the_target_of_a_load_to_the_pc_are_not_reported) {
  program({0xE8BD8070}, 0x2000);  // POP {r4, r5, r6, pc}
  flags = kReportLostAtoms;
  EXPECT_EQ(run({0x95, 0x80, 0x10, 0x81, 0x21, 0xF7, 0xF7}),
            "27 PE_CONTEXT((ISA=A32) EL1N; 32-bit; )\n29 2000-2004 x1 E iBR implied A32\n");
}

// ---- Errors; etmv4-ete.md 4.11 ----------------------------------------------------------------

TEST_F(Etmv4Decoder, a_reserved_packet_loses_synchronisation_which_the_quirk_shows_at_the_next) {
  EXPECT_EQ(run({0x08, 0xF7}),
            "warning: A packet header is reserved.\n24 NO_SYNC( [bad-packet])\n");
  quirks.no_search_after_bad_packet = true;
  EXPECT_EQ(run({0x08, 0xF7}),
            "warning: A packet header is reserved.\n25 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, an_async_that_a_cut_packet_has_begun_is_damage_and_synchronises) {
  std::vector<std::uint8_t> bytes = sync();
  bytes.insert(bytes.end(), {0x73, 0x9D, 0x01, 0x02});
  const auto again = sync();
  bytes.insert(bytes.end(), again.begin(), again.end());
  bytes.push_back(0xF7);
  EXPECT_THAT(
      run_raw(bytes),
      testing::EndsWith("24 EVENT( Numbered:3; )\n"
                        "warning: The packet before this synchronisation is cut short. Its "
                        "last bytes are zeros of the synchronisation, so its content is wrong.\n"
                        "34 NO_SYNC( [bad-packet])\n"
                        "42 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n52 1000-1008 x2 E BR\n"));
}

TEST_F(Etmv4Decoder, bad_packets_can_be_errors_or_fatal) {
  flags = kErrorOnBadPackets;
  EXPECT_EQ(run({0x08, 0xF7}), "error: A packet header is reserved.\n24 NO_SYNC( [bad-packet])\n");
  flags = kHaltOnBadPackets;
  EXPECT_EQ(run({0x08, 0xF7}), "warning: A packet header is reserved.\nfailed\n");
}

TEST_F(Etmv4Decoder, other_bad_packets_are_named) {
  EXPECT_EQ(run({0x00, 0x01, 0xF7}),
            "warning: The bytes do not form a valid packet.\n24 NO_SYNC( [bad-packet])\n");
  EXPECT_EQ(run({0x40, 0xF7}),
            "warning: A packet header is reserved with these registers: check that they belong to "
            "this trace.\n24 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4Decoder, conditional_packets_are_not_supported) {
  config.trcidr0 |= 1U << 6;
  config.trcconfigr |= 7U << 8;
  EXPECT_EQ(run({0x43, 0xF7}),
            "error: Packets of data trace and of conditional instructions cannot be decoded "
            "here; `packets` shows them.\n24 NO_SYNC( [bad-packet])\n");
}

// ---- End of trace; etmv4-ete.md 4.13 ----------------------------------------------------------

TEST_F(Etmv4Decoder, the_end_gives_what_no_atom_is_before) {
  EXPECT_EQ(run({0xF6, 0x73, 0x02, 0x05}, true),
            "24 1000-1008 x2 N BR\n25 EVENT( Numbered:3; )\n"
            "26 TIMESTAMP( [ TS=0x000000000005]; )\n26 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv4Decoder, the_end_gives_what_is_certain_and_what_survives) {
  speculate(4);
  EXPECT_EQ(run({0x73, 0xF7, 0x02, 0x05}, true),
            "24 EVENT( Numbered:3; )\n26 TIMESTAMP( [ TS=0x000000000005]; )\n"
            "26 EO_TRACE( [end-of-trace])\n");
  EXPECT_EQ(run({0x04, 0x07, 0x02, 0x05, 0xF7, 0x04, 0x81, 0x32}, true),
            "24 TRACE_ON( [begin or filter])\n25 EXCEPTION_RET()\n"
            "26 TIMESTAMP( [ TS=0x000000000005]; )\n30 EO_TRACE( [end-of-trace])\n");
  EXPECT_EQ(run({0x81, 0x32}, true),
            "24 PE_CONTEXT((ISA=A64) EL2N; 64-bit; )\n24 EO_TRACE( [end-of-trace])\n");
  quirks.end_loses_settled = true;
  EXPECT_EQ(run({0x73, 0xF7, 0x02, 0x05}, true),
            "24 EVENT( Numbered:3; )\n26 EO_TRACE( [end-of-trace])\n");
  EXPECT_EQ(run({0x04, 0x02, 0x05}, true), "25 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv4Decoder, a_discard_gives_what_is_certain) {
  EXPECT_EQ(run({0x04, 0x07, 0x00, 0x05}),
            "24 TRACE_ON( [begin or filter])\n25 EXCEPTION_RET()\n26 NO_SYNC( [overflow])\n");
  quirks.end_loses_settled = true;
  EXPECT_EQ(run({0x04, 0x07, 0x00, 0x05}), "26 NO_SYNC( [overflow])\n");
}

TEST_F(Etmv4Decoder, the_end_comes_even_without_synchronisation) {
  EXPECT_EQ(run_raw(std::vector<std::uint8_t>{}, true), "0 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv4Decoder, what_waits_before_an_unfinished_packet_is_given_at_the_end) {
  EXPECT_EQ(run({0x73, 0x95}, true),
            "24 EVENT( Numbered:3; )\n"
            "warning: The trace ends inside a packet.\n25 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv4Decoder, quirk_bad_packet_loses_queue) {
  quirks.bad_packet_loses_queue = true;
  EXPECT_EQ(run({0x73, 0x95}, true),
            "warning: The trace ends inside a packet.\n25 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv4Decoder, the_end_after_an_overflow_says_so) {
  EXPECT_EQ(run({0x00, 0x05}, true), "24 NO_SYNC( [overflow])\n24 EO_TRACE( [overflow])\n");
}

// ---- Reset; etmv4-ete.md 5.1 --------------------------------------------------------------------

TEST_F(Etmv4Decoder, reset_asks_for_a_new_sync_point_and_keeps_sticky_ids) {
  Decoder decoder(config, image, 0, {});
  const auto give = [&](std::initializer_list<std::uint8_t> bytes) {
    std::vector<std::uint8_t> all = sync();
    all.insert(all.end(), bytes);
    Parser parser(config);
    const frames::Run input{.position = 0, .index = 0};
    parser.feed({all, {&input, 1}});
    Packet packet;
    std::vector<Element> out(64);
    std::size_t count = 0;
    while (parser.next(packet)) {
      decoder.accept(packet);
      while (decoder.busy()) count += decoder.drain(std::span(out).subspan(count));
    }
    out.resize(count);
    return out;
  };
  give({0x81, 0xF1, 1, 0, 0, 0, 2, 0, 0, 0, 0xF6});
  decoder.reset();
  const std::vector<Element> again = give({0xF6});
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again[0].reason, static_cast<std::uint8_t>(UnsyncReason::kResetDecoder));
  EXPECT_EQ(again[1].kind, ElementKind::kPeContext);
  EXPECT_EQ(again[1].context_id, 2U);
  EXPECT_NE(again[1].flags & kElementVmidValid, 0);
}

// ---- M profile ----------------------------------------------------------------------------------

class Etmv4DecoderM : public testing::Test, protected support::DecoderBench {
 protected:
  Etmv4DecoderM() {
    config.core = {isa::Arch::kV8, isa::Profile::kM};
    speculate();
    program({
        0x00FEE890,  // 1000 LDM r0, {r1-r7}
        0xE7FCBF00,  // 1004 NOP; B 1002
        0xBF004770,  // 1008 BX lr; NOP
    });
  }

  void speculate() { config.trcidr8 = 16; }

  std::string run_m(std::initializer_list<std::uint8_t> bytes) {
    std::vector<std::uint8_t> all = sync(false);
    all.insert(all.end(), {0x83, 0x00, 0x10, 0x00, 0x00, 0x00});
    all.insert(all.end(), bytes);
    std::string text = run_raw(all);
    const std::string_view own =
        "0 NO_SYNC( [init-decoder])\n14 PE_CONTEXT((ISA=T32) EL0S; 32-bit; )\n";
    EXPECT_TRUE(text.starts_with(own)) << text;
    return text.substr(std::min(own.size(), text.size()));
  }
};

TEST_F(Etmv4DecoderM, an_exception_return_is_a_p0_element_on_every_m_profile) {
  const std::string expected = "20 EXCEPTION_RET()\n21 EXCEPTION_RET()\n";
  EXPECT_EQ(run_m({0x07, 0x07, 0x2D, 0x02}), expected);
  config.core.arch = isa::Arch::kV7;
  quirks.v8m_exception_return_is_not_p0 = true;
  EXPECT_EQ(run_m({0x07, 0x07, 0x2D, 0x02}), expected);
  config.core.profile = isa::Profile::kA;
  EXPECT_THAT(run_m({0x07, 0x07, 0x2D, 0x02}), testing::HasSubstr("more elements"));
}

TEST_F(Etmv4DecoderM, quirk_v8m_exception_return_is_not_p0) {
  quirks.v8m_exception_return_is_not_p0 = true;
  EXPECT_EQ(run_m({0x07, 0x2D, 0x01}),
            "20 EXCEPTION_RET()\nerror: The trace commits more elements than are outstanding.\n"
            "21 NO_SYNC( [bad-packet])\n");
}

TEST_F(Etmv4DecoderM, an_exception_after_which_no_address_follows_leaves_the_next_one_alone) {
  EXPECT_EQ(run_m({0x06, 0x1C, 0x96, 0x04, 0xF7, 0x2D, 0x02}),
            "20 exception e\n24 1008-100a x1 E iBR implied T32\n");
  quirks.exception_without_address_takes_one = true;
  EXPECT_EQ(run_m({0x06, 0x1C, 0x96, 0x04, 0x2D, 0x01}),
            "20 1000-1008 x3 E BR T32\n20 exception e returns to 1008\n");
}

TEST_F(Etmv4DecoderM, a_tail_chain_takes_nothing_from_the_return_stack) {
  config.trcconfigr |= 1U << 12;
  EXPECT_EQ(run_m({0x96, 0x04, 0xF7, 0x07, 0x06, 0x1D, 0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0x2D, 0x03}),
            "22 1008-100a x1 E iBR implied T32\n23 EXCEPTION_RET()\n24 exception e tail chain\n");
  EXPECT_EQ(run_m({0x96, 0x04, 0xF7, 0x06, 0x1D, 0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0x2D, 0x02}),
            "22 1008-100a x1 E iBR implied T32\n23 exception e tail chain\n");
  quirks.exception_return_pops = true;
  EXPECT_THAT(run_m({0x96, 0x04, 0xF7, 0x07, 0x06, 0x1D, 0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0x2D, 0x03}),
              testing::HasSubstr("no call is on the return stack"));
}

TEST_F(Etmv4DecoderM, a_return_address_inside_an_instruction_counts_it_as_the_last_one) {
  EXPECT_EQ(run_m({0x06, 0x05, 0x96, 0x01, 0x2D, 0x01}),
            "20 1000-1004 x1 E T32\n20 exception 2 returns to 1002\n");
}

TEST_F(Etmv4DecoderM, quirk_exception_walk_runs_over) {
  quirks.exception_walk_runs_over = true;
  quirks.reads_four_bytes = true;
  EXPECT_EQ(
      run_m({0x06, 0x05, 0x96, 0x01, 0x2D, 0x01}),
      "20 1000-100a x4 E iBR implied T32\n20 nacc 100a space 1\n20 exception 2 returns to 1002\n");
}

}  // namespace
}  // namespace waymark::etmv4
