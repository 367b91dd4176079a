// Messages that instrument.h makes, read back by the parser: random values of every type, with
// every combination of the optional fields, through every sink.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cinttypes>
#include <cstdio>

#include "support.h"
#include "support/random.h"
#include "waymark/base/mapped_file.h"
#include "waymark/stm/decoder.h"
#include "waymark/stm/parser.h"
#include "waymark/syst/catalog.h"
#include "waymark/syst/catalog_section.h"
#include "waymark/syst/channels.h"
#include "waymark/syst/collateral.h"
#include "waymark/syst/instrument.h"
#include "waymark/syst/lines.h"
#include "waymark/syst/parser.h"
#include "waymark/syst/payload_text.h"
#include "waymark/syst/printf_format.h"
#include "waymark/syst/sinks.h"
#include "waymark/syst/splitter.h"

WAYMARK_SYST_CLIENT("tests", "{57617974-6573-7473-8E78-616D706C6531}");

namespace waymark::syst {
namespace {

using instrument::Fields;
using instrument::Handle;
using instrument::Level;
using instrument::Origin;
using instrument::Packing;
using instrument::Place;

/// The expected values of a message.
struct Expected {
  Type type = Type::kRaw;
  std::uint8_t subtype = 0;
  bool is_short = false;
  Level level = Level::kNone;
  std::uint64_t value = 0;
  std::uint64_t extra = 0;
  std::string text;  ///< What write_payload() gives for texts and formats.
  std::string data;
};

constexpr std::uint64_t kNow = 0x123456789ABCDEF;
std::uint64_t now() { return kNow; }

/// One random message of any kind.
template <class AnyHandle>
// NOLINTNEXTLINE(readability-function-size): a case for each kind of message.
Expected send(const AnyHandle& handle, support::Random& random, Packing packing) {
  const auto level = static_cast<Level>(random.below(8));
  const bool wide = packing == Packing::k64;
  const std::uint64_t value = random.value(64);
  std::vector<std::uint8_t> blob(random.below(40));
  for (std::uint8_t& byte : blob) byte = random.byte();
  const auto with = [&](Type type, unsigned subtype) {
    Expected expected;
    expected.type = type;
    expected.subtype = static_cast<std::uint8_t>(subtype);
    expected.level = level;
    return expected;
  };
  Expected e;
  switch (random.below(13)) {
    case 0:
      handle.short32(static_cast<std::uint32_t>(value & 0xFFFFFFF));
      e = {.type = Type::kShort32, .is_short = true, .value = value & 0xFFFFFFF, .text{}, .data{}};
      break;
    case 1:
      handle.short64(value & 0xFFFFFFFFFFFFFFF);
      e = {.type = Type::kShort64,
           .is_short = true,
           .value = value & 0xFFFFFFFFFFFFFFF,
           .text{},
           .data{}};
      break;
    case 2:
      handle.build_compact32(static_cast<std::uint32_t>(value & 0x3FFFFF));
      e = {.type = Type::kBuild, .is_short = true, .value = value & 0x3FFFFF, .text{}, .data{}};
      break;
    case 3:
      handle.build_compact64(value & 0x3FFFFFFFFFFFFF);
      e = {.type = Type::kBuild,
           .subtype = 1,
           .is_short = true,
           .value = value & 0x3FFFFFFFFFFFFF,
           .text{},
           .data{}};
      break;
    case 4:
      handle.build(level, value, "v1");
      e = with(Type::kBuild, 2);
      e.value = value;
      break;
    case 5: {
      const auto kind = random.below(5);
      constexpr std::array<unsigned, 5> kSubtypes = {1, 2, 3, 5, 7};
      e = with(Type::kString, kSubtypes[kind]);
      e.text = "some text";
      if (kind == 0) handle.text(level, e.text);
      if (kind == 1) handle.enter(level, e.text);
      if (kind == 2) handle.exit(level, e.text);
      if (kind == 3) handle.invalid(level, e.text);
      if (kind == 4) handle.assertion(level, e.text);
      break;
    }
    case 6:
    case 7:
      handle.printf(level, "%d %s %lld %g %c", static_cast<int>(value), "arg",
                    static_cast<long long>(value), 0.5, 'x');
      e = with(Type::kString, wide ? 12 : 11);
      e.text = std::to_string(static_cast<int>(value)) + " arg " +
               std::to_string(static_cast<long long>(value)) + " 0.5 x";
      break;
    case 8:
      handle.catalog32(level, static_cast<std::uint32_t>(value), 1, "s");
      e = with(Type::kCatalog, wide ? 5 : 1);
      e.value = value & 0xFFFFFFFF;
      e.data = "010000007300";
      break;
    case 9:
      handle.catalog64(level, value, 1L);
      e = with(Type::kCatalog, wide ? 6 : 2);
      e.value = value;
      e.data = wide ? "0100000000000000" : "01000000";
      break;
    case 10:
      e = with(Type::kRaw, random.below(64));
      e.value = e.subtype;
      handle.raw(level, e.subtype, blob);
      e.data = to_hex(blob);
      break;
    case 11:
      handle.clock_sync(value, 1000);
      e = with(Type::kClock, 1);
      e.level = Level::kNone;
      e.value = value;
      e.extra = 1000;
      break;
    default: {
      const unsigned size = random.pick({0U, 2U, 4U, 8U});
      const std::string name = random.coin() ? "name" : "";
      const std::uint64_t address = size == 0 ? 0 : value & low_mask(8 * size);
      constexpr std::array<unsigned, 9> kCode = {0, 0, 1, 0, 2, 0, 0, 0, 3};
      handle.data64(level, value, blob, name, address, size);
      e = with(Type::kSbd, 1 | (name.empty() ? 0U : 2U) | kCode[size] << 2);
      e.value = value;
      e.extra = address;
      e.data = to_hex(blob);
      break;
    }
  }
  return e;
}

void check(const Message& message, const Expected& expected, const Origin& origin,
           const Fields& fields, const Place& place) {
  ASSERT_TRUE(message.ok()) << defect_sentence(message.defect) << ' ' << to_hex(message.raw);
  EXPECT_EQ(message.type, expected.type);
  EXPECT_EQ(message.subtype, expected.subtype);
  EXPECT_EQ(message.is_short, expected.is_short);
  EXPECT_EQ(message.value, expected.value) << to_hex(message.raw);
  EXPECT_EQ(message.extra, expected.extra);
  if (!expected.text.empty()) {
    TextBuffer text;
    write_payload(text, message, nullptr, nullptr);
    EXPECT_EQ(text.view(), expected.text);
  }
  if (!expected.data.empty()) {
    EXPECT_EQ(to_hex(message.data), expected.data);
  }
  if (expected.is_short) return;
  EXPECT_EQ(static_cast<int>(message.severity), static_cast<int>(expected.level));
  EXPECT_EQ(message.has_guid(), origin.has_guid);
  EXPECT_EQ(message.guid.bytes, origin.guid);
  EXPECT_EQ(message.unit, origin.unit);
  EXPECT_EQ(message.origin, origin.module_id);
  EXPECT_EQ(message.has_length(), fields.length);
  EXPECT_EQ(message.has_checksum(), fields.checksum);
  EXPECT_EQ(message.has_timestamp(), fields.timestamp);
  if (fields.timestamp) {
    EXPECT_EQ(message.timestamp, kNow);
  }
  const bool is_line = place.kind == Place::Kind::kLine16 || place.kind == Place::Kind::kLine32;
  EXPECT_EQ(message.has_location(), place.kind != Place::Kind::kNone);
  if (is_line) {
    EXPECT_EQ(message.location.file, place.file);
    EXPECT_EQ(message.location.line, place.line);
  }
  if (!is_line) {
    EXPECT_EQ(message.location.address, place.address);
  }
}

/// Keeps messages.
struct Keeper {
  std::vector<std::vector<std::uint8_t>> messages;
  void message(std::span<const std::uint8_t> bytes, bool /*is_short*/) {
    messages.emplace_back(bytes.begin(), bytes.end());
  }
};

TEST(SystRoundTrip, random_messages_of_every_kind_and_option) {
  support::Random random(11);
  for (int round = 0; round < 20000; ++round) {
    Origin origin = random.coin()
                        ? Origin::module_unit(static_cast<std::uint8_t>(random.below(128)),
                                              static_cast<std::uint16_t>(random.below(16)))
                        : Origin::guid_unit({}, static_cast<std::uint16_t>(random.below(2048)));
    if (origin.has_guid)
      for (std::uint8_t& byte : origin.guid) byte = random.byte();
    const Fields fields{
        .length = random.coin(), .checksum = random.coin(), .timestamp = random.coin()};
    Place place;
    place.kind = static_cast<Place::Kind>(random.below(5));
    const bool is_line = place.kind == Place::Kind::kLine16 || place.kind == Place::Kind::kLine32;
    if (is_line) {
      const unsigned bits = place.kind == Place::Kind::kLine16 ? 16 : 32;
      place.file = static_cast<std::uint32_t>(random.bits(bits));
      place.line = static_cast<std::uint32_t>(random.bits(bits));
    }
    if (place.kind == Place::Kind::kAddress32) place.address = random.bits(32);
    if (place.kind == Place::Kind::kAddress64) place.address = random.bits(64);
    const Packing packing = random.coin() ? Packing::k64 : Packing::k32;
    Keeper keeper;
    const Handle handle(keeper, origin, fields, now);
    const Expected expected = send(handle.packed(packing).at(place), random, packing);
    ASSERT_EQ(keeper.messages.size(), 1U);
    const std::vector<std::uint8_t>& bytes = keeper.messages.front();
    check(parse_message(bytes, {.mode = Mode::kStrict, .quirks = {}}), expected, origin, fields,
          place);
    if (fields.length || expected.is_short) {
      EXPECT_EQ(message_extent(bytes).size, bytes.size());
    }
    if (HasFailure()) FAIL() << to_hex(bytes);
  }
}

/// The text that a receiver shows for a printf.
template <class... Args>
std::string shown(Packing packing, std::string_view format, const Args&... args) {
  Keeper keeper;
  Handle(keeper, Origin::module_unit(1, 2)).packed(packing).printf(Level::kInfo, format, args...);
  const Message message =
      parse_message(keeper.messages.at(0), {.mode = Mode::kStrict, .quirks = {}});
  TextBuffer text;
  if (message.subtype == 5) text.put("invalid: ");
  write_payload(text, message, nullptr, nullptr);
  return std::string(text.view());
}

TEST(SystRoundTrip, arguments_are_packed_as_their_conversions_say) {
  const char* const text = "text";
  const std::array<char, 3> unterminated = {'a', 'b', 'c'};
  const char field[4] = {'d', 'e', 'f', 'g'};
  const unsigned char bytes[] = "bytes";
  const std::string with_nul("ab\0cd", 5);
  const void* const address = text;
  TextBuffer pointer;
  pointer.put("0x");
  pointer.hex(reinterpret_cast<std::uintptr_t>(address) & 0xFFFFFFFF);
  for (const Packing packing : {Packing::k32, Packing::k64}) {
    if (packing == Packing::k32) {
      EXPECT_EQ(shown(packing, "%p %s", text, text), std::string(pointer.view()) + " text");
    }
    EXPECT_EQ(shown(packing, "%s|%d", with_nul, 7), "ab|7");
    EXPECT_EQ(shown(packing, "%.2s|%d", text, 7), "te|7");
    EXPECT_EQ(shown(packing, "%.*s|%d", 3, unterminated.data(), 7), "abc|7");
    EXPECT_EQ(shown(packing, "%.*s|%d", -1, text, 7), "text|7");
    EXPECT_EQ(shown(packing, "%*.*s|%d", 6, 1, text, 7), "     t|7");
    EXPECT_EQ(shown(packing, "%s|%s", field, bytes), "defg|bytes");
    EXPECT_EQ(shown(packing, "%s %p", nullptr, nullptr), "(null) (nil)");
    // The size of the value differs from that of the conversion.
    EXPECT_EQ(shown(packing, "%d %lld %hhd %d", 5LL, -6, -7L, 8), "5 -6 -7 8");
    EXPECT_EQ(shown(packing, "%ld %zu %td %jd %d", 1, 2, 3, 4, 5), "1 2 3 4 5");
    EXPECT_EQ(shown(packing, "%ld|%lu", -2, 3U), "-2|3");
    EXPECT_EQ(shown(packing, "%c%c %5.1f %Lg", 'x', 0x79, 0.25F, 0.5L), "xy   0.2 0.5");
    EXPECT_EQ(shown(packing, "100%% %n%d", &field, 3), "100% 3");
    // Too few, and too many.
    EXPECT_EQ(shown(packing, "%d %d", 1), "1 [no argument is left for '%d']");
    EXPECT_EQ(shown(packing, "%d", 1, 2, "x"), "1");
  }
}

TEST(SystRoundTrip, arguments_that_do_not_fit_their_conversions_are_reported) {
  for (const Packing packing : {Packing::k32, Packing::k64}) {
    EXPECT_EQ(shown(packing, "a %s", 5), "invalid: a %s");
    EXPECT_EQ(shown(packing, "a %d", "text"), "invalid: a %d");
    EXPECT_EQ(shown(packing, "a %d", 0.5), "invalid: a %d");
    EXPECT_EQ(shown(packing, "a %f", 5), "invalid: a %f");
    EXPECT_EQ(shown(packing, "a %ls", "text"), "invalid: a %ls");
    EXPECT_EQ(shown(packing, "a %k", 5), "invalid: a %k");
    EXPECT_EQ(shown(packing, "a %d %k", 5), "invalid: a %d %k");
    EXPECT_EQ(shown(packing, "a %"), "invalid: a %");
    EXPECT_EQ(shown(packing, "%s", static_cast<const void*>(&packing)), "invalid: %s");
  }
}

TEST(SystRoundTrip, the_sender_reads_formats_as_the_receiver_does) {
  support::Random random(17);
  constexpr std::string_view kCharacters = "%%%%%%*.-+ #0123hlljztLdiuxXcspnfgea";
  for (int round = 0; round < 100'000; ++round) {
    std::string format;
    for (unsigned i = 1 + random.below(8); i > 0; --i)
      format += kCharacters[random.below(static_cast<std::uint32_t>(kCharacters.size()))];
    FormatScanner scanner(format);
    Fragment fragment;
    std::size_t count = 0;
    bool has_wide_text = false;
    while (scanner.next(fragment)) {
      if (fragment.conversion == 0) continue;
      count += 1U + (fragment.width == Fragment::kStar) + (fragment.precision == Fragment::kStar);
      has_wide_text |= fragment.conversion == 's' &&
                       (fragment.modifier == Modifier::kL || fragment.modifier == Modifier::kLl);
    }
    instrument::FormatSlots slots(format);
    std::size_t slot_count = 0;
    while (slots.next().kind != instrument::Slot::Kind::kNothing) ++slot_count;
    EXPECT_EQ(slots.legal(), scanner.legal() && !has_wide_text) << format;
    if (slots.legal()) {
      EXPECT_EQ(slot_count, count) << format;
    }
  }
}

TEST(SystRoundTrip, texts_end_at_their_nul) {
  Keeper keeper;
  const Handle handle(keeper, Origin::module_unit(1, 2));
  const std::string text("ab\0cd", 5);
  handle.text(Level::kInfo, text);
  handle.build(Level::kInfo, 1, text);
  handle.data32(Level::kInfo, 1, {}, text, 0x12, 3);  // Addresses never have three bytes.
  for (const auto& bytes : keeper.messages) {
    const Message message = parse_message(bytes, {.mode = Mode::kStrict, .quirks = {}});
    EXPECT_TRUE(message.ok()) << defect_sentence(message.defect);
    EXPECT_EQ(message.text, "ab");
    EXPECT_TRUE(message.data.empty());
  }
}

TEST(SystRoundTrip, a_message_that_does_not_fit_says_so) {
  Keeper keeper;
  const Handle<Keeper, 128> handle(keeper, Origin::module_unit(1, 2));
  const std::string big(200, 'x');
  handle.printf(Level::kError, "a format that is longer than thirty-one characters: %s", big);
  const Message message =
      parse_message(keeper.messages.at(0), {.mode = Mode::kStrict, .quirks = {}});
  EXPECT_TRUE(message.ok());
  EXPECT_EQ(message.subtype, 5);
  EXPECT_EQ(message.text, "a format that is longer than th");
}

std::uint64_t ticking = 0;
std::uint64_t tick() { return ticking += 977; }

/// The messages of an STP stream.
std::vector<std::vector<std::uint8_t>> through_stm(const std::vector<std::uint8_t>& stream) {
  stm::Config config;
  config.order = stm::NibbleOrder::kAuto;
  config.stmtcsr = 0x100002;
  stm::Parser parser(config);
  stm::Decoder decoder(config);
  ChannelAssembler channels;
  std::vector<std::vector<std::uint8_t>> messages;
  const frames::Run run{};
  parser.feed({stream, {&run, 1}});
  stm::Packet packet;
  while (parser.next(packet)) {
    decoder.accept(packet);
    while (decoder.busy()) {
      std::array<Element, 8> elements;
      const std::size_t count = decoder.drain(elements);
      decoder.clear_diagnostics();
      for (std::size_t i = 0; i < count; ++i) {
        for (const Frame& frame : channels.add(elements[i])) {
          EXPECT_EQ(frame.end, FrameEnd::kWhole);
          messages.emplace_back(frame.bytes.begin(), frame.bytes.end());
        }
      }
    }
  }
  return messages;
}

TEST(SystRoundTrip, through_stp_in_both_orders_and_with_both_ends) {
  using instrument::StpEnd;
  using instrument::StpOrder;
  for (const StpOrder order : {StpOrder::kCoreSight, StpOrder::kSimulator}) {
    for (const StpEnd end : {StpEnd::kFlag, StpEnd::kMarker}) {
      support::Random random(5);
      Keeper keeper;
      std::vector<std::uint8_t> stream;
      ticking = 1000;
      instrument::StpSink stp([&](std::uint8_t byte) { stream.push_back(byte); }, tick, 60'000'000,
                              order, end);
      const Handle kept(keeper, Origin::module_unit(3, 4));
      const Handle sent(stp, Origin::module_unit(3, 4));
      for (int i = 0; i < 300; ++i) {
        if (i % 50 == 49) stp.synchronise();
        stp.select(static_cast<std::uint16_t>(0x40 + random.below(2)),
                   static_cast<std::uint16_t>(random.below(3) * 200));
        const std::uint64_t seed = random.bits(32);
        support::Random one(seed);
        support::Random two(seed);
        (void)send(kept, one, instrument::kHostPacking);
        (void)send(sent, two, instrument::kHostPacking);
      }
      stp.align();
      EXPECT_EQ(through_stm(stream), keeper.messages);
    }
  }
}

TEST(SystRoundTrip, through_text_and_plain_bytes) {
  support::Random random(9);
  Keeper keeper;
  std::string text;
  std::vector<std::uint8_t> plain;
  instrument::LineSink lines(
      [&](std::span<const char> part) { text.append(part.data(), part.size()); });
  instrument::PlainSink bytes([&](std::span<const std::uint8_t> part) {
    plain.insert(plain.end(), part.begin(), part.end());
  });
  const Origin origin = Origin::module_unit(3, 4);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t seed = random.bits(32);
    support::Random one(seed);
    support::Random two(seed);
    support::Random three(seed);
    (void)send(Handle(keeper, origin), one, instrument::kHostPacking);
    (void)send(Handle(lines, origin), two, instrument::kHostPacking);
    (void)send(Handle(bytes, origin), three, instrument::kHostPacking);
  }
  std::vector<std::string> expected;
  expected.reserve(keeper.messages.size());
  for (const auto& message : keeper.messages) expected.push_back("whole " + to_hex(message));
  const auto without_index = [](std::vector<std::string> frames) {
    for (std::string& frame : frames) frame.erase(0, frame.find(' ') + 1);
    return frames;
  };
  EXPECT_EQ(without_index(split<LineReader>(as_bytes(text), 100)), expected);
  EXPECT_EQ(without_index(split<StreamSplitter>(plain, 100)), expected);
}

TEST(SystRoundTrip, stores_to_the_ports_of_an_stm) {
  std::string stores;
  instrument::StmPortSink port([&](std::uint32_t offset, std::uint64_t value, std::size_t size) {
    char text[64];
    (void)std::snprintf(text, sizeof text, "%02x:%llx/%zu ", offset,
                        static_cast<unsigned long long>(value), size);
    stores += text;
  });
  const Handle handle(port, Origin::module_unit(0x41, 5), {.length = false});
  handle.short32(0x1234567);
  handle.text(Level::kInfo, "abc4567");
  EXPECT_EQ(stores, "00:12345671/4 10:1415042/4 18:34636261/4 18:373635/4 68:0/1 ");
}

TEST(SystCatalog, the_hash_is_that_of_the_tools) {
  EXPECT_EQ(instrument::hash("in function bar"), 0x62F35566U);
  EXPECT_EQ(instrument::hash("in function bar", 3), 0x62F35569U);
}

// Inlined and instantiated code leaves records too.
template <class T>
inline void say_in_template(const auto& handle, T value) {
  WAYMARK_SYST_CATALOG(handle, Level::kDebug, "in a template: %d", static_cast<int>(value));
}

TEST(SystCatalog, this_program_prints_its_own_texts) {
  Keeper keeper;
  Origin origin = Origin::guid_unit({0x57, 0x61, 0x79, 0x74, 0x65, 0x73, 0x74, 0x73, 0x8E, 0x78,
                                     0x61, 0x6D, 0x70, 0x6C, 0x65, 0x31},
                                    1);
  const Handle handle(keeper, origin);
  WAYMARK_SYST_CATALOG(handle, Level::kInfo, "no argument");
  WAYMARK_SYST_CATALOG(handle, Level::kWarning, "a \"%s\" and\t100%% of <%d> ]]> {%c} $1", "text",
                       -5, 'c');
  say_in_template(handle, 7);
  say_in_template(handle, 8.0);
  const std::array<char, 2> unterminated = {'a', 'b'};
  WAYMARK_SYST_CATALOG(handle, Level::kInfo,
                       "several "
                       "literals\x21 \101 %.*s|%p|%" PRIu64,
                       2, unterminated.data(), static_cast<void*>(nullptr), std::uint64_t{7});

  const auto self = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(self);
  const auto sites = read_catalog_sites(self->bytes());
  ASSERT_TRUE(sites) << sites.error().detail;
  EXPECT_EQ(sites->client, "tests");
  EXPECT_EQ(sites->sites.size(), 4U);
  const auto xml = write_collateral(*sites);
  ASSERT_TRUE(xml) << xml.error().detail;
  Collateral collateral;
  const auto added = collateral.add_text("self.xml", *xml);
  if (!added && added.error().reason.find("pugixml") != std::string::npos) GTEST_SKIP();
  ASSERT_TRUE(added) << added.error().sentence() << *xml;
  ClientFinder finder(collateral);
  std::vector<std::string> texts;
  for (const auto& bytes : keeper.messages) {
    const Message message = parse_message(bytes);
    const Client* const client = finder.find(message);
    ASSERT_NE(client, nullptr);
    TextBuffer out;
    const Entry* const entry = format_entry(message, client);
    write_payload(out, message, client, entry);
    texts.emplace_back(out.view());
    out.clear();
    write_location(out, message, client, entry);
    EXPECT_NE(out.view().find("round_trip_test.cc:"), std::string_view::npos) << out.view();
  }
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "no argument", "a \"text\" and\t100% of <-5> ]]> {c} $1", "in a template: 7",
                       "in a template: 8", "several literals! A ab|(nil)|7"}));
}

