#include "waymark/etmv4/encoder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/etmv4_packet.h"

namespace waymark::etmv4 {
namespace {

const Config kEte = Config::ete_default();

/// Wide context IDs and VMIDs, cycle counting with commit counts, MAXSPEC 0x78.
Config config() {
  Config c;
  c.trcidr1 = 0x4100F453;
  c.trcidr2 = 0x1088;
  c.trcidr8 = 0x78;
  return c;
}

Config commit_mode_1() {
  Config c = config();
  c.trcidr0 |= 1U << 29 | 1U << 7;
  return c;
}

Config commit_mode_0() {
  Config c = config();
  c.trcidr0 &= ~(1U << 29);
  return c;
}

std::string hex(Bytes bytes) { return fmt::format("{:02x}", fmt::join(bytes, " ")); }

std::string bytes_of(const Packet& packet, const Config& c = config()) {
  std::vector<std::uint8_t> out;
  const auto result = encode(packet, c, out);
  if (!result) return "error: " + result.error().detail;
  return hex(out);
}

Packet address(PacketType type, std::uint64_t value, std::uint8_t update_bits = 0) {
  Packet packet = of(type);
  packet.address.value = value;
  packet.address.update_bits = update_bits;
  return packet;
}

using ::testing::StartsWith;

TEST(Encoder, atoms_of_every_format) {
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF1, "N")), "f6");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF1, "E")), "f7");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF2, "EN")), "d9");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF3, "ENE")), "fd");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF4, "NEEE")), "dc");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF4, "NNNN")), "dd");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF4, "NENE")), "de");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF4, "ENEN")), "df");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF5, "NNNNN")), "d5");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF5, "NENEN")), "d6");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF5, "ENENE")), "d7");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF5, "NEEEE")), "f5");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF6, "EEEN")), "e0");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF6, "EEEEEE")), "c2");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF6, std::string(24, 'E'))), "d4");
  EXPECT_EQ(bytes_of(atoms(PacketType::kAtomF6, std::string(23, 'E') + "N")), "f4");
}

TEST(Encoder, atoms_that_a_format_cannot_hold_are_refused) {
  EXPECT_THAT(bytes_of(atoms(PacketType::kAtomF1, "EE")), StartsWith("error: I_ATOM_F1"));
  EXPECT_THAT(bytes_of(atoms(PacketType::kAtomF4, "EEEE")), StartsWith("error: I_ATOM_F4"));
  EXPECT_THAT(bytes_of(atoms(PacketType::kAtomF6, "EEE")), StartsWith("error: I_ATOM_F6"));
  EXPECT_THAT(bytes_of(atoms(PacketType::kAtomF6, "ENEE")), StartsWith("error: I_ATOM_F6"));
  EXPECT_THAT(bytes_of(atoms(PacketType::kAtomF6, "")), StartsWith("error: I_ATOM_F6"));
  EXPECT_THAT(bytes_of(atoms(PacketType::kAtomF6, std::string(25, 'E'))), StartsWith("error"));
}

TEST(Encoder, longest_atom_packet_takes_what_one_header_can_hold) {
  const auto first = [](std::string_view letters) {
    const Packet all = atoms(PacketType::kAtomF1, letters);
    return bytes_of(longest_atom_packet(all.atoms, all.atom_count));
  };
  EXPECT_EQ(first("N"), "f6");
  EXPECT_EQ(first("EN"), "d9");
  EXPECT_EQ(first("EEE"), "ff");
  EXPECT_EQ(first("EEEN"), "e0");
  EXPECT_EQ(first("EEEEN"), "e1");
  EXPECT_EQ(first("NEEEE"), "f5");
  EXPECT_EQ(first("NEEEN"), "dc");
  EXPECT_EQ(first("ENENN"), "df");
  EXPECT_EQ(first("ENENE"), "d7");
  EXPECT_EQ(first("NNEN"), "fc");
  EXPECT_EQ(first(std::string(32, 'E')), "d4");
}

TEST(Encoder, synchronisation) {
  EXPECT_EQ(bytes_of(of(PacketType::kAsync)), "00 00 00 00 00 00 00 00 00 00 00 80");
  EXPECT_EQ(bytes_of(of(PacketType::kDiscard)), "00 03");
  EXPECT_EQ(bytes_of(of(PacketType::kOverflow)), "00 05");
}

