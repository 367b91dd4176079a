#include "waymark/shard/event_codec.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/seed_count.h"
#include "waymark/exports/tables.h"
#include "waymark/shard/table_slice_codec.h"
#include "waymark/synth/random.h"

namespace waymark::shard {
namespace {

Bytes bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Element random_element(synth::Random& random) {
  Element element;
  element.kind = static_cast<ElementKind>(random.below(kElementKindCount));
  element.index = random.next();
  element.start = random.next();
  element.end = element.start + random.below(100);
  element.timestamp = random.next();
  element.trace_id = static_cast<TraceId>(random.below(128));
  element.flags = static_cast<std::uint16_t>(random.below(1U << 14));
  element.isa = static_cast<isa::Isa>(random.below(5));
  element.last_type = static_cast<isa::InstrType>(random.below(7));
  element.last_subtype = static_cast<isa::InstrSubtype>(random.below(5));
  element.last_size = 4;
  element.cycle_count = random.below(1000);
  element.context_id = random.below(3);
  element.vmid = random.below(3);
  element.exception_level = static_cast<std::uint8_t>(random.below(4));
  element.security = static_cast<Security>(random.below(4));
  element.reason = static_cast<std::uint8_t>(random.below(256));
  element.extra = static_cast<std::uint8_t>(random.below(256));
  element.extra_value = random.below(UINT32_MAX);
  if (element.kind == ElementKind::kSwTrace) {
    element.sw_id = {.master = static_cast<std::uint16_t>(random.below(1U << 16)),
                     .channel = static_cast<std::uint16_t>(random.below(1U << 16))};
  } else {
    element.number = random.below(UINT32_MAX);
  }
  return element;
}

Diagnostic random_diagnostic(synth::Random& random) {
  Diagnostic record;
  record.fault = static_cast<Fault>(random.below(kFaultCount));
  record.finding = static_cast<Finding>(random.below(kFindingCount));
  record.severity = static_cast<Severity>(1 + random.below(3));
  record.stage = static_cast<Stage>(random.below(3));
  record.fatal = random.below(2) != 0;
  record.number = static_cast<std::uint8_t>(random.below(256));
  record.lost = random.below(1000);
  if (random.below(2) != 0) record.index = random.next();
  if (random.below(2) != 0) record.trace_id = static_cast<TraceId>(random.below(128));
  if (random.below(2) != 0) record.stream_id = static_cast<TraceId>(random.below(128));
  if (random.below(2) != 0) record.address = random.next();
  return record;
}

std::vector<Event> random_events(std::uint64_t seed, std::size_t count = 300) {
  synth::Random random(seed);
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    if (random.below(8) == 0) {
      events.emplace_back(random_diagnostic(random));
    } else {
      events.emplace_back(random_element(random));
    }
  }
  return events;
}

std::string written(std::span<const Event> events) {
  EventWriter writer;
  for (const Event& event : events) writer.add(event);
  return writer.take();
}

/// The events, and whether all of the text was some.
std::pair<std::vector<Event>, bool> read(const std::string& text) {
  std::pair<std::vector<Event>, bool> found;
  EventReader reader(bytes(text));
  while (auto event = reader.next()) found.first.push_back(*event);
  found.second = !reader.is_bad();
  return found;
}

bool is_same(const Diagnostic& one, const Diagnostic& other) {
  return one.fault == other.fault && one.finding == other.finding &&
         one.severity == other.severity && one.stage == other.stage && one.fatal == other.fatal &&
         one.trace_id == other.trace_id && one.stream_id == other.stream_id &&
         one.number == other.number && one.index == other.index && one.lost == other.lost &&
         one.address == other.address;
}

TEST(EventCodec, there_and_back) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    const std::vector<Event> events = random_events(seed);
    const std::string text = written(events);
    const auto [found, good] = read(text);
    ASSERT_TRUE(good);
    ASSERT_EQ(found.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(found[i].index(), events[i].index());
      if (const auto* const element = std::get_if<Element>(&events[i])) {
        EXPECT_EQ(std::get<Element>(found[i]), *element);
      } else {
        EXPECT_TRUE(is_same(std::get<Diagnostic>(found[i]), std::get<Diagnostic>(events[i])));
      }
    }
    EXPECT_EQ(written(found), text);
  }
}

