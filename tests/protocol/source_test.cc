#include "waymark/protocol/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/decoded.h"
#include "support/decoder_bench.h"
#include "waymark/etmv4/source.h"

namespace waymark {
namespace {

using support::Decoded;
using support::DecoderBench;
using testing::HasSubstr;

class EtmSource : public testing::Test, protected DecoderBench {
 protected:
  EtmSource() { program({0xD503201F, 0x54000040, 0x94000004, 0xD65F03C0}); }

  std::unique_ptr<Source> make() {
    auto made = etmv4::make_source(config, &image, options);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }

  std::vector<std::uint8_t> stream(std::initializer_list<std::uint8_t> bytes) const {
    std::vector<std::uint8_t> all = sync();
    all.insert(all.end(), bytes);
    return all;
  }

  SourceOptions options;
};

TEST_F(EtmSource, names_its_protocol_and_id) {
  config.trctraceidr = 0x17;
  EXPECT_EQ(make()->protocol(), Protocol::kEtmV4);
  EXPECT_EQ(make()->trace_id(), 0x17);
  ete();
  EXPECT_EQ(make()->protocol(), Protocol::kEte);
  EXPECT_EQ(protocol_name(make()->protocol()), "ETE");
}

TEST_F(EtmSource, refuses_with_the_reference_to_decode_data_trace_loads_as_p0_and_conditionals) {
  config.trcidr0 |= 3U << 3;
  options.quirks = kReferenceQuirks;
  for (const auto& [configr, word] :
       {std::pair{1U << 16 | 1U << 1, "data trace"}, {1U << 1, "INSTP0"}, {7U << 8, "COND"}}) {
    config.trcconfigr = configr;
    const auto made = etmv4::make_source(config, &image, options);
    ASSERT_FALSE(made.has_value()) << word;
    EXPECT_EQ(made.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(made.error().detail, HasSubstr(word));
    SourceOptions packets = options;
    packets.decode = false;
    EXPECT_TRUE(etmv4::make_source(config, nullptr, packets).has_value());
  }
}

TEST_F(EtmSource, decodes_data_trace_and_loads_as_p0_but_no_conditionals) {
  config.trcidr0 |= 3U << 3;
  for (const std::uint32_t configr : {1U << 16 | 1U << 1, 1U << 1}) {
    config.trcconfigr = configr;
    EXPECT_TRUE(etmv4::make_source(config, &image, options).has_value());
  }
  config.trcconfigr = 7U << 8;
  EXPECT_FALSE(etmv4::make_source(config, &image, options).has_value());
}

TEST_F(EtmSource, needs_an_image_to_decode) {
  EXPECT_FALSE(etmv4::make_source(config, nullptr, options).has_value());
}

TEST_F(EtmSource, shows_each_packet_before_the_elements_that_it_causes) {
  auto source = make();
  Decoded decoded;
  decoded.source = source.get();
  source->set_observer(&decoded, 0);
  support::feed(*source, 0, stream({0xF6, 0xF7}), 0, 64, decoded.elements);
  source->finish();
  support::take(*source, 64, decoded.elements);
  // NO_SYNC before the trace info; context and range after the first atom; range; end.
  ASSERT_EQ(decoded.packets.size(), 5U);
  EXPECT_EQ(decoded.packets[0].after, 0U);
  EXPECT_EQ(decoded.packets[1].after, 1U);
  EXPECT_EQ(decoded.packets[3].after, 1U);
  EXPECT_EQ(decoded.packets[4].after, 3U);
  ASSERT_EQ(decoded.elements.size(), 5U);
  ASSERT_EQ(decoded.operations.size(), 1U);
  EXPECT_EQ(decoded.operations[0].after, 5U);
  EXPECT_EQ(decoded.operations[0].what, Operation::kEndOfTrace);
}

TEST_F(EtmSource, packets_carry_the_stream_id_and_elements_that_of_the_registers) {
  auto source = make();
  Decoded decoded;
  decoded.source = source.get();
  source->set_observer(&decoded, 0);
  support::feed(*source, 0, stream({0xF6}), 0, 64, decoded.elements);
  EXPECT_EQ(decoded.packets.front().what.trace_id, 0);
  EXPECT_EQ(decoded.elements.front().trace_id, 1);
}

TEST_F(EtmSource, counts_what_it_reads) {
  auto source = make();
  std::vector<Element> elements;
  const auto bytes = stream({0xF6, 0x08, 0xF7});
  support::feed(*source, 0, bytes, 0, 64, elements);
  const SourceStatistics counts = source->statistics();
  EXPECT_EQ(counts.total_bytes, bytes.size());
  EXPECT_EQ(counts.packets, 5U);
  EXPECT_EQ(counts.sync_points, 1U);
  EXPECT_EQ(counts.bad_headers, 1U);
  EXPECT_EQ(counts.diagnostics, 1U);
  EXPECT_EQ(counts.elements, elements.size());
  source->reset_statistics();
  EXPECT_EQ(source->statistics().packets, 0U);
}

TEST_F(EtmSource, packets_only_reports_bad_headers_and_gives_no_elements) {
  options.decode = false;
  auto source = make();
  Decoded decoded;
  decoded.source = source.get();
  source->set_observer(&decoded, 0);
  support::feed(*source, 0, stream({0x08, 0xF7}), 0, 64, decoded.elements);
  EXPECT_TRUE(decoded.elements.empty());
  EXPECT_EQ(decoded.packets.size(), 4U);
  ASSERT_EQ(decoded.diagnostics.size(), 1U);
  EXPECT_EQ(decoded.diagnostics[0].what.fault, Fault::kInvalidHeader);
  EXPECT_EQ(decoded.diagnostics[0].what.index, 24U);
}

TEST_F(EtmSource, bad_packets_can_be_kept_from_the_decoder_and_from_monitors) {
  options.flags = kNoForwardBadPackets | kNoMonitorBadPackets;
  auto source = make();
  Decoded decoded;
  decoded.source = source.get();
  source->set_observer(&decoded, 0);
  support::feed(*source, 0, stream({0xF6, 0x08, 0xF7}), 0, 64, decoded.elements);
  EXPECT_EQ(decoded.packets.size(), 4U);
  EXPECT_TRUE(decoded.diagnostics.empty());
  EXPECT_EQ(decoded.elements.back().kind, ElementKind::kInstrRange);
}

TEST_F(EtmSource, after_a_fatal_error_only_the_end_comes_until_a_reset) {
  options.flags = kHaltOnBadPackets;
  auto source = make();
  Decoded decoded;
  source->set_observer(&decoded, 0);
  const auto bytes = stream({0x08, 0xF7, 0xF7});
  support::feed(*source, 0, bytes, 0, 64, decoded.elements);
  EXPECT_TRUE(source->failed());
  const std::size_t before = decoded.elements.size();
  source->finish();
  support::take(*source, 64, decoded.elements);
  EXPECT_EQ(decoded.elements.size(), before);
  source->reset();
  EXPECT_FALSE(source->failed());
  support::feed(*source, 0, stream({0xF6}), 0, 64, decoded.elements);
  EXPECT_EQ(decoded.elements.back().kind, ElementKind::kInstrRange);
}

TEST_F(EtmSource, withdraw_gives_back_the_rest_of_a_block) {
  auto source = make();
  const auto bytes = stream({0xF6, 0xF7, 0x95, 0x00, 0xF6});
  const frames::Run run{.position = 0, .index = 0};
  source->feed({bytes, {&run, 1}});
  std::vector<Element> elements(2);
  ASSERT_EQ(source->next(elements), 2U);
  const std::size_t used = source->withdraw();
  ASSERT_LE(used, bytes.size());
  support::feed(*source, used, Bytes(bytes).subspan(used), 0, 64, elements);
  std::vector<Element> whole;
  support::feed(*make(), 0, bytes, 0, 64, whole);
  EXPECT_EQ(support::difference(elements, whole), "");
}

TEST_F(EtmSource, a_client_with_callbacks_sees_a_context_before_memory_is_read_under_it) {
  image::Image asked;
  std::vector<Element> elements;
  std::size_t contexts_at_read = 0;
  ASSERT_TRUE(asked.add_callback(
      kBase, kBase + 0xFFF, image::kSpaceAny,
      [&](std::uint64_t, image::SpaceMask, TraceId, std::span<std::uint8_t> out) -> std::size_t {
        contexts_at_read = static_cast<std::size_t>(
            std::ranges::count(elements, ElementKind::kPeContext, &Element::kind));
        constexpr std::uint8_t kRet[] = {0xC0, 0x03, 0x5F, 0xD6};
        std::ranges::copy(kRet, out.begin());
        return 4;
      }));
  auto made = etmv4::make_source(config, &asked, options);
  ASSERT_TRUE(made.has_value());
  support::feed(**made, 0, stream({0xF7}), 0, 64, elements);
  EXPECT_EQ(contexts_at_read, 1U);
  EXPECT_EQ(elements.back().kind, ElementKind::kInstrRange);
}

}  // namespace
}  // namespace waymark