TEST(Encoder, trace_info_has_the_sections_of_its_mask) {
  Packet packet = of(PacketType::kTraceInfo);
  EXPECT_EQ(bytes_of(packet), "01 00");
  packet.trace_info.sections = 1;
  EXPECT_EQ(bytes_of(packet), "01 01 00");
  packet.trace_info.sections = 9;
  packet.trace_info.info = 1;
  packet.cc_threshold = 0x16;
  EXPECT_EQ(bytes_of(packet), "01 09 01 16");
  packet.trace_info.sections = 0;
  packet.trace_info.has_spec = true;
  packet.trace_info.spec_depth = 2;
  EXPECT_EQ(bytes_of(packet), "01 04 02");
  packet.trace_info.sections = 0x1F;
  packet.trace_info.p0_key = 5;
  packet.trace_info.window = 7;
  EXPECT_EQ(bytes_of(packet), "01 1f 01 05 02 16 07");
  packet.trace_info.sections = 1;
  packet.trace_info.has_spec = false;
  packet.trace_info.info = 0x10000;
  EXPECT_EQ(bytes_of(packet), "01 01 80 80 04");
  packet.trace_info.sections = 8;
  packet.cc_threshold = 0x108;
  EXPECT_EQ(bytes_of(packet), "01 08 88 02");
}

TEST(Encoder, timestamp_carries_the_bits_asked_for) {
  Packet packet = of(PacketType::kTimestamp);
  packet.timestamp = 0x2f150c0;
  packet.timestamp_bits = 49;
  EXPECT_EQ(bytes_of(packet), "02 c0 a1 c5 97 80 80 00");
  packet.timestamp = 0x6fd7;
  packet.timestamp_bits = 0;
  EXPECT_EQ(bytes_of(packet), "02 d7 df 01");
  packet.timestamp = 0xfffffffff0006592;
  packet.timestamp_bits = 64;
  EXPECT_EQ(bytes_of(packet), "02 92 cb 81 80 ff ff ff ff ff");
  packet.timestamp_bits = 0;
  EXPECT_EQ(bytes_of(packet), "02 92 cb 81 80 ff ff ff ff ff");
  packet.timestamp = 1;
  packet.has_count = true;
  packet.cycle_count = 0x81;
  EXPECT_EQ(bytes_of(packet), "03 01 81 01");
  packet.cycle_count = 1U << 21;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_TIMESTAMP"));
  packet.cycle_count = 0;
  packet.timestamp_bits = 8;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_TIMESTAMP"));
}

TEST(Encoder, exceptions) {
  Packet packet = of(PacketType::kException);
  packet.exception = 2;
  packet.exception_address = ExceptionAddress::kReturnAddress;
  EXPECT_EQ(bytes_of(packet), "06 05");
  packet.exception = 1;
  EXPECT_EQ(bytes_of(packet), "06 03");
  packet.exception = 0xE;
  EXPECT_EQ(bytes_of(packet), "06 1d");
  packet.exception_address = ExceptionAddress::kReturnIsTarget;
  EXPECT_EQ(bytes_of(packet), "06 5c");
  packet.exception = 0x208;
  packet.exception_address = ExceptionAddress::kReturnAddress;
  EXPECT_EQ(bytes_of(packet), "06 91 10");
  packet.exception = 3;
  packet.fault_pending = true;
  EXPECT_EQ(bytes_of(packet), "06 87 20");
  packet.exception = 0x400;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_EXCEPT"));
}

TEST(Encoder, ete_gives_two_exceptions_a_type_of_their_own) {
  Packet packet = of(PacketType::kTransactionFail);
  packet.exception_address = ExceptionAddress::kReturnAddress;
  EXPECT_EQ(bytes_of(packet, kEte), "06 31 70");
  packet.type = PacketType::kPeReset;
  EXPECT_EQ(bytes_of(packet, kEte), "06 01 70");
  packet.type = PacketType::kException;
  packet.exception = 0x18;
  EXPECT_THAT(bytes_of(packet, kEte), StartsWith("error: I_EXCEPT"));
  EXPECT_EQ(bytes_of(packet), "06 31");
  packet.exception = 0x218;
  EXPECT_EQ(bytes_of(packet, kEte), "06 b1 10");
}

