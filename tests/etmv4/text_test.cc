#include "waymark/etmv4/text.h"

#include <gtest/gtest.h>

#include <string>

#include "support/etmv4_packet.h"

namespace waymark::etmv4 {
namespace {

const Config kEtm;
const Config kEte = Config::ete_default();

std::string text(const Packet& packet, const Config& config = kEtm) {
  TextBuffer out;
  write_packet(out, packet, config);
  return std::string(out.view());
}

Packet address(PacketType type, std::uint64_t value, std::uint8_t update_bits = 64) {
  Packet packet = of(type);
  packet.address = {.value = value, .update_bits = update_bits};
  return packet;
}

TEST(PacketText, atoms_are_letters_oldest_first) {
  EXPECT_EQ(text(atoms(PacketType::kAtomF1, "E")), "I_ATOM_F1 : Atom format 1.; E");
  EXPECT_EQ(text(atoms(PacketType::kAtomF3, "ENE")), "I_ATOM_F3 : Atom format 3.; ENE");
  EXPECT_EQ(text(atoms(PacketType::kAtomF4, "NEEE")), "I_ATOM_F4 : Atom format 4.; NEEE");
  EXPECT_EQ(text(atoms(PacketType::kAtomF6, "EEEEEEEEEEEEEEEEEEEEEEEN")),
            "I_ATOM_F6 : Atom format 6.; EEEEEEEEEEEEEEEEEEEEEEEN");
}

TEST(PacketText, packets_without_fields_are_name_and_description) {
  EXPECT_EQ(text(of(PacketType::kAsync)), "I_ASYNC : Alignment Synchronisation.");
  EXPECT_EQ(text(of(PacketType::kNotSync)), "I_NOT_SYNC : I Stream not synchronised");
  EXPECT_EQ(text(of(PacketType::kReserved)), "I_RESERVED : Reserved Packet Header");
  EXPECT_EQ(text(of(PacketType::kTraceOn)), "I_TRACE_ON : Trace On.");
  EXPECT_EQ(text(of(PacketType::kEvent)), "I_EVENT : Trace Event.");
  EXPECT_EQ(text(of(PacketType::kFunctionReturn)), "I_FUNC_RET : V8M - function return.");
  EXPECT_EQ(text(of(PacketType::kTimestampMarker)), "I_TS_MARKER : Timestamp Marker");
  EXPECT_EQ(text(of(PacketType::kPeReset), kEte), "I_PE_RESET : PE Reset.");
  EXPECT_EQ(text(of(PacketType::kTransactionFail), kEte), "I_TRANS_FAIL : Transaction Fail.");
  EXPECT_EQ(text(of(PacketType::kCondInstrF1)), "I_COND_I_F1 : Conditional Instruction, format 1.");
  EXPECT_EQ(text(of(static_cast<PacketType>(0x99))), "I_UNKNOWN : Unknown Packet Header");
  EXPECT_EQ(text(of(static_cast<PacketType>(0x777))), "I_UNKNOWN : Unknown Packet Header");
}

TEST(PacketText, error_packets_name_what_was_being_read) {
  Packet packet = of(PacketType::kIncompleteEot);
  packet.error_type = PacketType::kNotSync;
  EXPECT_EQ(text(packet), "I_INCOMPLETE_EOT : Incomplete packet at end of trace.[I_NOT_SYNC]");
  packet.type = PacketType::kBadSequence;
  packet.error_type = PacketType::kExtension;
  EXPECT_EQ(text(packet), "I_BAD_SEQUENCE : Invalid Sequence in packet.[I_EXTENSION]");
  packet.type = PacketType::kReservedConfig;
  packet.error_type = PacketType::kExceptionReturn;
  EXPECT_EQ(text(packet),
            "I_RESERVED_CFG : Reserved header for current configuration.[I_EXCEPT_RTN]");
}

TEST(PacketText, trace_info_shows_cycle_counting_and_the_sync_point) {
  Packet packet = of(PacketType::kTraceInfo);
  packet.trace_info.initial = true;
  EXPECT_EQ(text(packet),
            "I_TRACE_INFO : Trace Info.; INFO=0x0 { CC.0 }; Decoder Sync point TINFO");
  packet.trace_info.info = 1;
  packet.cc_threshold = 0x16;
  EXPECT_EQ(text(packet, kEte),
            "I_TRACE_INFO : Trace Info.; INFO=0x1 { CC.1, TSTATE.0 }; CC_THRESHOLD=0x16; Decoder "
            "Sync point TINFO");
  packet.trace_info.has_spec = true;
  packet.trace_info.spec_depth = 2;
  packet.trace_info.info = 0x00030040;
  EXPECT_EQ(text(packet, kEte),
            "I_TRACE_INFO : Trace Info.; INFO=0x40 { CC.0, TSTATE.1 }; INIT SPEC DEPTH=2; Decoder "
            "Sync point TINFO");
  packet.trace_info.initial = false;
  EXPECT_EQ(text(packet), "I_TRACE_INFO : Trace Info.; INFO=0x40 { CC.0 }");
}

TEST(PacketText, timestamp_has_a_cycle_count_only_when_the_packet_has) {
  Packet packet = of(PacketType::kTimestamp);
  packet.timestamp = 0x2f150c0;
  EXPECT_EQ(text(packet), "I_TIMESTAMP : Timestamp.; Updated val = 0x2f150c0");
  packet.has_count = true;
  packet.cycle_count = 0x1c;
  EXPECT_EQ(text(packet), "I_TIMESTAMP : Timestamp.; Updated val = 0x2f150c0; CC=0x1c");
}

TEST(PacketText, exception_names_follow_the_profile) {
  Packet packet = of(PacketType::kException);
  packet.exception = 2;
  packet.exception_address = ExceptionAddress::kReturnAddress;
  EXPECT_EQ(text(packet), "I_EXCEPT : Exception.;  Call; Ret Addr Follows;");
  packet.exception = 0xE;
  packet.exception_address = ExceptionAddress::kReturnIsTarget;
  packet.fault_pending = true;
  EXPECT_EQ(text(packet), "I_EXCEPT : Exception.;  IRQ; Ret Addr Follows, Match Prev;");

  Config m = kEtm;
  m.core.profile = isa::Profile::kM;
  EXPECT_EQ(text(packet, m),
            "I_EXCEPT : Exception.;  PendSV; Fault Pending; Ret Addr Follows, Match Prev;");
  packet.fault_pending = false;
  packet.exception_address = ExceptionAddress::kNone;
  const std::pair<std::uint16_t, const char*> cases[] = {
      {0x10, "IRQ0"},  {0x17, "IRQ7"},    {0x1A, "Lockup"},    {0x1B, "Reserved"},
      {0x208, "IRQ8"}, {0x3EF, "IRQ495"}, {0x207, "Reserved"}, {0x3F0, "Reserved"},
      {7, "Reserved"}, {0xB, "SVC"},      {0x18, "DebugHalt"}, {0x19, "LazyFP Push"}};
  for (const auto& [number, name] : cases) {
    packet.exception = number;
    EXPECT_EQ(text(packet, m), std::string("I_EXCEPT : Exception.;  ") + name + ";");
  }
  packet.exception = 0x218;
  EXPECT_EQ(text(packet, kEte), "I_EXCEPT : Exception.;  Reserved;");
}

TEST(PacketText, instrumentation_payload_is_not_padded) {
  Packet packet = of(PacketType::kInstrumentation);
  packet.instrumentation.el = 1;
  packet.instrumentation.payload = 0xFFFFF;
  EXPECT_EQ(text(packet), "I_ITE : Instrumentation; EL1; Payload=0xfffff");
}

TEST(PacketText, cycle_counts_show_a_commit_when_there_is_one) {
  Packet packet = of(PacketType::kCycleCountF3);
  packet.cycle_count = 0x16;
  packet.commit = 4;
  EXPECT_EQ(text(packet), "I_CCNT_F3 : Cycle Count format 3.; Count=0x16");
  packet.has_commit = true;
  EXPECT_EQ(text(packet), "I_CCNT_F3 : Cycle Count format 3.; Count=0x16; Commit(4)");
  packet.type = PacketType::kCommit;
  EXPECT_EQ(text(packet), "I_COMMIT : Commit; Commit(4)");
}

TEST(PacketText, cancels_and_mispredicts_show_their_atoms) {
  Packet packet = of(PacketType::kCancelF1);
  packet.cancel = 3;
  EXPECT_EQ(text(packet), "I_CANCEL_F1 : Cancel Format 1.; Cancel(3)");
  packet.type = PacketType::kCancelF1Mispredict;
  EXPECT_EQ(text(packet),
            "I_CANCEL_F1_MISPRED : Cancel Format 1 + Mispredict.; Cancel(3), Mispredict");
  EXPECT_EQ(text(atoms(PacketType::kMispredict, "")), "I_MISPREDICT : Mispredict.; Mispredict");
  EXPECT_EQ(text(atoms(PacketType::kMispredict, "EE")),
            "I_MISPREDICT : Mispredict.; Atom: EE, Mispredict");
  packet = atoms(PacketType::kCancelF2, "N");
  packet.cancel = 1;
  EXPECT_EQ(text(packet), "I_CANCEL_F2 : Cancel Format 2.; Atom: N, Cancel(1), Mispredict");
  packet = atoms(PacketType::kCancelF3, "");
  packet.cancel = 5;
  EXPECT_EQ(text(packet), "I_CANCEL_F3 : Cancel Format 3.; Cancel(5), Mispredict");
}

TEST(PacketText, context_shows_only_what_this_packet_carried) {
  Packet packet = of(PacketType::kContext);
  EXPECT_EQ(text(packet), "I_CTXT : Context Packet.; Ctxt: Same");
  packet.context = {.context_id = 0x4300,
                    .el = 1,
                    .sf = true,
                    .ns = true,
                    .updated = true,
                    .updated_context_id = true,
                    .updated_vmid = true};
  EXPECT_EQ(text(packet),
            "I_CTXT : Context Packet.; Ctxt: AArch64,EL1, NS; CID=0x00004300; VMID=0x0000; ");
  packet.context = {.el = 0, .updated = true};
  EXPECT_EQ(text(packet), "I_CTXT : Context Packet.; Ctxt: AArch32, EL0, S; ");
  packet.context = {.el = 2, .sf = true, .ns = true, .nse = true, .updated = true};
  EXPECT_EQ(text(packet), "I_CTXT : Context Packet.; Ctxt: AArch64,EL2, Realm; ");
  packet.context.ns = false;
  EXPECT_EQ(text(packet), "I_CTXT : Context Packet.; Ctxt: AArch64,EL2, Root; ");
}

TEST(PacketText, addresses_end_as_their_form_does) {
  EXPECT_EQ(text(address(PacketType::kAddressShortIs0, 0x2EBC, 17)),
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x0000000000002EBC ~[0x2EBC]");
  EXPECT_EQ(text(address(PacketType::kAddress64Is0, 0xFFFFFFC0001AE0A0)),
            "I_ADDR_L_64IS0 : Address, Long, 64 bit, IS0.; Addr=0xFFFFFFC0001AE0A0; ");
  EXPECT_EQ(text(address(PacketType::kSource32Is0, 0x606C4, 32)),
            "I_SRC_ADDR_L_32IS0 : Source Address, Long, 32 bit, IS0.; Addr=0x00000000000606C4; ");
  Packet packet = address(PacketType::kAddressMatch, 0x5910E8);
  packet.match_index = 1;
  EXPECT_EQ(text(packet), "I_ADDR_MATCH : Exact Address Match., [1]; Addr=0x00000000005910E8; ");
  packet.type = PacketType::kSourceMatch;
  EXPECT_EQ(text(packet),
            "I_SRC_ADDR_MATCH : Exact Source Address Match., [1]; Addr=0x00000000005910E8; ");
}

TEST(PacketText, address_with_context_has_both) {
  Packet packet = address(PacketType::kAddressContext32Is0, 0xCDA88, 32);
  packet.context = {.el = 1, .sf = true, .ns = true, .updated = true};
  EXPECT_EQ(text(packet, kEte),
            "I_ADDR_CTXT_L_32IS0 : Address & Context, Long, 32 bit, IS0.; "
            "Addr=0x00000000000CDA88; Ctxt: AArch64,EL1, NS; ");
}

TEST(PacketText, unknown_address_digits_are_question_marks) {
  Packet packet = of(PacketType::kAddressShortIs0);
  packet.address = {.value = 0x2EBC, .valid_bits = 17, .update_bits = 17, .size_bits = 32};
  EXPECT_EQ(text(packet), "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x???02EBC (16:0) ~[0x2EBC]");
  packet.address.value = 0x2EF4;
  packet.address.update_bits = 9;
  EXPECT_EQ(text(packet), "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x???02EF4 (16:0) ~[0xF4]");
  packet.address = {.value = 0x4030404, .valid_bits = 32, .update_bits = 32, .size_bits = 32};
  packet.type = PacketType::kAddress32Is0;
  EXPECT_EQ(text(packet), "I_ADDR_L_32IS0 : Address, Long, 32 bit, IS0.; Addr=0x04030404; ");
  packet.address = {.value = 0, .valid_bits = 0, .update_bits = 0, .size_bits = 32};
  EXPECT_EQ(text(packet), "I_ADDR_L_32IS0 : Address, Long, 32 bit, IS0.; Addr=0x????????; ");
}

TEST(PacketText, bits_left_over_from_before_a_reset_are_shown) {
  Packet packet = of(PacketType::kAddressShortIs0);
  packet.address = {.value = 0x88776655443344F4, .valid_bits = 9, .update_bits = 9};
  EXPECT_EQ(text(packet),
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x?????????????443344F4 (8:0) ~[0xF4]");
}

TEST(PacketText, a_value_of_64_known_bits_has_16_digits_whatever_its_size) {
  Packet packet = of(PacketType::kAddress32Is0);
  packet.address = {.value = 0x67ED0, .valid_bits = 64, .update_bits = 32, .size_bits = 32};
  EXPECT_EQ(text(packet),
            "I_ADDR_L_32IS0 : Address, Long, 32 bit, IS0.; Addr=0x0000000000067ED0; ");
}

TEST(PacketText, q_shows_count_match_and_address) {
  Packet packet = address(PacketType::kQ, 0x67ED0, 32);
  packet.q.type = 0xA;
  packet.q.has_count = true;
  packet.q.count = 3;
  EXPECT_EQ(text(packet, kEte), "I_Q : Q Packet.; Count(3); Addr=0x0000000000067ED0 ~[0x67ED0]");
  packet.q.type = 1;
  packet.match_index = 1;
  packet.q.count = 111;
  packet.address = {.value = 0xB7EB4, .update_bits = 17};
  EXPECT_EQ(text(packet, kEte),
            "I_Q : Q Packet.; Count(111); [1]; Addr=0x00000000000B7EB4 ~[0x17EB4]");
  packet.address.update_bits = 64;
  EXPECT_EQ(text(packet, kEte), "I_Q : Q Packet.; Count(111); [1]; Addr=0x00000000000B7EB4");
  packet.q.type = 0xC;
  EXPECT_EQ(text(packet, kEte), "I_Q : Q Packet.; Count(111)");
  packet.q.type = 0xF;
  packet.q.has_count = false;
  EXPECT_EQ(text(packet, kEte), "I_Q : Q Packet.; Count(Unknown)");
}

TEST(PacketText, name_is_the_part_before_the_colon) {
  EXPECT_EQ(packet_name(PacketType::kAtomF3), "I_ATOM_F3");
  EXPECT_EQ(packet_name(PacketType::kSource32Is0), "I_SRC_ADDR_L_32IS0");
  EXPECT_EQ(packet_name(PacketType::kNoErrorType), "I_NO_ERR_TYPE");
  EXPECT_EQ(packet_name(static_cast<PacketType>(0x600)), "I_UNKNOWN");
}

}  // namespace
}  // namespace waymark::etmv4
