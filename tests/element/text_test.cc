#include "waymark/element/text.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark {
namespace {

std::string text(const Element& element) {
  TextBuffer out;
  write_element(out, element);
  const std::string_view view = out.view();
  constexpr std::string_view kPrefix = "OCSD_GEN_TRC_ELEM_";
  EXPECT_TRUE(view.starts_with(kPrefix)) << view;
  return std::string(view.substr(kPrefix.size()));
}

Element of(ElementKind kind) {
  Element element;
  element.kind = kind;
  return element;
}

Element range() {
  Element element = of(ElementKind::kInstrRange);
  element.start = 0xcda88;
  element.end = 0xcda98;
  element.count = 4;
  element.last_size = 4;
  element.isa = isa::Isa::kA64;
  element.last_type = isa::InstrType::kBranch;
  element.flags = kElementExecuted | kElementConditional;
  return element;
}

TEST(ElementText, range_of_a_conditional_branch) {
  EXPECT_EQ(
      text(range()),
      "INSTR_RANGE(exec range=0xcda88:[0xcda98] num_i(4) last_sz(4) (ISA=A64) E BR   <cond>)");
}

TEST(ElementText, range_of_a_return_and_of_no_branch) {
  Element element = range();
  element.flags = kElementExecuted;
  element.last_type = isa::InstrType::kIndirectBranch;
  element.last_subtype = isa::InstrSubtype::kV8Return;
  EXPECT_EQ(
      text(element),
      "INSTR_RANGE(exec range=0xcda88:[0xcda98] num_i(4) last_sz(4) (ISA=A64) E iBR A64:ret )");
  element.last_type = isa::InstrType::kOther;
  element.last_subtype = isa::InstrSubtype::kNone;
  element.flags = 0;
  EXPECT_EQ(text(element),
            "INSTR_RANGE(exec range=0xcda88:[0xcda98] num_i(4) last_sz(4) (ISA=A64) N --- )");
  element.last_subtype = isa::InstrSubtype::kBranchLink;
  element.last_type = isa::InstrType::kBranch;
  element.flags = kElementExecuted | kElementConditional | kElementHasCycleCount;
  element.cycle_count = 9;
  EXPECT_EQ(text(element),
            "INSTR_RANGE(exec range=0xcda88:[0xcda98] num_i(4) last_sz(4) (ISA=A64) E BR  b+link  "
            "<cond> [CC=9]; )");
}

TEST(ElementText, longest_range_fits_its_buffer) {
  Element element = range();
  element.index = ~std::uint64_t{0};
  element.start = element.end = ~std::uint64_t{0};
  element.count = element.cycle_count = ~std::uint32_t{0};
  element.last_size = 255;
  element.trace_id = 0xFF;
  element.flags = 0xFFFF;
  element.last_type = isa::InstrType::kDsbDmb;
  element.last_subtype = isa::InstrSubtype::kV7ImpliedReturn;
  TextBuffer out;
  write_element_line(out, element);
  EXPECT_LE(out.size(), 384U);
  EXPECT_TRUE(out.view().ends_with("DSB.DMBV7:impl ret <cond> [CC=4294967295]; )\n"));
}

TEST(ElementText, line_has_decimal_index_and_hexadecimal_id) {
  Element element = of(ElementKind::kTraceOn);
  element.index = 14;
  element.trace_id = 0x1A;
  TextBuffer out;
  write_element_line(out, element);
  EXPECT_EQ(out.view(), "Idx:14; ID:1a; OCSD_GEN_TRC_ELEM_TRACE_ON( [begin or filter])\n");
}

TEST(ElementText, reasons) {
  Element element = of(ElementKind::kNoSync);
  const char* const reasons[] = {"undefined", "init-decoder", "reset-decoder",     "overflow",
                                 "discard",   "bad-packet",   "bad-program-image", "end-of-trace"};
  for (std::uint8_t i = 0; i < 8; ++i) {
    element.reason = i;
    EXPECT_EQ(text(element), std::string("NO_SYNC( [") + reasons[i] + "])");
  }
  element.reason = 8;
  EXPECT_EQ(text(element), "NO_SYNC()");
  element.kind = ElementKind::kEndOfTrace;
  element.reason = 7;
  EXPECT_EQ(text(element), "EO_TRACE( [end-of-trace])");
  element.kind = ElementKind::kTraceOn;
  element.reason = 1;
  EXPECT_EQ(text(element), "TRACE_ON( [overflow])");
  element.reason = 2;
  EXPECT_EQ(text(element), "TRACE_ON( [debug restart])");
}

TEST(ElementText, context_shows_ids_once_they_were_seen) {
  Element element = of(ElementKind::kPeContext);
  element.isa = isa::Isa::kA64;
  element.exception_level = 1;
  element.security = Security::kNonSecure;
  element.flags = kElementElValid | kElement64Bit;
  EXPECT_EQ(text(element), "PE_CONTEXT((ISA=A64) EL1N; 64-bit; )");
  element.flags |= kElementVmidValid | kElementContextIdValid;
  element.context_id = 0x4300;
  EXPECT_EQ(text(element), "PE_CONTEXT((ISA=A64) EL1N; 64-bit; VMID=0x0; CTXTID=0x4300; )");
  element.isa = isa::Isa::kT32;
  element.flags = 0;
  element.security = Security::kRealm;
  EXPECT_EQ(text(element), "PE_CONTEXT((ISA=T32) Realm; 32-bit; )");
}

TEST(ElementText, range_without_path) {
  Element element = of(ElementKind::kInstrRangeNoPath);
  element.start = 0x6951c;
  element.end = 0x63830;
  element.count = 4;
  EXPECT_EQ(text(element), "I_RANGE_NOPATH(first 0x6951c:[next 0x63830] num_i(4) )");
}

TEST(ElementText, unreadable_address_names_its_space) {
  Element element = of(ElementKind::kAddrNacc);
  element.start = 0xc0076a4c;
  const std::pair<std::uint32_t, const char*> spaces[] = {
      {0x06, "0x6:Any NS"}, {0x19, "0x19:Any S"}, {0x60, "0x60:Any R"}, {0xFF, "0xff:Any"},
      {0x04, "0x4:EL2N"},   {0x80, "0x80:Root"},  {0x00, "0x0:"},       {0x81, "0x81:EL1S,Root,"}};
  for (const auto& [space, name] : spaces) {
    element.number = space;
    EXPECT_EQ(text(element), std::string("ADDR_NACC( 0xc0076a4c; Memspace [") + name + "] )");
  }
}

TEST(ElementText, exception_with_and_without_return_address) {
  Element element = of(ElementKind::kException);
  element.number = 2;
  EXPECT_EQ(text(element), "EXCEPTION(excep num (0x02) )");
  element.end = 0x10000bc;
  element.flags = kElementReturnAddress;
  EXPECT_EQ(text(element), "EXCEPTION(pref ret addr:0x10000bc; excep num (0x02) )");
  element.end = 0x5910e8;
  element.number = 0xe;
  element.flags |= kElementReturnIsTarget;
  EXPECT_EQ(text(element),
            "EXCEPTION(pref ret addr:0x5910e8 [addr also prev br tgt]; excep num (0x0e) )");
  element.end = 0xc0010ef4;
  element.flags = kElementReturnAddress | kElementHasCycleCount;
  element.cycle_count = 15;
  EXPECT_EQ(text(element), "EXCEPTION(pref ret addr:0xc0010ef4; excep num (0x0e)  [CC=15]; )");
  EXPECT_EQ(text(of(ElementKind::kExceptionReturn)), "EXCEPTION_RET()");
}

TEST(ElementText, time_and_cycles) {
  Element element = of(ElementKind::kTimestamp);
  element.timestamp = 0x58e90bb867;
  element.flags = kElementHasTimestamp;
  EXPECT_EQ(text(element), "TIMESTAMP( [ TS=0x0058e90bb867]; )");
  element.flags |= kElementHasCycleCount;
  element.cycle_count = 3;
  EXPECT_EQ(text(element), "TIMESTAMP( [ TS=0x0058e90bb867];  [CC=3]; )");
  element = of(ElementKind::kCycleCount);
  element.flags = kElementHasCycleCount;
  element.cycle_count = 8;
  EXPECT_EQ(text(element), "CYCLE_COUNT( [CC=8]; )");
}

TEST(ElementText, events_markers_and_transactions) {
  Element element = of(ElementKind::kEvent);
  EXPECT_EQ(text(element), "EVENT()");
  element.reason = 1;
  EXPECT_EQ(text(element), "EVENT( Trigger; )");
  element.reason = 2;
  element.number = 1;
  EXPECT_EQ(text(element), "EVENT( Numbered:1; )");
  EXPECT_EQ(text(of(ElementKind::kSyncMarker)), "SYNC_MARKER( [Timestamp marker(0x00000000)])");
  element = of(ElementKind::kMemTrans);
  const char* const names[] = {"Init", "Start", "Commit", "Fail"};
  for (std::uint8_t i = 0; i < 4; ++i) {
    element.reason = i;
    EXPECT_EQ(text(element), std::string("MEMTRANS(") + names[i] + ")");
  }
}

TEST(ElementText, instrumentation_has_16_digits) {
  Element element = of(ElementKind::kInstrumentation);
  element.exception_level = 1;
  element.value = 0xFFFFF;
  EXPECT_EQ(text(element), "INSTRUMENTATION(EL1; 0x00000000000fffff)");
}

TEST(ElementText, software_trace) {
  Element element = of(ElementKind::kSwTrace);
  element.start = 0x0124f800;
  element.extra_value = 32;
  element.extra = kSwFrequency;
  EXPECT_EQ(text(element), "SWTRACE((Ma:0x??; Ch:0x?\?) 0x0124f800; Freq)");
  element.extra = kSwIdValid | kSwMarker;
  element.sw_id = {0x40, 0x480};
  element.start = 0x01021010;
  EXPECT_EQ(text(element), "SWTRACE( (Ma:0x40; Ch:0x480) 0x01021010; +Mrk )");
  element.extra_value = 0;
  element.extra |= kSwTimestamp;
  element.timestamp = 0x3aeb284c9;
  EXPECT_EQ(text(element), "SWTRACE( (Ma:0x40; Ch:0x480) +Mrk  [ TS=0x0003aeb284c9]; )");
  element.extra = kSwIdValid | kSwMasterError;
  element.sw_id = {0x41, 0};
  element.extra_value = 8;
  element.start = 0x77;
  EXPECT_EQ(text(element), "SWTRACE( (Ma:0x41; Ch:0x00) 0x77; {Master Error.})");
  element.extra = kSwGlobalError | kSwIdValid;
  EXPECT_EQ(text(element), "SWTRACE({Global Error.})");
  element.extra = kSwIdValid | kSwTrigger;
  element.extra_value = 4;
  element.start = 0x7;
  EXPECT_EQ(text(element), "SWTRACE( (Ma:0x41; Ch:0x00) 0x7; Trig )");
}

TEST(ElementText, software_trace_holds_payload_and_timestamp_of_64_bits_each) {
  Element element = of(ElementKind::kSwTrace);
  element.extra = kSwIdValid | kSwTimestamp;
  element.extra_value = 64;
  element.start = 0x0123456789abcdef;
  element.timestamp = 0xfedcba9876543210;
  EXPECT_EQ(text(element),
            "SWTRACE( (Ma:0x00; Ch:0x00) 0x0123456789abcdef;  [ TS=0xfedcba9876543210]; )");
}

TEST(ElementText, itm_trace) {
  Element element = of(ElementKind::kItmTrace);
  element.extra = kItmOverflow | static_cast<std::uint8_t>(ItmKind::kSoftware);
  element.number = 3;
  element.start = 0xbb;
  element.extra_value = 1;
  EXPECT_EQ(text(element), "ITMTRACE(ITM_OVERFLOW; ITM_SWIT (ch: 0x3; Data: 0xbb) )");
  element.extra = static_cast<std::uint8_t>(ItmKind::kHardware);
  element.extra_value = 4;
  EXPECT_EQ(text(element), "ITMTRACE(ITM_DWT (desc: 0x3; Data: 0x000000bb) )");
  element.extra = static_cast<std::uint8_t>(ItmKind::kTimestampSync);
  element.start = element.timestamp = 2;
  EXPECT_EQ(text(element),
            "ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000002) )");
  element.extra = static_cast<std::uint8_t>(ItmKind::kBothDelay);
  EXPECT_EQ(text(element),
            "ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS and Packet Delay}; TS cumulative: "
            "0x0000000000000002) )");
  element.extra = static_cast<std::uint8_t>(ItmKind::kGlobalTimestamp);
  element.timestamp = 0x001020304cf23456;
  EXPECT_EQ(text(element), "ITMTRACE(ITM_TS_GLOBAL ( TS: 0x001020304cf23456) )");
}

TEST(ElementText, a_kind_that_does_not_exist_has_the_listing_s_sentence) {
  TextBuffer out;
  write_element(out, of(static_cast<ElementKind>(99)));
  EXPECT_EQ(out.view(), "OCSD_GEN_TRC_ELEM??: index out of range.");
}

}  // namespace
}  // namespace waymark