TEST(Encoder, cycle_counts_with_commit) {
  const Config c = commit_mode_0();
  Packet packet = of(PacketType::kCycleCountF2);
  packet.cc_threshold = packet.cycle_count = 0x16;
  packet.commit = 6;
  EXPECT_EQ(bytes_of(packet, c), "0c 50");
  packet.commit = 0x70;
  EXPECT_EQ(bytes_of(packet, c), "0d 70");
  packet.commit = 20;
  EXPECT_THAT(bytes_of(packet, c), StartsWith("error: I_CCNT_F2"));
  packet.type = PacketType::kCycleCountF3;
  packet.commit = 4;
  EXPECT_EQ(bytes_of(packet, c), "1c");
  packet.cycle_count = 0x1A;
  EXPECT_THAT(bytes_of(packet, c), StartsWith("error: I_CCNT_F3"));
  packet.type = PacketType::kCycleCountF1;
  packet.commit = 1;
  EXPECT_EQ(bytes_of(packet, c), "0f 01");
  packet.has_count = true;
  packet.cycle_count = 0x37;
  EXPECT_EQ(bytes_of(packet, c), "0e 01 21");
  packet.cycle_count = 0x15;
  EXPECT_THAT(bytes_of(packet, c), StartsWith("error: I_CCNT_F1"));
}

TEST(Encoder, cycle_counts_without_commit) {
  const Config c = commit_mode_1();
  Packet packet = of(PacketType::kCycleCountF1);
  EXPECT_EQ(bytes_of(packet, c), "0f");
  packet.has_count = true;
  packet.cycle_count = 0x90;
  EXPECT_EQ(bytes_of(packet, c), "0e 90 01");
  packet.type = PacketType::kCycleCountF2;
  packet.cycle_count = 6;
  EXPECT_EQ(bytes_of(packet, c), "0c 06");
  packet.type = PacketType::kCycleCountF3;
  packet.cycle_count = 3;
  EXPECT_EQ(bytes_of(packet, c), "13");
}

TEST(Encoder, commit_cancel_mispredict) {
  Packet packet = of(PacketType::kCommit);
  packet.commit = 5;
  EXPECT_EQ(bytes_of(packet), "2d 05");
  packet.commit = 0xFFFFFFFF;
  EXPECT_EQ(bytes_of(packet), "2d ff ff ff ff 0f");
  packet = of(PacketType::kCancelF1);
  packet.cancel = 4;
  EXPECT_EQ(bytes_of(packet), "2e 04");
  packet.type = PacketType::kCancelF1Mispredict;
  EXPECT_EQ(bytes_of(packet), "2f 04");
  EXPECT_EQ(bytes_of(atoms(PacketType::kMispredict, "")), "30");
  EXPECT_EQ(bytes_of(atoms(PacketType::kMispredict, "E")), "31");
  EXPECT_EQ(bytes_of(atoms(PacketType::kMispredict, "EE")), "32");
  EXPECT_EQ(bytes_of(atoms(PacketType::kMispredict, "N")), "33");
  EXPECT_THAT(bytes_of(atoms(PacketType::kMispredict, "NN")), StartsWith("error: I_MISPREDICT"));
  packet = atoms(PacketType::kCancelF2, "");
  packet.cancel = 1;
  EXPECT_EQ(bytes_of(packet), "34");
  packet.cancel = 2;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_CANCEL_F2"));
  packet.type = PacketType::kCancelF3;
  EXPECT_EQ(bytes_of(packet), "38");
  packet = atoms(PacketType::kCancelF3, "E");
  packet.cancel = 5;
  EXPECT_EQ(bytes_of(packet), "3f");
  packet.cancel = 1;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_CANCEL_F3"));
}

TEST(Encoder, short_addresses) {
  EXPECT_EQ(bytes_of(address(PacketType::kAddressShortIs0, 0x2EBC, 17)), "95 af 17");
  EXPECT_EQ(bytes_of(address(PacketType::kAddressShortIs0, 0x2EF4, 9)), "95 3d");
  EXPECT_EQ(bytes_of(address(PacketType::kAddressShortIs1, 0x7A, 8)), "96 3d");
  EXPECT_EQ(bytes_of(address(PacketType::kAddressShortIs1, 0x177A, 16)), "96 bd 17");
  EXPECT_EQ(bytes_of(address(PacketType::kSourceShortIs0, 0x60680, 9)), "b4 20");
  EXPECT_EQ(bytes_of(address(PacketType::kSourceShortIs1, 0x82, 8)), "b5 41");
  EXPECT_THAT(bytes_of(address(PacketType::kAddressShortIs0, 0x2EBC, 32)), StartsWith("error"));
  EXPECT_THAT(bytes_of(address(PacketType::kAddressShortIs0, 0x2EBE, 17)), StartsWith("error"));
}

