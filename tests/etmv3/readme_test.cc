// The bytes in the README of src/etmv3 are those of the trace scripts that it names, and the
// elements of its worked examples are those that the scripts expect.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../../src/etmv3/header_table.h"
#include "waymark/etmv3/parser.h"
#include "waymark/inputs/trace_script.h"

namespace waymark::etmv3 {
namespace {

constexpr std::string_view kScripts = "`tests/scripts/";

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A block of the README that is also in a script.
struct Example {
  std::string script;
  std::vector<std::uint8_t> bytes;
  std::string elements;  ///< One per line.
};

std::vector<Example> examples() {
  std::vector<Example> found;
  std::istringstream text(read_text(WAYMARK_SOURCE_DIR "/src/etmv3/README.md"));
  bool named = false;  // The next block belongs to the script that was named last.
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(kScripts)) {
      found.push_back({line.substr(kScripts.size(), line.find('`', 1) - kScripts.size()), {}, {}});
      named = true;
    } else if (line == "```" && (named || inside)) {
      inside = named;
      named = false;
    } else if (inside && line.starts_with("    ")) {
      found.back().elements += line.substr(4) + "\n";
    } else if (inside) {
      std::istringstream bytes(line.substr(0, line.find('#')));
      for (std::string byte; bytes >> byte;)
        found.back().bytes.push_back(static_cast<std::uint8_t>(std::stoul(byte, nullptr, 16)));
    }
  }
  return found;
}

/// The data elements of a listing, one per line.
std::string data_elements(const std::string& listing) {
  constexpr std::string_view kPrefix = "WAYMARK_TRC_ELEM_";
  std::istringstream text(listing);
  std::string found;
  for (std::string line; std::getline(text, line);)
    if (const std::size_t at = line.find(kPrefix); at != std::string::npos)
      found += line.substr(at + kPrefix.size()) + "\n";
  return found;
}

std::string hex(Bytes bytes) { return fmt::format("{:02x}", fmt::join(bytes, " ")); }

TEST(Etmv3Readme, examples_are_the_scripts) {
  const std::vector<Example> all = examples();
  EXPECT_EQ(all.size(), 9U);
  for (const Example& example : all) {
    const auto script = inputs::assemble_trace_script(
        read_text(WAYMARK_SOURCE_DIR "/tests/scripts/" + example.script));
    ASSERT_TRUE(script) << example.script << ": " << script.error().detail;
    ASSERT_EQ(script->buffers.size(), 1U) << example.script;
    const inputs::ScriptBuffer& buffer = script->buffers[0];
    // An A-sync and an I-sync come before them.
    ASSERT_GT(buffer.bytes.size(), example.bytes.size()) << example.script;
    EXPECT_EQ(hex(Bytes(buffer.bytes).last(example.bytes.size())), hex(example.bytes))
        << example.script;
    const std::size_t front = buffer.bytes.size() - example.bytes.size();
    EXPECT_EQ(front, example.script.find("data-only") != std::string::npos ? 8U : 12U);
    ASSERT_EQ(buffer.expectations.size(), 1U) << example.script;
    EXPECT_EQ(data_elements(buffer.expectations[0].text), example.elements) << example.script;
  }
}

TEST(Etmv3Readme, examples_have_every_header_of_data) {
  std::set<unsigned> shown;
  for (const Example& example : examples()) {
    const auto script = inputs::assemble_trace_script(
        read_text(WAYMARK_SOURCE_DIR "/tests/scripts/" + example.script));
    ASSERT_TRUE(script);
    Config config;
    for (const auto& [name, value] : script->devices[0].registers)
      if (name == "ETMCR") config.etmcr = value;
    Parser parser(config);
    const Bytes bytes = script->buffers[0].bytes;
    const frames::Run run{.position = 0, .index = 0};
    parser.feed({bytes, {&run, 1}});
    Packet packet;
    while (parser.next(packet))
      if (is_data(packet.type)) shown.insert(packet.header);
  }
  std::set<unsigned> all;
  for (unsigned header = 0; header < 256; ++header)
    if (is_data(kHeaders[header].type)) all.insert(header);
  EXPECT_EQ(shown, all);
}

}  // namespace
}  // namespace waymark::etmv3
