// Runs every script of tests/scripts: assembles it, decodes its buffers and compares the listing.
// With WAYMARK_REBASE_SCRIPTS set, the results replace the listings in the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/element/text.h"
#include "waymark/image/image.h"
#include "waymark/inputs/trace_script.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::inputs {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Packet, element and operation lines as the listing has them; trc-pkt-lister.md 2.
class Listing final : public Observer {
 public:
  Listing(DecodeTree& tree, ListingMode mode) : tree_(tree), mode_(mode) {}

  void on_packet(const PacketRef& packet) override {
    const bool bytes = mode_ == ListingMode::kMonitor || mode_ == ListingMode::kDecode;
    if (mode_ == ListingMode::kDecodeOnly) return;
    if (bytes ? packet.bytes.empty() : packet.monitor_only) return;
    out_.put("Idx:");
    out_.dec(packet.index);
    out_.put("; ID:");
    out_.hex(packet.trace_id);
    out_.put(';');
    if (bytes) {
      out_.put(" [");
      for (const std::uint8_t byte : packet.bytes) {
        out_.put("0x");
        out_.hex(byte, 2);
        out_.put(' ');
      }
      out_.put("];");
    }
    out_.put('\t');
    tree_.source(packet.trace_id)->write_packet(out_, packet);
    out_.put('\n');
  }

  void on_operation(Operation operation, TraceId id) override {
    if (operation != Operation::kEndOfTrace || mode_ == ListingMode::kDecodeOnly) return;
    out_.put("ID:");
    out_.hex(id);
    out_.put("\tEND OF TRACE DATA\n");
  }

  void drain() {
    std::array<Element, 3> elements;
    while (const std::size_t count = tree_.next(elements))
      for (std::size_t i = 0; i < count; ++i) write_element_line(out_, elements[i]);
  }

  [[nodiscard]] std::string text() const { return std::string(out_.view()); }

 private:
  DecodeTree& tree_;
  ListingMode mode_;
  TextBuffer out_;
};

SourceOptions options_of(const Expectation& expectation) {
  SourceOptions options;
  options.decode =
      expectation.mode == ListingMode::kDecode || expectation.mode == ListingMode::kDecodeOnly;
  const std::map<std::string, std::uint32_t> flags = {
      {"src_addr_n", kSourceAddressNRanges},   {"direct_br_cond", kCheckDirectBranchN},
      {"strict_br_cond", kCheckStrictBranchN}, {"range_cont", kCheckRangeContinuity},
      {"halt_err", kHaltOnBadPackets},         {"aa64_opcode_chk", kA64OpcodeCheck}};
  for (const std::string& word : expectation.options) {
    if (word == "quirks") {
      options.quirks = kReferenceQuirks;
    } else {
      EXPECT_TRUE(flags.contains(word)) << word;
      options.flags |= flags.contains(word) ? flags.at(word) : 0;
    }
  }
  return options;
}

/// DSTREAM records without their footers.
std::vector<std::uint8_t> payload_of(const ScriptBuffer& buffer) {
  if (buffer.format != ScriptFormat::kDstream) return buffer.bytes;
  std::vector<std::uint8_t> payload;
  for (std::size_t i = 0; i < buffer.bytes.size(); ++i)
    if (i % 512 < 504) payload.push_back(buffer.bytes[i]);
  return payload;
}

/// Decodes `block` bytes at a time; 0: all at once.
std::string run(const TraceScript& script, const ScriptBuffer& buffer,
                const Expectation& expectation, std::size_t block) {
  image::Image image;
  for (const ScriptImage& part : script.images)
    EXPECT_TRUE(image.add_buffer(part.address, part.bytes, part.space));
  DecodeTree tree(buffer.formatted() ? std::optional(buffer.frame_options()) : std::nullopt);
  for (const ScriptDevice& device : script.devices) {
    auto source = make_source(device, &image, options_of(expectation));
    EXPECT_TRUE(source) << source.error().detail;
    if (!source) return {};
    EXPECT_TRUE(tree.add(std::move(*source)));
  }
  Listing listing(tree, expectation.mode);
  tree.set_observer(&listing);
  const std::vector<std::uint8_t> bytes = payload_of(buffer);
  if (block == 0) block = std::max<std::size_t>(bytes.size(), 1);
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    const auto part = Bytes(bytes).subspan(at, std::min(block, bytes.size() - at));
    EXPECT_TRUE(tree.feed(at, part));
    listing.drain();
  }
  tree.finish();
  listing.drain();
  return listing.text();
}

/// Replaces the listing that begins at line `line` (counted from 1) by `text`.
void rebase(const std::filesystem::path& path, std::uint32_t line, const std::string& old_text,
            const std::string& text) {
  std::string all = read_text(path);
  std::size_t at = 0;
  for (std::uint32_t i = 1; i < line; ++i) at = all.find('\n', at) + 1;
  all.replace(at, old_text.size(), text);
  std::ofstream(path, std::ios::binary) << all;
}

class ScriptRun : public ::testing::TestWithParam<std::string> {};

TEST_P(ScriptRun, listing_is_as_expected) {
  const std::filesystem::path path = std::filesystem::path(WAYMARK_SCRIPTS_DIR) / GetParam();
  const auto script = assemble_trace_script(read_text(path));
  ASSERT_TRUE(script) << script.error().detail;
  unsigned expectations = 0;
  std::vector<std::pair<Expectation, std::string>> replacements;
  for (const ScriptBuffer& buffer : script->buffers) {
    for (const Expectation& expectation : buffer.expectations) {
      ++expectations;
      const std::string text = run(*script, buffer, expectation, 0);
      if (std::getenv("WAYMARK_REBASE_SCRIPTS") != nullptr) {
        replacements.emplace_back(expectation, text);
        continue;
      }
      EXPECT_EQ(text, expectation.text) << path << ':' << expectation.line;
      // Without unsynchronised bytes, the size of the blocks makes no difference.
      if (text.find("NOT_SYNC") != std::string::npos || text.find("NOTSYNC") != std::string::npos)
        continue;
      // The reference reports each block of STM before its first synchronisation.
      if (options_of(expectation).quirks != 0 && text.find("\tASYNC:") != std::string::npos)
        continue;
      const std::size_t unit = buffer.formatted() ? buffer.frame_options().alignment() : 1;
      for (const std::size_t units : {std::size_t{1}, std::size_t{3}})
        EXPECT_EQ(run(*script, buffer, expectation, unit * units), text) << path;
    }
  }
  std::ranges::reverse(replacements);
  for (const auto& [expectation, text] : replacements)
    rebase(path, expectation.line, expectation.text, text);
  EXPECT_NE(expectations, 0U) << "a script without 'expect' tests nothing";
}

std::vector<std::string> script_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(WAYMARK_SCRIPTS_DIR))
    if (entry.path().extension() == ".trace") names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& script) {
  std::string name = script.param.substr(0, script.param.find('.'));
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scripts, ScriptRun, ::testing::ValuesIn(script_names()), test_name);

}  // namespace
}  // namespace waymark::inputs
