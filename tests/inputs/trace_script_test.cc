#include "waymark/inputs/trace_script.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "waymark/etmv4/fields.h"
#include "waymark/frames/demux.h"

namespace waymark::inputs {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr std::string_view kHead =
    "waymark-trace 1\n"
    "device etm ETM4 Cortex-A53\n"
    "reg TRCCONFIGR=0xC1 TRCTRACEIDR=0x10 TRCIDR0=0x28000EA1 TRCIDR1=0x4100F453 TRCIDR2=0x1088\n";

TraceScript assembled(std::string_view body) {
  auto script = assemble_trace_script(std::string(kHead) + std::string(body));
  EXPECT_TRUE(script) << script.error().detail;
  return script ? std::move(*script) : TraceScript{};
}

std::vector<std::uint8_t> bytes_of(std::string_view body) {
  TraceScript script = assembled(body);
  EXPECT_EQ(script.buffers.size(), 1U);
  return script.buffers.empty() ? std::vector<std::uint8_t>{} : script.buffers[0].bytes;
}

std::string error_of(std::string_view text) {
  const auto script = assemble_trace_script(text);
  return script ? "none" : script.error().detail;
}

/// The error of a line after the header; its number is 4.
std::string error_in(std::string_view body) {
  return error_of(std::string(kHead) + std::string(body));
}

TEST(TraceScript, packets_become_bytes) {
  EXPECT_THAT(bytes_of("trace_info info=0 cc_threshold=0x16\natom_f3 ENE\n"),
              ElementsAre(0x01, 0x09, 0x00, 0x16, 0xFD));
  EXPECT_THAT(bytes_of("address64 is=0 value=0x80000"),
              ElementsAre(0x9D, 0x00, 0x00, 0x08, 0, 0, 0, 0, 0));
  EXPECT_THAT(bytes_of("bytes 0x00 05 0xff"), ElementsAre(0x00, 0x05, 0xFF));
}

TEST(TraceScript, exceptions_of_the_m_profile_have_names) {
  const auto bytes = [](std::string_view core, std::string_view device, std::string_view packet) {
    const auto script =
        assemble_trace_script(fmt::format("waymark-trace 1\n{}\n{}\n", device, packet), {}, core);
    return script ? script->buffers[0].bytes : std::vector<std::uint8_t>{};
  };
  constexpr std::string_view kEtmV4 =
      "device etm ETM4\nreg TRCCONFIGR=1 TRCTRACEIDR=0x10 TRCIDR0=0xE1 TRCIDR2=4";
  EXPECT_THAT(bytes("Cortex-M33", kEtmV4, "exception type=SysTick e1e0=1"),
              ElementsAre(0x06, 0x1F));
  EXPECT_THAT(bytes("Cortex-M33", kEtmV4, "exception type=IRQ8"), ElementsAre(0x06, 0x90, 0x10));
  EXPECT_THAT(bytes("Cortex-A53", kEtmV4, "exception type=SysTick"), ElementsAre());
  EXPECT_THAT(bytes("", kEtmV4, "exception type=1"), ElementsAre());
  constexpr std::string_view kEtmV3 =
      "device etm ETM3 Cortex-A7\nreg ETMIDR=0x4114F250 ETMCR=0 ETMTRACEIDR=0x10";
  EXPECT_THAT(bytes("Cortex-M4", kEtmV3, "branch value=0x1028 isa=t32 bits=13 exception=IRQ0"),
              ElementsAre(0xA9, 0x60, 0x10));
  EXPECT_THAT(bytes("", kEtmV3, "branch value=0x1028 isa=t32 bits=13 exception=IRQ0"),
              ElementsAre());
}

TEST(TraceScript, a_lone_value_is_the_only_field_or_the_atoms) {
  EXPECT_THAT(bytes_of("commit 5; event 0xf; cancel_f3 E cancel=3"),
              ElementsAre(0x2D, 0x05, 0x7F, 0x3B));
  EXPECT_THAT(error_in("timestamp 5"), HasSubstr("line 4: The fields of timestamp need names"));
}

TEST(TraceScript, atoms_choose_their_formats) {
  EXPECT_THAT(bytes_of("atoms EEEENE"), ElementsAre(0xE1, 0xF7));
  const std::vector<std::uint8_t> many = bytes_of("atoms " + std::string(50, 'E'));
  EXPECT_THAT(many, ElementsAre(0xD4, 0xD4, 0xDB));
}

TEST(TraceScript, short_addresses_are_as_short_as_their_value) {
  EXPECT_THAT(bytes_of("address_short value=0x2ebc; address_short value=0xf4"),
              ElementsAre(0x95, 0xAF, 0x17, 0x95, 0x3D));
  EXPECT_THAT(bytes_of("address_short value=0xf4 bits=17"), ElementsAre(0x95, 0xBD, 0x00));
}

TEST(TraceScript, every_packet_can_be_named) {
  for (const std::string_view keyword : etmv4::packet_keywords()) {
    std::string line(keyword);
    const etmv4::Packet packet = etmv4::packet_of_keyword(keyword).value();
    if (keyword.starts_with("atom_")) {
      constexpr std::string_view kAtoms[] = {"E", "EN", "ENE", "NEEE", "NNNNN", "EEEE"};
      line += " " + std::string(kAtoms[keyword.back() - '1']);
    }
    if (keyword == "event" || keyword.starts_with("cycle_count_f"))
      line += packet.type == etmv4::PacketType::kEvent ? " 1" : " commit=1";
    if (keyword == "cancel_f3") line += " cancel=2";
    if (keyword == "exception") line += " type=2";
    EXPECT_FALSE(bytes_of(line).empty()) << line;
  }
}

TEST(TraceScript, repetition_nests_and_fits_on_a_line) {
  EXPECT_THAT(bytes_of("repeat 2 { ignore; repeat 2 { trace_on } }\n"),
              ElementsAre(0x70, 0x04, 0x04, 0x70, 0x04, 0x04));
  EXPECT_THAT(bytes_of("repeat 0 { trace_on }\nignore"), ElementsAre(0x70));
  EXPECT_THAT(bytes_of("repeat 2 {\n  trace_on  # comment }\n}\n"), ElementsAre(0x04, 0x04));
}

TEST(TraceScript, devices_registers_and_description) {
  const TraceScript script = assembled("description  Two words # no part of it\ntrace_on");
  EXPECT_EQ(script.description, "Two words");
  ASSERT_EQ(script.devices.size(), 1U);
  EXPECT_EQ(script.devices[0].trace_id, 0x10);
  EXPECT_EQ(script.devices[0].registers.size(), 5U);
  const image::Image image;
  const auto source = make_source(script.devices[0], &image, {});
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->protocol(), Protocol::kEtmV4);
  EXPECT_EQ((*source)->trace_id(), 0x10);
  ScriptDevice device = script.devices[0];
  device.registers.pop_back();
  EXPECT_EQ(make_source(device, &image, {}).error().code, ErrorCode::kInvalidArgument);
  device = script.devices[0];
  device.core = "no such core";
  EXPECT_EQ(make_source(device, &image, {}).error().code, ErrorCode::kNotFound);
  device = script.devices[0];
  device.protocol = "ETM";
  EXPECT_EQ(make_source(device, &image, {}).error().code, ErrorCode::kUnsupported);
}

