// A protocol that was written by following docs/add-a-protocol.md, with what it then gets.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../fuzz/packets_target.h"
#include "support/stream_properties.h"
#include "toy/fields.h"
#include "toy/header_table.h"
#include "toy/parser.h"
#include "toy/rows.h"
#include "toy/source.h"
#include "waymark/frames/mux.h"
#include "waymark/outputs/json.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::toy {
namespace {

using support::Random;

std::vector<std::uint8_t> random_stream(Random& random, unsigned packets) {
  std::vector<std::uint8_t> bytes;
  while (packets-- != 0) {
    bytes.push_back(random.pick<std::uint8_t>({0xFF, 0x83, 0x90, 0xA5, 0xB0, random.byte()}));
    const bool has_payload = bytes.back() == 0x90 || (bytes.back() & 0xE0) == 0xA0;
    for (unsigned i = has_payload ? 2 : 0; i != 0 && !random.one_in(20); --i)
      bytes.push_back(random.byte() & 0x7F);
  }
  return bytes;
}

// -- The properties of any stream. ----------------------------------------------------------------

struct Case {
  explicit Case(std::uint64_t seed) {
    Random random(seed);
    config.toycr = 0x25;
    bytes = random_stream(random, random.between(20, 200));
  }
  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    return *make_source(config, with);
  }

  Config config;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Toy, StreamProperties, support::Shares<Case>);

// -- The fuzz target. -----------------------------------------------------------------------------

struct ToyTarget {
  using Parser = toy::Parser;
  using Packet = toy::Packet;
  static constexpr std::size_t kSettings = 0;
  static constexpr bool kNibbles = false;
  static constexpr bool kBatches = false;
  static constexpr bool kVisitors = false;

  explicit ToyTarget(Random& /*random*/) {}
  [[nodiscard]] static Parser parser() { return {}; }
  [[nodiscard]] static std::vector<std::uint8_t> beginning() { return {0xFF}; }
  [[nodiscard]] static bool exact() { return true; }
  static void check(const Parser& /*parser*/, const Packet& /*packet*/,
                    const fuzz::Parsed& /*before*/) {}
  static void write(TextBuffer& out, const Packet& packet) { write_packet(out, packet); }
  static auto fields(const Packet& packet) { return fields_of(packet.type); }
};

TEST(Toy, packets_cover_any_bytes) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<std::uint8_t> input{random.byte(), random.byte()};
    while (input.size() < 300) input.push_back(random.byte());
    EXPECT_EQ(fuzz::PacketsInput<ToyTarget>(input.data(), input.size()).run(), 0);
  }
}

// -- In a decode tree. ----------------------------------------------------------------------------

/// Everything as JSON, in order.
class Recorder final : public Observer {
 public:
  void on_packet(const PacketRef& packet) override { outputs::write_json(out, packet, *source); }
  void on_diagnostic(const Diagnostic& record) override { outputs::write_json(out, record); }

  const Source* source = nullptr;
  TextBuffer out;
};

std::string decoded(DecodeTree& tree, Bytes capture, Recorder& recorder) {
  tree.set_observer(&recorder);
  std::vector<Element> elements(16);
  const auto take = [&] {
    while (const std::size_t count = tree.next(elements))
      for (std::size_t i = 0; i < count; ++i) outputs::write_json(recorder.out, elements[i]);
  };
  EXPECT_TRUE(tree.feed(0, capture));
  take();
  tree.finish();
  take();
  return std::string(recorder.out.view());
}

constexpr std::string_view kJson =
    R"({"type":"packet","index":0,"id":37,"protocol":"STM","bytes":"ff","text":"TOY_SYNC","name":"TOY_SYNC","fields":{}}
{"type":"element","index":0,"id":37,"kind":"no_sync","reason":"start"}
{"type":"packet","index":1,"id":37,"protocol":"STM","bytes":"900201","text":"TOY_TIME : time=130","name":"TOY_TIME","fields":{"time":130}}
{"type":"element","index":1,"id":37,"kind":"timestamp","timestamp":130,"timestamp_text":"130"}
{"type":"packet","index":4,"id":37,"protocol":"STM","bytes":"a31200","text":"TOY_VALUE : channel=3 value=0x12","name":"TOY_VALUE","fields":{"channel":3,"value":"0x12"}}
{"type":"element","index":4,"id":37,"kind":"software_trace","what":"data","master":0,"channel":3,"payload_bits":14,"value":"0x12"}
{"type":"packet","index":7,"id":37,"protocol":"STM","bytes":"85","text":"TOY_EVENT : number=5","name":"TOY_EVENT","fields":{"number":5}}
{"type":"element","index":7,"id":37,"kind":"event","reason":"numbered","number":5}
{"type":"packet","index":8,"id":37,"protocol":"STM","bytes":"07","text":"TOY_RESERVED","name":"TOY_RESERVED","bad":true,"fields":{}}
{"type":"damage","index":8,"id":37,"fault":"invalid_header","severity":"error","stage":"elements","message":"A packet header is reserved."}
{"type":"element","index":8,"id":37,"kind":"end_of_trace","reason":"end"}
)";

TEST(Toy, is_a_source_of_a_tree_and_has_json) {
  const auto registers = [](std::string_view name) -> std::optional<RegisterValue> {
    if (name == "TOYCR") return RegisterValue(0x25);
    return std::nullopt;
  };
  auto source = toy_rows().front().make(registers, {}, nullptr, {});
  ASSERT_TRUE(source);
  Recorder recorder;
  recorder.source = source->get();
  frames::Mux mux;
  ASSERT_TRUE(mux.write(
      0x25, std::vector<std::uint8_t>{0xFF, 0x90, 0x02, 0x01, 0xA3, 0x12, 0x00, 0x85, 0x07}));
  mux.finish();
  DecodeTree tree(frames::Options{});
  ASSERT_TRUE(tree.add(std::move(*source)));
  EXPECT_EQ(decoded(tree, mux.bytes(), recorder), kJson);
}

}  // namespace
}  // namespace waymark::toy