TEST(Encoder, long_addresses) {
  EXPECT_EQ(bytes_of(address(PacketType::kSource32Is0, 0x606C4)), "b6 31 03 06 00");
  EXPECT_EQ(bytes_of(address(PacketType::kAddress32Is1, 0x4F9A02)), "9b 01 9a 4f 00");
  EXPECT_EQ(bytes_of(address(PacketType::kAddress64Is0, 0xFFFFFFC0001AE0A0)),
            "9d 28 70 1a 00 c0 ff ff ff");
  EXPECT_EQ(bytes_of(address(PacketType::kAddress64Is1, 0x1234567890)),
            "9e 48 78 56 34 12 00 00 00");
  EXPECT_EQ(bytes_of(address(PacketType::kSource32Is1, 2)), "b7 01 00 00 00");
  EXPECT_EQ(bytes_of(address(PacketType::kSource64Is0, 4)), "b8 01 00 00 00 00 00 00 00");
  EXPECT_EQ(bytes_of(address(PacketType::kSource64Is1, 4)), "b9 02 00 00 00 00 00 00 00");
}

TEST(Encoder, exact_matches) {
  Packet packet = of(PacketType::kAddressMatch);
  packet.match_index = 2;
  EXPECT_EQ(bytes_of(packet), "92");
  packet.type = PacketType::kSourceMatch;
  EXPECT_EQ(bytes_of(packet), "b2");
  packet.match_index = 3;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_SRC_ADDR_MATCH"));
}

TEST(Encoder, contexts) {
  Packet packet = of(PacketType::kContext);
  EXPECT_EQ(bytes_of(packet), "80");
  packet.context = {.el = 2,
                    .sf = true,
                    .ns = true,
                    .updated = true,
                    .updated_context_id = true,
                    .updated_vmid = true};
  EXPECT_EQ(bytes_of(packet), "81 f2 00 00 00 00 00 00 00 00");
  packet.context.context_id = 0x4300;
  packet.context.vmid = 0x12345678;
  packet.context.nse = true;
  EXPECT_EQ(bytes_of(packet), "81 fa 78 56 34 12 00 43 00 00");
  Config bare = config();
  bare.trcidr2 = 0;
  EXPECT_THAT(bytes_of(packet, bare), StartsWith("error: I_CTXT"));
  bare.trcidr2 = 0x488;
  EXPECT_THAT(bytes_of(packet, bare), StartsWith("error: I_CTXT"));
  packet.context.vmid = 0xFF;
  EXPECT_EQ(bytes_of(packet, bare), "81 fa ff 00 43 00 00");
  packet.context.el = 4;
  EXPECT_THAT(bytes_of(packet, bare), StartsWith("error: I_CTXT"));
}

TEST(Encoder, addresses_with_context) {
  Packet packet = address(PacketType::kAddressContext32Is0, 0x102C508);
  packet.context = {.el = 1, .sf = true};
  EXPECT_EQ(bytes_of(packet, kEte), "82 42 62 02 01 11");
  packet = address(PacketType::kAddressContext64Is0, 0xFFFFFFC0001AE0A0);
  packet.context = {.el = 1, .sf = true, .ns = true};
  EXPECT_EQ(bytes_of(packet), "85 28 70 1a 00 c0 ff ff ff 31");
  packet = address(PacketType::kAddressContext32Is1, 0x4F9A02);
  EXPECT_EQ(bytes_of(packet), "83 01 9a 4f 00 00");
  packet = address(PacketType::kAddressContext64Is1, 0x4F9A02);
  EXPECT_EQ(bytes_of(packet), "86 01 9a 4f 00 00 00 00 00 00");
}

TEST(Encoder, q_elements) {
  Packet packet = address(PacketType::kQ, 0x67ED0);
  packet.q.type = 0xA;
  packet.q.count = 3;
  EXPECT_EQ(bytes_of(packet), "aa 34 3f 06 00 03");
  packet = address(PacketType::kQ, 0x63818, 17);
  packet.q.type = 5;
  packet.q.count = 3;
  EXPECT_EQ(bytes_of(packet), "a5 86 1c 03");
  packet.address = {.value = 0x4F9A02, .update_bits = 8};
  packet.q.type = 6;
  EXPECT_EQ(bytes_of(packet), "a6 01 03");
  packet.q.type = 0xB;
  EXPECT_EQ(bytes_of(packet), "ab 01 9a 4f 00 03");
  packet.q.type = 1;
  packet.q.count = 200;
  EXPECT_EQ(bytes_of(packet), "a1 c8 01");
  packet.q.type = 0xC;
  EXPECT_EQ(bytes_of(packet), "ac c8 01");
  packet.q.type = 0xF;
  EXPECT_EQ(bytes_of(packet), "af");
  packet.q.type = 3;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_Q"));
}