TEST(TraceScript, image_units_are_little_endian) {
  const TraceScript script =
      assembled("image 0x80000 hex d65f03c0 4770 ff\nimage 4096 space=EL1N file a.bin\ntrace_on");
  ASSERT_EQ(script.images.size(), 2U);
  EXPECT_EQ(script.images[0].address, 0x80000U);
  EXPECT_THAT(script.images[0].bytes, ElementsAre(0xC0, 0x03, 0x5F, 0xD6, 0x70, 0x47, 0xFF));
  EXPECT_EQ(script.images[1].file, "a.bin");
  EXPECT_EQ(script.images[1].space, image::kSpaceEl1N);
}

TEST(TraceScript, expected_listings_are_kept_verbatim) {
  const TraceScript script = assembled(
      "trace_on\nexpect packets\n  Idx:0; # no comment \nend\nexpect decode src_addr_n "
      "quirks\nend\n");
  ASSERT_EQ(script.buffers.size(), 1U);
  const auto& expectations = script.buffers[0].expectations;
  ASSERT_EQ(expectations.size(), 2U);
  EXPECT_EQ(expectations[0].text, "  Idx:0; # no comment \n");
  EXPECT_EQ(expectations[0].line, 6U);
  EXPECT_EQ(expectations[1].mode, ListingMode::kDecode);
  EXPECT_THAT(expectations[1].options, ElementsAre("src_addr_n", "quirks"));
}

TEST(TraceScript, several_buffers) {
  const TraceScript script = assembled("buffer a raw\ntrace_on\nbuffer b raw\nignore\n");
  ASSERT_EQ(script.buffers.size(), 2U);
  EXPECT_THAT(script.buffers[0].bytes, ElementsAre(0x04));
  EXPECT_THAT(script.buffers[1].bytes, ElementsAre(0x70));
}