TEST(SystCatalog, files_without_the_section_are_refused) {
  EXPECT_EQ(read_catalog_sites(as_bytes("no ELF")).error().code, ErrorCode::kBadData);
}

using instrument::is_catalog_format;
using instrument::is_plain_literal;

TEST(SystCatalog, literals_that_the_assembler_reads_otherwise_are_refused) {
  EXPECT_TRUE(is_plain_literal(R"("a\n\t\\ \" \101 \x41" " b")"));
  EXPECT_FALSE(is_plain_literal(R"--(R"(a)")--"));
  EXPECT_FALSE(is_plain_literal(R"(u8"a")"));
  EXPECT_FALSE(is_plain_literal(R"("a\a")"));
  EXPECT_FALSE(is_plain_literal(R"("a\e[1m")"));
  EXPECT_FALSE(is_plain_literal(R"("a\u00e4")"));
  EXPECT_FALSE(is_plain_literal(R"(variable)"));
  EXPECT_TRUE(is_catalog_format("%d %s", 6));
  EXPECT_FALSE(is_catalog_format("%d %k", 6));
  EXPECT_FALSE(is_catalog_format("a\0b", 4));
}

TEST(SystCatalog, two_formats_with_one_id_are_reported) {
  // hash(format, line) is the hash of the text plus the line.
  CatalogSites sites;
  sites.sites = {{.file = "a.c", .line = 5, .format = "b"},
                 {.file = "a.c", .line = 4, .format = "c"}};
  EXPECT_EQ(sites.sites[0].id() + 1, sites.sites[1].id() + 1);
  const auto xml = write_collateral(sites);
  ASSERT_FALSE(xml);
  EXPECT_EQ(xml.error().code, ErrorCode::kConflict);
}

TEST(SystCatalog, a_format_on_the_same_line_of_two_files_has_no_place) {
  CatalogSites sites;
  sites.sites = {{.file = "a.c", .line = 5, .format = "same"},
                 {.file = "b.c", .line = 5, .format = "same"},
                 {.file = "b.c", .line = 6, .format = "one"}};
  const auto xml = write_collateral(sites);
  ASSERT_TRUE(xml);
  EXPECT_NE(
      xml->find(fmt::format("<syst:Format ID=\"0x{:08x}\"><![CDATA[same]]>", sites.sites[0].id())),
      std::string::npos)
      << *xml;
  EXPECT_NE(xml->find("File=\"0x2\" Line=\"0x6\"><![CDATA[one]]>"), std::string::npos) << *xml;
}

TEST(SystCatalog, names_that_xml_cannot_hold_are_reported) {
  CatalogSites sites;
  sites.client = "bell\a";
  EXPECT_EQ(write_collateral(sites).error().code, ErrorCode::kInvalidArgument);
}

/// A 64-bit ELF file with section names and a table of `count` identical entries.
std::vector<std::uint8_t> elf_file(std::size_t entry_size, std::size_t count, std::size_t names) {
  std::vector<std::uint8_t> elf(64 + names + 64);
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) elf[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
  };
  std::ranges::copy(std::string_view("\x7F"
                                     "ELF\2\1\1"),
                    elf.begin());
  std::fill_n(elf.begin() + 64, names, std::uint8_t{'a'});
  put(0x28, 64 + names, 8);
  put(0x3A, entry_size, 2);
  put(0x3C, count, 2);
  put(64 + names + 4, 3, 4);      // Type: names.
  put(64 + names + 0x18, 64, 8);  // Offset and size.
  put(64 + names + 0x20, names, 8);
  return elf;
}

TEST(SystCatalog, damaged_section_tables_are_reported_at_once) {
  constexpr std::size_t kNames = std::size_t{8} << 20;
  for (const std::size_t entry_size : {0U, 1U, 63U}) {
    EXPECT_EQ(read_catalog_sites(elf_file(entry_size, 65535, kNames)).error().code,
              ErrorCode::kBadData);
  }
  // As many sections as fit, all with one endless name.
  std::vector<std::uint8_t> many = elf_file(64, 60000, kNames);
  const std::vector<std::uint8_t> entry(many.end() - 64, many.end());
  for (int i = 1; i < 60000; ++i) many.insert(many.end(), entry.begin(), entry.end());
  EXPECT_EQ(read_catalog_sites(many).error().code, ErrorCode::kNotFound);
}

TEST(SystCatalog, numbers_too_large_for_the_header_are_in_the_first_section) {
  // There are two sections; the second has the names and is also the catalog.
  const std::string content("\1\0\0\0f.c\0text\0.waymark.syst\0", 4 + 4 + 5 + 14);
  std::vector<std::uint8_t> elf(64 + content.size() + 128);
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) elf[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
  };
  std::ranges::copy(std::string_view("\x7F"
                                     "ELF\2\1\1"),
                    elf.begin());
  std::ranges::copy(content, elf.begin() + 64);
  const std::size_t table = 64 + content.size();
  put(0x28, table, 8);
  put(0x3A, 64, 2);
  put(0x3E, 0xFFFF, 2);
  put(table + 0x20, 2, 8);  // Sections,
  put(table + 0x28, 1, 4);  // and the one with the names.
  put(table + 64, 13, 4);   // Name, type, offset and size.
  put(table + 64 + 4, 1, 4);
  put(table + 64 + 0x18, 64, 8);
  put(table + 64 + 0x20, content.size(), 8);
  const auto sites = read_catalog_sites(elf);
  // The name, read as a record, is cut.
  ASSERT_FALSE(sites);
  EXPECT_EQ(sites.error().code, ErrorCode::kBadData);
  EXPECT_NE(sites.error().detail.find("the last record of its catalog is cut short"),
            std::string::npos)
      << sites.error().detail;
}

}  // namespace
}  // namespace waymark::syst