TEST(Encoder, single_bytes_and_values) {
  EXPECT_EQ(bytes_of(of(PacketType::kTraceOn)), "04");
  EXPECT_EQ(bytes_of(of(PacketType::kFunctionReturn)), "05");
  EXPECT_EQ(bytes_of(of(PacketType::kExceptionReturn)), "07");
  EXPECT_EQ(bytes_of(of(PacketType::kTransactionStart)), "0a");
  EXPECT_EQ(bytes_of(of(PacketType::kTransactionCommit)), "0b");
  EXPECT_EQ(bytes_of(of(PacketType::kIgnore)), "70");
  EXPECT_EQ(bytes_of(of(PacketType::kTimestampMarker)), "88");
  Packet packet = of(PacketType::kEvent);
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_EVENT"));
  packet.value = 0xF;
  EXPECT_EQ(bytes_of(packet), "7f");
  packet = of(PacketType::kNumberedDataSync);
  packet.value = 7;
  EXPECT_EQ(bytes_of(packet), "27");
  packet.type = PacketType::kUnnumberedDataSync;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_UNNUM_DS_MKR"));
  packet.value = 4;
  EXPECT_EQ(bytes_of(packet), "2c");
  packet = of(PacketType::kInstrumentation);
  packet.instrumentation.el = 1;
  packet.instrumentation.payload = 0xFFFFF;
  EXPECT_EQ(bytes_of(packet), "09 01 ff ff 0f 00 00 00 00 00");
}

TEST(Encoder, conditional_instructions_and_results) {
  EXPECT_EQ(bytes_of(of(PacketType::kCondFlush)), "43");
  Packet packet = of(PacketType::kCondInstrF1);
  packet.conditional.key = 0x81;
  EXPECT_EQ(bytes_of(packet), "6c 81 01");
  packet = of(PacketType::kCondInstrF2);
  packet.value = 2;
  EXPECT_EQ(bytes_of(packet), "42");
  packet.type = PacketType::kCondResultF4;
  EXPECT_EQ(bytes_of(packet), "46");
  packet.type = PacketType::kCondResultF2;
  packet.value = 6;
  EXPECT_EQ(bytes_of(packet), "4e");
  packet.value = 3;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_COND_RES_F2"));
  packet.type = PacketType::kCondInstrF3;
  packet.conditional.elements = 0x7F;
  EXPECT_EQ(bytes_of(packet), "6d 7f");
  packet.type = PacketType::kCondResultF3;
  packet.conditional.tokens = 0xABC;
  EXPECT_EQ(bytes_of(packet), "5a bc");
  packet.conditional.tokens = 0x1000;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_COND_RES_F3"));
}

TEST(Encoder, conditional_result_format_1_has_one_or_two_payloads) {
  Packet packet = of(PacketType::kCondResultF1);
  packet.conditional.form = 6;
  packet.conditional.results = 0xA;
  packet.conditional.key = 5;
  EXPECT_EQ(bytes_of(packet), "6e 5a");
  packet.conditional.key = 0x3FD;
  EXPECT_EQ(bytes_of(packet), "6e da 7f");
  packet.conditional.form = 1;
  packet.conditional.results = 0x5A;
  packet.conditional.second_key = 2;
  EXPECT_EQ(bytes_of(packet), "69 da 7f 25");
  packet.conditional.form = 4;
  EXPECT_THAT(bytes_of(packet), StartsWith("error: I_COND_RES_F1"));
}

TEST(Encoder, parser_states_are_not_encoded) {
  for (const PacketType type :
       {PacketType::kNotSync, PacketType::kBadSequence, PacketType::kReserved,
        PacketType::kReservedConfig, PacketType::kIncompleteEot, PacketType::kExtension})
    EXPECT_THAT(bytes_of(of(type)), StartsWith("error: "));
}

TEST(Encoder, an_error_leaves_the_output_as_it_was) {
  std::vector<std::uint8_t> out = {0x70};
  Packet packet = of(PacketType::kQ);
  packet.q.type = 3;
  EXPECT_FALSE(encode(packet, config(), out));
  EXPECT_EQ(out, std::vector<std::uint8_t>{0x70});
}

}  // namespace
}  // namespace waymark::etmv4