constexpr std::string_view kSecondDevice =
    "device two ETE ARM-aa64\nreg TRCCONFIGR=1 TRCTRACEIDR=0x11 TRCIDR0=0 TRCIDR2=0\n";

TEST(TraceScript, sources_are_multiplexed) {
  for (const std::string_view format : {"frames", "fsync", "hsync"}) {
    const TraceScript script =
        assembled(std::string(kSecondDevice) + "buffer a " + std::string(format) +
                  "\nsource etm { bytes 01 02 03 }\nsource two { bytes 04 05 }\nfill\n"
                  "source etm { repeat 20 { bytes 06 } }\n");
    ASSERT_EQ(script.buffers.size(), 1U);
    const ScriptBuffer& buffer = script.buffers[0];
    frames::Demux demux(buffer.frame_options());
    ASSERT_TRUE(demux.feed(0, buffer.bytes));
    std::vector<std::uint8_t> first;
    std::vector<std::uint8_t> second;
    while (demux.step() == frames::Step::kFrame) {
      for (std::size_t i = 0; i < demux.frame().count; ++i) {
        const frames::Segment& segment = demux.frame().segments[i];
        if (segment.id != 0x10 && segment.id != 0x11) continue;
        auto& to = segment.id == 0x10 ? first : second;
        to.insert(to.end(), segment.bytes().begin(), segment.bytes().end());
      }
    }
    std::vector<std::uint8_t> expected = {1, 2, 3};
    expected.resize(23, 6);
    EXPECT_THAT(first, ElementsAreArray(expected)) << format;
    EXPECT_THAT(second, ElementsAre(4, 5)) << format;
  }
}

TEST(TraceScript, dstream_records_have_footers) {
  const TraceScript script = assembled("buffer a dstream\nrepeat 1000 { ignore }\n");
  ASSERT_EQ(script.buffers.size(), 1U);
  EXPECT_GT(script.buffers[0].bytes.size(), 1024U);
  EXPECT_EQ(script.buffers[0].bytes[504], 0);
  EXPECT_EQ(script.buffers[0].bytes[0], 0xFF);
}

TEST(TraceScript, becomes_a_snapshot) {
  const TraceScript script = assembled(
      "image 0x80000 space=EL1N hex d65f03c0\nbuffer a raw\ntrace_on\nbuffer b frames\nignore\n");
  const auto made = to_snapshot(script);
  ASSERT_TRUE(made) << made.error().detail;
  ASSERT_EQ(made->files.size(), 3U);
  EXPECT_EQ(made->snapshot.buffers.size(), 2U);
  const auto texts = snapshot_texts(made->snapshot);
  ASSERT_TRUE(texts) << texts.error().detail;
  std::string all;
  for (const SnapshotText& text : *texts) all += text.text;
  for (const char* const part :
       {"TRCIDR2=0x1088", "type=Cortex-A53", "type=ETM4", "format=source_data", "format=coresight",
        "space=EL1N", "etm_s2", "address=0x80000"})
    EXPECT_THAT(all, HasSubstr(part));
  EXPECT_EQ(to_snapshot(assembled("buffer a hsync\nignore")).error().code, ErrorCode::kUnsupported);
}

TEST(TraceScript, image_files_are_copied_into_the_snapshot) {
  const std::filesystem::path folder = testing::TempDir() + "trace_script_images";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.bin", std::ios::binary) << "abcd";
  const TraceScript script = assembled("image 4096 file a.bin\ntrace_on");
  const auto made = to_snapshot(script, folder.string());
  ASSERT_TRUE(made) << made.error().detail;
  ASSERT_EQ(made->files.size(), 2U);
  EXPECT_EQ(made->files[0].name, "image_0.bin");
  EXPECT_THAT(made->files[0].bytes, ElementsAre('a', 'b', 'c', 'd'));

  const auto missing = to_snapshot(script, (folder / "elsewhere").string());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().detail, HasSubstr(fmt::format("line {}: ", script.images[0].line)));
  std::ofstream(folder / "a.bin", std::ios::trunc).close();
  EXPECT_EQ(to_snapshot(script, folder.string()).error().code, ErrorCode::kBadData);
}

