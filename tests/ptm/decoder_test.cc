#include "waymark/ptm/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/ptm_bench.h"

namespace waymark::ptm {
namespace {

// A32 opcodes.
constexpr std::uint32_t kNop = 0xE1A00000;
constexpr std::uint32_t kBxLr = 0xE12FFF1E;
constexpr std::uint32_t kBlxR3 = 0xE12FFF33;
constexpr std::uint32_t kIsb = 0xF57FF06F;
constexpr std::uint32_t kDsb = 0xF57FF04F;

constexpr std::uint32_t branch(std::int32_t from, std::int32_t to, std::uint32_t condition = 0xE,
                               bool link = false) {
  return condition << 28 | (link ? 0x0B000000U : 0x0A000000U) |
         (static_cast<std::uint32_t>((to - from - 8) / 4) & 0xFFFFFF);
}

class PtmDecoder : public testing::Test, protected support::PtmBench {
 protected:
  /// 1000 nop; 1004 beq 100c; 1008 bl 1014; 100c bl 1014; 1010 b 1000; 1014 bx lr
  void calls() {
    program({kNop, branch(0x1004, 0x100C, 0), branch(0x1008, 0x1014, 0xE, true),
             branch(0x100C, 0x1014, 0xE, true), branch(0x1010, 0x1000), kBxLr});
  }
  void return_stack() { config.etmcr |= kReturnStackOn; }
};

// ---- Synchronisation; ptm.md 8 and 9.1 ----------------------------------------------------------

TEST_F(PtmDecoder, the_first_isync_is_trace_on_even_if_periodic) {
  const std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x84, 0x08, 0, 0x10, 0, 0, 0x01};
  EXPECT_EQ(run_raw(bytes, true),
            "0 NO_SYNC( [init-decoder])\n"
            "7 TRACE_ON( [begin or filter])\n"
            "7 PE_CONTEXT((ISA=A32) S; 32-bit; )\n"
            "7 EO_TRACE( [end-of-trace])\n");
}

TEST_F(PtmDecoder, nothing_before_an_async_and_an_isync_counts) {
  const std::vector<std::uint8_t> bytes = {0x84, 0, 0, 0, 0, 0, 0x80, 0x42, 1, 0x0C, 0x84};
  EXPECT_EQ(run_raw(bytes, true), "0 NO_SYNC( [init-decoder])\n10 EO_TRACE( [end-of-trace])\n");
}

TEST_F(PtmDecoder, a_periodic_isync_is_silent) { EXPECT_EQ(run({0x08, 0, 0x10, 0, 0, 0x01}), ""); }

TEST_F(PtmDecoder, other_isyncs_give_the_reason_why_trace_continues) {
  EXPECT_EQ(run({0x08, 0, 0x10, 0, 0, 0x41}), "12 TRACE_ON( [overflow])\n");
  EXPECT_EQ(run({0x08, 0, 0x10, 0, 0, 0x61}), "12 TRACE_ON( [debug restart])\n");
  EXPECT_EQ(run({0x08, 1, 0x10, 0, 0, 0x21}),
            "12 TRACE_ON( [begin or filter])\n12 PE_CONTEXT((ISA=T32) S; 32-bit; )\n");
}

TEST_F(PtmDecoder, an_isync_with_a_context_id_always_reports_the_context) {
  config.etmcr = kContextId4;
  EXPECT_EQ(run({0x08, 0, 0x10, 0, 0, 0x21, 7, 0, 0, 0}),
            "16 TRACE_ON( [begin or filter])\n16 PE_CONTEXT((ISA=A32) S; 32-bit; CTXTID=0x7; )\n");
}

TEST_F(PtmDecoder, an_isync_reports_a_change_of_security_alone) {
  EXPECT_EQ(run({0x08, 0, 0x10, 0, 0, 0x29}),
            "12 TRACE_ON( [begin or filter])\n12 PE_CONTEXT((ISA=A32) N; 32-bit; )\n");
  quirks.security_state_lost = true;
  EXPECT_EQ(run({0x08, 0, 0x10, 0, 0, 0x29}), "12 TRACE_ON( [begin or filter])\n");
}

TEST_F(PtmDecoder, trace_on_carries_the_cycle_count) {
  config.etmcr = kCycles;
  EXPECT_EQ(run({0x08, 0, 0x10, 0, 0, 0x21, 0xCC, 0x03}),
            "13 TRACE_ON( [begin or filter] [CC=51]; )\n");
}

TEST_F(PtmDecoder, hyp_mode_is_el2) {
  EXPECT_EQ(run({0x08, 0, 0x10, 0, 0, 0x2B}),
            "12 TRACE_ON( [begin or filter])\n12 PE_CONTEXT((ISA=A32) EL2N; 32-bit; )\n");
}

// ---- Atoms; ptm.md 9.2 and 9.3 ------------------------------------------------------------------

TEST_F(PtmDecoder, atoms_walk_from_waypoint_to_waypoint) {
  calls();
  EXPECT_EQ(run({0xA4}),  // EENE
            "12 1000-1008 x2 E BR\n12 100c-1010 x1 E BR link\n12 1014-1018 x1 N iBR implied\n"
            "12 ADDR_NACC( 0x1018; Memspace [0x19:Any S] )\n");
}

TEST_F(PtmDecoder, an_atom_at_a_return_pops_the_return_stack) {
  calls();
  return_stack();
  EXPECT_EQ(run({0x90}),  // EEE
            "12 1000-1008 x2 E BR\n12 100c-1010 x1 E BR link\n12 1014-1018 x1 E iBR implied\n");
  EXPECT_EQ(run({0x90, 0x84}).substr(0, 200),
            "12 1000-1008 x2 E BR\n12 100c-1010 x1 E BR link\n12 1014-1018 x1 E iBR implied\n"
            "13 1010-1014 x1 E BR\n");
}

TEST_F(PtmDecoder, without_the_return_stack_an_atom_at_a_return_loses_the_address) {
  calls();
  EXPECT_EQ(run({0x90, 0x84, 0x81, 0x10, 0x86}),  // Then a branch to 1000.
            "12 1000-1008 x2 E BR\n12 100c-1010 x1 E BR link\n12 1014-1018 x1 E iBR implied\n"
            "16 1000-1008 x2 N BR\n");
}

TEST_F(PtmDecoder, a_return_with_nothing_on_the_stack_is_a_loss_of_sync) {
  program({kBxLr});
  return_stack();
  EXPECT_EQ(run({0x84, 0x84}),
            "12 1000-1004 x1 E iBR implied\n"
            "error at 12: An atom stands for a return, but no call is on the return stack.\n"
            "12 NO_SYNC( [bad-packet])\n");
}

TEST_F(PtmDecoder, the_reference_ends_there) {
  program({kBxLr});
  return_stack();
  quirks.empty_stack_is_fatal = true;
  EXPECT_EQ(
      run({0x84, 0x84}),
      "error at 12: An atom stands for a return, but no call is on the return stack.\nfailed\n");
}

TEST_F(PtmDecoder, every_isync_empties_the_return_stack) {
  calls();
  return_stack();
  EXPECT_EQ(run({0x88, 0x08, 0x14, 0x10, 0, 0, 0x01, 0x84}),
            "12 1000-1008 x2 E BR\n12 100c-1010 x1 E BR link\n19 1014-1018 x1 E iBR implied\n"
            "error at 19: An atom stands for a return, but no call is on the return stack.\n"
            "19 NO_SYNC( [bad-packet])\n");
}

TEST_F(PtmDecoder, after_code_that_cannot_be_read_older_calls_are_not_on_top_of_the_stack) {
  calls();
  return_stack();
  // Two atoms, branches to 1018 and 1014, with an atom at each, and one more.
  EXPECT_THAT(run({0x88, 0x0D, 0x84, 0x0B, 0x84, 0x84}),
              testing::EndsWith("16 1014-1018 x1 E iBR implied\n"));
  quirks.calls_not_missed = true;
  EXPECT_THAT(run({0x88, 0x0D, 0x84, 0x0B, 0x84, 0x84}),
              testing::EndsWith("16 1014-1018 x1 E iBR implied\n17 1010-1014 x1 E BR\n"));
}

TEST_F(PtmDecoder, a_call_through_a_register_pops_before_it_pushes) {
  // 1000 bl 1008; 1004 isb; 1008 blx r3; 100c bx lr
  program({branch(0x1000, 0x1008, 0xE, true), kIsb, kBlxR3, kBxLr});
  return_stack();
  EXPECT_EQ(run({0x90, 0x87, 0x10, 0x84}),  // EEE, a branch (from 1008) to 100c, E
            "12 1000-1004 x1 E BR link\n12 1008-100c x1 E iBR link\n12 1004-1008 x1 E ISB\n"
            "13 1008-100c x1 E iBR link\n15 100c-1010 x1 E iBR implied\n");
}

TEST_F(PtmDecoder, an_atom_that_is_not_taken_neither_pushes_nor_pops) {
  program({branch(0x1000, 0x1008, 0, true), kBxLr, kBxLr});
  return_stack();
  EXPECT_EQ(run({0x8E}), "12 1000-1004 x1 N BR link\n12 1004-1008 x1 N iBR implied\n");
}

TEST_F(PtmDecoder, in_the_reference_an_untaken_blx_changes_the_instruction_set) {
  // 1000 blx 1010 (T32); 1004 b 1000; 1008 nop; 100c nop; 1010 bx lr (T32)
  program({0xFA000002, branch(0x1004, 0x1000), kNop, kNop, 0x46C04770, 0x46C046C0});
  return_stack();
  const std::string before =
      "12 1000-1004 x1 E BR link\n12 1010-1012 x1 E iBR implied T32\n12 1004-1008 x1 E BR\n"
      "12 1000-1004 x1 N BR link\n";
  EXPECT_EQ(run({0xA2, 0x84}), before + "13 1004-1008 x1 E BR\n");
  quirks.untaken_blx_changes_isa = true;
  EXPECT_EQ(run({0xA2, 0x84}), before + "13 1004-100c x3 E BR T32\n");
}

TEST_F(PtmDecoder, barriers_are_waypoints_where_the_register_says_so) {
  program({kDsb, kIsb, kNop});
  EXPECT_EQ(run({0x84}), "12 1000-1008 x2 E ISB\n");
  config.etmccer |= kBarriers;
  EXPECT_EQ(run({0x88}), "12 1000-1004 x1 E DSB.DMB\n12 1004-1008 x1 E ISB\n");
}

TEST_F(PtmDecoder, a_cycle_count_goes_with_its_atom) {
  calls();
  config.etmcr = kCycles;
  EXPECT_EQ(run({0xE8, 0x20, 0x82}),
            "13 1000-1008 x2 E BR CC=522\n15 100c-1010 x1 N BR link CC=0\n");
}

TEST_F(PtmDecoder, cycle_counts_without_a_place_are_elements_of_their_own) {
  calls();
  config.etmcr = kCycles;
  EXPECT_EQ(run({0x84, 0x84, 0x84, 0x88, 0x81, 0x10, 0x08, 0x82}),
            "13 1000-1008 x2 E BR CC=1\n14 100c-1010 x1 E BR link CC=1\n"
            "15 1014-1018 x1 E iBR implied CC=1\n16 CYCLE_COUNT( [CC=2]; )\n"
            "17 CYCLE_COUNT( [CC=2]; )\n20 1000-1008 x2 N BR CC=0\n");
  quirks.cycle_counts_lost = true;
  EXPECT_EQ(run({0x84, 0x84, 0x84, 0x88, 0x81, 0x10, 0x08, 0x82}),
            "13 1000-1008 x2 E BR CC=1\n14 100c-1010 x1 E BR link CC=1\n"
            "15 1014-1018 x1 E iBR implied CC=1\n20 1000-1008 x2 N BR CC=0\n");
}

TEST_F(PtmDecoder, unreadable_memory_ends_the_range_before_it) {
  program({kNop, kNop});
  config.etmcr = kCycles;
  EXPECT_EQ(run({0x88}),
            "13 1000-1008 x2 E\n13 ADDR_NACC( 0x1008; Memspace [0x19:Any S] )\n"
            "13 CYCLE_COUNT( [CC=2]; )\n");
}

TEST_F(PtmDecoder, thumb_code_is_followed_into_a32_by_blx) {
  // 1000 nop; 1002 blx 10fc (A32)
  thumb_program({0xBF00, 0xF000, 0xE87C}, 0x1000);
  program({kBxLr}, 0x10FC);
  return_stack();
  EXPECT_EQ(run({0x08, 0x01, 0x10, 0, 0, 0x01, 0x88}),
            "18 1000-1006 x2 E BR link T32\n18 10fc-1100 x1 E iBR implied\n");
}

TEST_F(PtmDecoder, code_that_no_classifier_knows_is_passed_over) {
  program({kNop});
  EXPECT_EQ(run({0x8D, 0x80, 0x80, 0x80, 0x20, 0x81, 0x90, 0x80, 0x80, 0x08, 0x84}),
            "12 1000-1004 x1 E\n12 ADDR_NACC( 0x1004; Memspace [0x19:Any S] )\n"
            "17 ADDR_NACC( 0x6; Memspace [0x19:Any S] )\n"
            "22 1000-1004 x1 E\n22 ADDR_NACC( 0x1004; Memspace [0x19:Any S] )\n");
  program({kNop, kNop, kNop}, 0);
  EXPECT_EQ(run({0x8D, 0x80, 0x80, 0x80, 0x20, 0x84, 0x84}),
            "12 1000-1004 x1 E\n12 ADDR_NACC( 0x1004; Memspace [0x19:Any S] )\n"
            "warning at 17: The instructions that an atom stands for cannot be followed.\n");
}

// ---- Branches; ptm.md 9.4 -----------------------------------------------------------------------

TEST_F(PtmDecoder, a_branch_implies_an_executed_waypoint) {
  calls();
  return_stack();
  EXPECT_EQ(run({0x88, 0x89, 0x10, 0x84}),  // EE, a branch from bx lr to 1010 despite the stack
            "12 1000-1008 x2 E BR\n12 100c-1010 x1 E BR link\n13 1014-1018 x1 E iBR implied\n"
            "15 1010-1014 x1 E BR\n");
}

TEST_F(PtmDecoder, a_branch_for_a_direct_branch_pushes) {
  calls();
  return_stack();
  EXPECT_EQ(run({0x87, 0x10, 0x8B, 0x10, 0x84, 0x84}),
            "12 1000-1008 x2 E BR\n14 100c-1010 x1 E BR link\n16 1014-1018 x1 E iBR implied\n"
            "17 1010-1014 x1 E BR\n");
}

TEST_F(PtmDecoder, an_exception_states_its_return_address) {
  calls();
  EXPECT_EQ(run({0x84, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1C}),
            "12 1000-1008 x2 E BR\n13 EXCEPTION(pref ret addr:0x100c; excep num (0x0e) )\n");
}

TEST_F(PtmDecoder, exception_bytes_change_the_security_state) {
  program({kNop});
  EXPECT_EQ(run({0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1D, 0x84}),
            "12 EXCEPTION(pref ret addr:0x1000; excep num (0x0e) )\n"
            "12 PE_CONTEXT((ISA=A32) N; 32-bit; )\n"
            "18 ADDR_NACC( 0xffff0018; Memspace [0x6:Any NS] )\n");
  quirks.security_state_lost = true;
  EXPECT_EQ(run({0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1D, 0x84}),
            "12 EXCEPTION(pref ret addr:0x1000; excep num (0x0e) )\n"
            "18 ADDR_NACC( 0xffff0018; Memspace [0x19:Any S] )\n");
}

TEST_F(PtmDecoder, an_exception_without_a_known_address) {
  program({kBxLr});
  EXPECT_EQ(run({0x84, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1C}),
            "12 1000-1004 x1 E iBR implied\n13 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(PtmDecoder, exception_number_zero_is_a_branch_with_a_change_of_state) {
  calls();
  EXPECT_EQ(run({0x87, 0x50, 0x01}),
            "12 1000-1008 x2 E BR\n12 PE_CONTEXT((ISA=A32) N; 32-bit; )\n");
  quirks = Quirks::reference();
  EXPECT_EQ(run({0x87, 0x50, 0x01}), "12 EXCEPTION(pref ret addr:0x1000; excep num (0x00) )\n");
}

// ---- Waypoint updates; ptm.md 9.5 ---------------------------------------------------------------

TEST_F(PtmDecoder, a_waypoint_update_walks_to_its_address) {
  program({kNop, kNop, kNop, kNop, kNop, kNop});
  EXPECT_EQ(run({0x72, 0x89, 0x10, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1C}),
            "12 1000-1014 x5 E\n15 EXCEPTION(pref ret addr:0x1014; excep num (0x0e) )\n");
}

TEST_F(PtmDecoder, a_waypoint_update_at_a_direct_branch_takes_it) {
  calls();
  return_stack();
  EXPECT_EQ(run({0x72, 0x87, 0x10, 0x84, 0x84}),  // Past beq to bl at 100c; bx lr; b at 1010
            "12 1000-1010 x4 E BR link\n"
            "warning at 12: The image has another waypoint before the address of a waypoint "
            "update, but the trace has no atom for it.\n"
            "15 1014-1018 x1 E iBR implied\n16 1010-1014 x1 E BR\n");
  quirks.waypoint_update_unchecked = true;
  EXPECT_EQ(run({0x72, 0x87, 0x10}), "12 1000-1010 x4 E BR link\n");
}

TEST_F(PtmDecoder, a_waypoint_update_at_an_indirect_branch_loses_the_address) {
  program({kNop, kBxLr});
  EXPECT_EQ(run({0x72, 0x83, 0x10, 0x84}), "12 1000-1008 x2 E iBR implied\n");
}

TEST_F(PtmDecoder, a_waypoint_update_means_nothing_where_no_address_is_known) {
  program({kBxLr});
  EXPECT_EQ(run({0x84, 0x72, 0x89, 0x10}), "12 1000-1004 x1 E iBR implied\n");
}

TEST_F(PtmDecoder, a_waypoint_update_backwards_does_not_fit_the_program) {
  program({kNop, kNop, kNop, kNop});
  program({kNop}, 0x0FFC);
  const std::string_view warning =
      "warning at 12: The program cannot reach the address of a waypoint update from its last "
      "position.\n";
  EXPECT_EQ(run({0x72, 0xFD, 0x0F, 0x84}), warning);
  quirks.waypoint_update_unchecked = true;
  EXPECT_EQ(run({0x72, 0xFD, 0x0F, 0x84}),
            "12 1000-1010 x4 E\n12 ADDR_NACC( 0x1010; Memspace [0x19:Any S] )\n");
}

TEST_F(PtmDecoder, a_waypoint_update_into_unreadable_memory) {
  program({kNop});
  EXPECT_EQ(run({0x72, 0x89, 0x10, 0x84}),
            "12 1000-1004 x1 E\n12 ADDR_NACC( 0x1004; Memspace [0x19:Any S] )\n");
}

// ---- The rest; ptm.md 9.6 -----------------------------------------------------------------------

TEST_F(PtmDecoder, triggers_and_exception_returns_are_elements) {
  EXPECT_EQ(run({0x0C, 0x76, 0x66}), "12 EVENT( Trigger; )\n13 EXCEPTION_RET()\n");
}

TEST_F(PtmDecoder, a_context_id_is_reported_when_it_changes) {
  config.etmcr = kContextId4;
  EXPECT_EQ(run({0x6E, 7, 0, 0, 0, 0x6E, 8, 0, 0, 0}),
            "21 PE_CONTEXT((ISA=A32) S; 32-bit; CTXTID=0x8; )\n");
}

TEST_F(PtmDecoder, a_vmid_is_reported_when_it_is_new_and_when_it_changes) {
  EXPECT_EQ(run({0x3C, 0, 0x3C, 0, 0x3C, 9}),
            "12 PE_CONTEXT((ISA=A32) S; 32-bit; VMID=0x0; )\n"
            "16 PE_CONTEXT((ISA=A32) S; 32-bit; VMID=0x9; )\n");
}

TEST_F(PtmDecoder, the_reference_reports_contexts_with_the_instruction_set_of_the_last_range) {
  thumb_program({0xBF00, 0xF000, 0xE87C}, 0x1000);  // nop; blx 10fc, which is A32
  const std::initializer_list<std::uint8_t> bytes = {0x08, 0x01, 0x10, 0,   0,
                                                     0x01, 0x84, 0x3C, 0x02};
  EXPECT_EQ(run(bytes),
            "18 1000-1006 x2 E BR link T32\n19 PE_CONTEXT((ISA=A32) S; 32-bit; VMID=0x2; )\n");
  quirks.context_isa_stale = true;
  EXPECT_EQ(run(bytes),
            "18 1000-1006 x2 E BR link T32\n19 PE_CONTEXT((ISA=T32) S; 32-bit; VMID=0x2; )\n");
}

TEST_F(PtmDecoder, timestamps_are_converted_from_gray_code) {
  EXPECT_EQ(run({0x42, 0x0D}), "12 TIMESTAMP( [ TS=0x00000000000d]; )\n");
  config.etmccer &= ~kBinary;
  EXPECT_EQ(run({0x42, 0x0D}), "12 TIMESTAMP( [ TS=0x000000000009]; )\n");
  quirks.timestamps_not_converted = true;
  EXPECT_EQ(run({0x42, 0x0D}), "12 TIMESTAMP( [ TS=0x00000000000d]; )\n");
}

TEST_F(PtmDecoder, a_timestamp_carries_a_cycle_count) {
  config.etmcr = kCycles;
  EXPECT_EQ(run({0x42, 0x0D, 0x00}), "13 TIMESTAMP( [ TS=0x00000000000d];  [CC=0]; )\n");
}

// ---- Damage -------------------------------------------------------------------------------------

TEST_F(PtmDecoder, a_bad_packet_costs_the_rest_up_to_the_next_sync) {
  program({kNop, kBxLr});
  EXPECT_EQ(run({0x10, 0x84, 0, 0, 0, 0, 0, 0x80, 0x84, 0x08, 0, 0x10, 0, 0, 0x01, 0x84}),
            "warning at 12: A packet header is reserved.\n12 NO_SYNC( [bad-packet])\n"
            "21 TRACE_ON( [begin or filter])\n21 PE_CONTEXT((ISA=A32) S; 32-bit; )\n"
            "27 1000-1008 x2 E iBR implied\n");
}

TEST_F(PtmDecoder, the_reference_loses_sync_without_a_word) {
  quirks = Quirks::reference();
  EXPECT_EQ(run({0, 0, 0x84, 0x10, 0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x10, 0, 0, 0x01}),
            "12 NO_SYNC( [undefined])\n22 TRACE_ON( [begin or filter])\n");
}

TEST_F(PtmDecoder, a_bad_async_names_what_one_is) {
  EXPECT_EQ(run({0, 0, 0x84}),
            "warning at 12: A synchronisation must have at least five zeros and then 0x80.\n"
            "12 NO_SYNC( [bad-packet])\n");
}

TEST_F(PtmDecoder, halting_is_a_choice) {
  flags = 0x200;
  EXPECT_EQ(run({0x10, 0x84}), "warning at 12: A packet header is reserved.\nfailed\n");
}

TEST_F(PtmDecoder, registers_that_contradict_the_trace_are_named) {
  EXPECT_EQ(
      run({0x6E, 0x6E, 0x6E, 0x6E, 0x6E}),
      "12 PE_CONTEXT((ISA=A32) S; 32-bit; CTXTID=0x0; )\n"
      "warning at 15: The trace has context ID packets, although ETMCR[15:14] gives context IDs "
      "no bytes.\n");
}

TEST_F(PtmDecoder, atoms_at_returns_name_the_return_stack_bits) {
  program({kBxLr});
  EXPECT_EQ(run({0x84, 0x81, 0x10, 0x84, 0x81, 0x10, 0x84, 0x81, 0x10, 0x84, 0x81, 0x10, 0x84}),
            "12 1000-1004 x1 E iBR implied\n15 1000-1004 x1 E iBR implied\n"
            "18 1000-1004 x1 E iBR implied\n21 1000-1004 x1 E iBR implied\n"
            "warning at 21: Atoms stand for indirect branches, although ETMCR[29] or ETMCCER[23] "
            "says that the return stack is off: one of the two seems to be wrong.\n"
            "24 1000-1004 x1 E iBR implied\n");
}

TEST_F(PtmDecoder, reset_waits_for_synchronisation_again) {
  calls();
  Parser parser(config);
  Decoder decoder(config, image, 0, {});
  std::vector<Element> out(16);
  const auto feed = [&](const std::vector<std::uint8_t>& bytes) {
    const frames::Run run{0, 0};
    parser.feed({bytes, {&run, 1}});
    Packet packet;
    std::vector<ElementKind> kinds;
    while (parser.next(packet)) {
      decoder.accept(packet);
      while (decoder.busy())
        for (std::size_t count = decoder.drain(out), i = 0; i < count; ++i)
          kinds.push_back(out[i].kind);
    }
    return kinds;
  };
  feed(sync());
  parser.reset();
  decoder.reset();
  EXPECT_EQ(feed(std::vector<std::uint8_t>(16, 0x84)), std::vector{ElementKind::kNoSync});
  EXPECT_EQ(feed(sync()), (std::vector{ElementKind::kTraceOn, ElementKind::kPeContext}));
}

TEST_F(PtmDecoder, a_cut_packet_is_not_followed) {
  program({kNop, branch(0x1004, 0x1000)});
  EXPECT_EQ(
      run({0x84, 0x81, 0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x10, 0, 0, 0x01, 0x84}),
      "12 1000-1008 x2 E BR\n"
      "13 1000-1008 x2 E BR\n"
      "warning at 15: The packet before this synchronisation is cut short. Its last bytes are "
      "zeros of the synchronisation, so its content is wrong.\n"
      "15 NO_SYNC( [bad-packet])\n"
      "20 TRACE_ON( [begin or filter])\n"
      "20 PE_CONTEXT((ISA=A32) S; 32-bit; )\n"
      "26 1000-1008 x2 E BR\n");
}

TEST_F(PtmDecoder, an_async_whose_zeros_a_cut_packet_took_is_found) {
  program({kNop, branch(0x1004, 0x1000)});
  EXPECT_EQ(
      run({0x84, 0x08, 0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x10, 0, 0, 0x01, 0x84}),
      "12 1000-1008 x2 E BR\n"
      "warning at 19: The packet before this synchronisation is cut short. Its last bytes are "
      "zeros of the synchronisation, so its content is wrong.\n"
      "19 NO_SYNC( [bad-packet])\n"
      "20 TRACE_ON( [begin or filter])\n"
      "20 PE_CONTEXT((ISA=A32) S; 32-bit; )\n"
      "26 1000-1008 x2 E BR\n");
}

/// For each timestamp: 'w' whole, 'p' without its upper bits, '?' unknown.
std::string time_marks(Config config, const std::vector<Packet>& packets) {
  const image::Image image;
  Decoder decoder(config, image, 0, {});
  std::string marks;
  std::array<Element, 4> out;
  for (const Packet& packet : packets) {
    decoder.accept(packet);
    while (decoder.busy()) {
      for (const Element& element : std::span(out).first(decoder.drain(out))) {
        if (element.kind != ElementKind::kTimestamp) continue;
        const bool known = (element.flags & kElementHasTimestamp) != 0;
        const bool partial = (element.flags & kElementTimeIsPartial) != 0;
        EXPECT_TRUE(known || partial);
        const char whole_or_part = partial ? 'p' : 'w';
        marks += known ? whole_or_part : '?';
      }
      decoder.clear_diagnostics();
    }
  }
  return marks;
}

TEST(PtmTimestamps, are_whole_once_all_bits_were_sent_since_a_loss) {
  const auto packet = [](PacketType type, std::uint8_t timestamp_bits = 0) {
    Packet made;
    made.begin(type, 1);
    made.isa = isa::Isa::kA32;
    made.timestamp_bits = timestamp_bits;
    return made;
  };
  using enum PacketType;
  const std::vector<Packet> packets = {
      packet(kAsync), packet(kIsync), packet(kTimestamp, 7), packet(kTimestamp, 48),
      packet(kTimestamp, 64), packet(kTimestamp, 14), packet(kReserved), packet(kAsync),
      // A timestamp before the I-sync gives no element, but is still known.
      packet(kIsync), packet(kTimestamp, 7), packet(kReserved), packet(kAsync),
      packet(kTimestamp, 64), packet(kIsync), packet(kTimestamp, 7)};
  Config config;
  config.etmccer = support::PtmBench::kBinary | support::PtmBench::kLongTimestamps;
  config.etmidr = 0x4100F310;
  EXPECT_EQ(time_marks(config, packets), "ppwwpw");
  config.etmccer = support::PtmBench::kBinary;
  EXPECT_EQ(time_marks(config, packets), "pwwwpw");
  config.etmccer = 0;  // Gray code.
  EXPECT_EQ(time_marks(config, packets), "?www?w");
}

}  // namespace
}  // namespace waymark::ptm