TEST(EventCodec, what_repeats_has_few_bytes) {
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    Element element;
    element.kind = ElementKind::kSwTrace;
    element.trace_id = 0x10;
    element.index = 100'000 + i * std::uint64_t{6};
    element.sw_id = {.master = 40, .channel = 7};
    element.flags = kElementHasTimestamp;
    element.timestamp = 1'000'000'000 + i * std::uint64_t{20};
    element.extra_value = 8;
    element.start = i % 32;
    events.emplace_back(element);
  }
  EXPECT_LT(written(events).size(), 6 * events.size());
}

TEST(EventCodec, damaged_bytes_end_somewhere) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(200); ++seed) {
    synth::Random random(seed);
    std::string text = written(random_events(seed, 50));
    for (int i = 0; i < 3; ++i)
      text[random.below(static_cast<std::uint32_t>(text.size()))] =
          static_cast<char>(random.next());
    TextBuffer out;
    exports::ElementsPart rows({}, out);
    for (const Event& event : read(text).first) {
      if (const auto* const element = std::get_if<Element>(&event)) {
        rows.add({element, 1});
      } else {
        rows.add(std::get<Diagnostic>(event));
      }
    }
    EXPECT_TRUE(rows.finish());
  }
}

TEST(EventCodec, what_is_not_an_event_is_bad) {
  const std::string text = written(random_events(1, 20));
  EXPECT_FALSE(read(text.substr(0, text.size() - 1)).second);
  // A kind of elements that does not exist.
  EXPECT_FALSE(read(std::string("\x7F\x00\x00", 3)).second);
  // Damage without a severity.
  EXPECT_FALSE(read(std::string("\x00\x80\x08\x01", 4)).second);
}

TEST(TableSliceCodec, there_and_back_and_content_that_is_cut_is_refused) {
  const SliceEvents events{.seam = {.framing = true, .sources = {{.active = true, .holds = false}}},
                           .has_content = true,
                           .messages = "messages",
                           .steps = "steps",
                           .end_messages = "more messages",
                           .end_steps = "more steps",
                           .end_rows = written(random_events(1, 2)),
                           .files = {{.path = "a", .bytes = 1, .digest = 2}}};
  const std::string content = encode(events);
  const auto got = read_slice_events(bytes(content));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->seam, events.seam);
  EXPECT_EQ(got->files, events.files);
  EXPECT_TRUE(got->has_content);
  EXPECT_EQ(got->messages, events.messages);
  EXPECT_EQ(got->steps, events.steps);
  EXPECT_EQ(got->end_messages, events.end_messages);
  EXPECT_EQ(got->end_steps, events.end_steps);
  EXPECT_EQ(got->end_rows, events.end_rows);
  for (std::size_t size = 0; size < content.size(); ++size)
    EXPECT_FALSE(read_slice_events(bytes(content).first(size))) << size;
  EXPECT_FALSE(read_slice_events(bytes(content + '\0')));

  const TableSlice slice{.data = {{.table = "elements", .input = 3, .slice = 0, .bytes = 5},
                                  {.table = "elements", .input = 3, .bytes = 5}},
                         .events = content,
                         .counts = "counts"};
  const std::string whole = encode(slice);
  const auto read_back = read_table_slice(bytes(whole));
  ASSERT_TRUE(read_back);
  EXPECT_EQ(read_back->data, slice.data);
  EXPECT_EQ(read_back->events, slice.events);
  EXPECT_EQ(read_back->counts, slice.counts);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_table_slice(bytes(whole).first(size))) << size;
  EXPECT_FALSE(read_table_slice(bytes(whole + '\0')));
}

}  // namespace
}  // namespace waymark::shard