TEST(TraceScript, errors_name_line_and_reason) {
  EXPECT_THAT(error_of(""), HasSubstr("line 1: A script begins"));
  EXPECT_THAT(error_of("waymark-trace 2\n"), HasSubstr("line 1: Only version 1"));
  EXPECT_THAT(error_of("waymark-trace 1\ntrace_on\n"),
              HasSubstr("line 2: A packet needs a device"));
  EXPECT_THAT(error_of("waymark-trace 1\ndevice a ETM4\n"), HasSubstr("line 2: A device needs"));
  EXPECT_THAT(error_of("waymark-trace 1\ndevice a PTM Cortex-A9\ntrace_on\n"),
              HasSubstr("line 2: Trace scripts do not support the protocol 'PTM'"));
  EXPECT_THAT(error_of("waymark-trace 1\ndevice a ETM4 Cortex-A53\ntrace_on\n"),
              HasSubstr("line 2: The device a needs the register TRCCONFIGR"));
  EXPECT_THAT(error_of("waymark-trace 1\nreg A 1\n"),
              HasSubstr("line 2: Registers must come after"));
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"nonsense", "There is no packet named 'nonsense'."},
      {"exception nonsense=1", "has no field 'nonsense'"},
      {"exception type=0x400", "does not fit the field type"},
      {"address64 value=1", "I_ADDR_L_64IS0 cannot be encoded"},
      {"atoms EX", "letters E and N"},
      {"atoms", "letters E and N"},
      {"bytes", "Bytes are missing."},
      {"bytes 100", "'100' is not a byte"},
      {"reg TRCIDR0=1", "The register TRCIDR0 already has a value."},
      {"reg TRCIDR9=0x100000000", "is not a 32-bit register value"},
      {"reg", "A register needs a name"},
      {"reg A=1 B", "'B' is not of the form NAME=VALUE."},
      {"device etm ETE ARM-aa64", "There is already a device 'etm'."},
      {"image", "'image' needs an address"},
      {"image 0 hex", "An image needs an address"},
      {"image 0 hex 123", "'123' is not a unit"},
      {"image 0 hex 0x12", "'0x12' is not a unit"},
      {"image 0 space=EL9 hex 12", "EL9"},
      {"buffer a", "A buffer needs a name and a format"},
      {"buffer a tape", "A buffer needs a name and a format"},
      {"buffer a raw fsync_period=1", "is not an option of this buffer format"},
      {"buffer a fsync fsync_period=0", "is not an option of this buffer format"},
      {"buffer a fsync fsync_period", "is not of the form NAME=NUMBER"},
      {"fill", "is not allowed in this buffer format"},
      {"buffer a fsync\nframe_reset", "is not allowed in this buffer format"},
      {"unattributed 00", "Only buffers with frames"},
      {"repeat 2 {", "The block has no closing '}'."},
      {"}", "'}' has no block to close."},
      {"repeat x { }", "'repeat' needs a number"},
      {"source b { }", "There is no device 'b'."},
      {"loop 2 { }", "A block begins with"},
      {"repeat 1 { buffer a raw }", "'buffer' is not allowed in a block."},
      {"expect decode\nend", "must come after the packets of a buffer"},
      {"trace_on\nexpect\nend", "'expect' needs a mode"},
      {"trace_on\nexpect decode\n", "needs a line 'end'"},
  };
  for (const auto& [body, reason] : cases) {
    const std::string error = error_in(body);
    EXPECT_THAT(error, HasSubstr(reason)) << body;
    EXPECT_TRUE(error.starts_with("line ")) << error;
  }
  EXPECT_THAT(error_in(std::string(kSecondDevice) + "buffer a frames\ntrace_on"),
              HasSubstr("line 7: There are several devices; choose one with 'source NAME {'."));
  EXPECT_THAT(error_in("trace_on\ndevice b ETE ARM-aa64"),
              HasSubstr("line 5: Devices must come before"));
  EXPECT_THAT(error_in("buffer a raw\nbuffer a raw"),
              HasSubstr("line 5: There is already a buffer 'a'"));
}

TEST(TraceScript, bounds_hold) {
  std::string deep;
  for (unsigned i = 0; i < 17; ++i) deep += "repeat 1 {\n";
  for (unsigned i = 0; i < 17; ++i) deep += "}\n";
  const auto nested = assemble_trace_script(std::string(kHead) + deep);
  ASSERT_FALSE(nested);
  EXPECT_EQ(nested.error().code, ErrorCode::kLimit);
  const ScriptLimits limits{.bytes = 10'000, .statements = 20'000};
  const auto endless = assemble_trace_script(
      std::string(kHead) + "repeat 1000000000 { repeat 1000000000 { } }\n", limits);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ErrorCode::kLimit);
  EXPECT_THAT(endless.error().detail, HasSubstr("too many statements"));
  const auto large =
      assemble_trace_script(std::string(kHead) + "repeat 10000000 { async }\n", limits);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kLimit);
  EXPECT_THAT(large.error().detail, HasSubstr("too many bytes"));
  EXPECT_TRUE(assemble_trace_script(std::string(kHead) + "repeat 500 { async }\n", limits));
}

}  // namespace
}  // namespace waymark::inputs
