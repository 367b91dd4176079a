// Inputs of the fuzz targets that no capture is needed for.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corpus.h"
#include "logic/archive.h"
#include "logic/pin_signal.h"
#include "support/kernel_elf.h"
#include "support/random.h"
#include "support/stack_checks.h"
#include "waymark/exports/branch_list.h"
#include "waymark/perf/writer.h"
#include "waymark/profile/profile.h"
#include "waymark/shard/data_files.h"
#include "waymark/shard/event_codec.h"
#include "waymark/shard/part.h"
#include "waymark/shard/plan.h"
#include "waymark/shard/profile_codec.h"
#include "waymark/shard/step_codec.h"
#include "waymark/stacks/recorder.h"

namespace waymark::fuzz {
namespace {

/// Branch lists in all forms, with a program that has a branch at address 0.
void add_branch_lists(Corpus& corpus) {
  exports::BranchList list;
  exports::BranchBits bits;
  for (const bool taken : {true, true, false, true, false}) bits.add(taken);
  list[{.path = "/bin/a", .build_id = "00ff"}][0] = {{bits, 3}};
  list[{.path = "[kernel.kallsyms]",
        .build_id = "",
        .kind = exports::BinaryKind::kKernel,
        .kernel_start = 0x1000}][0x1010] = {{bits, 1}};
  list[{.path = "m.ko", .build_id = "", .kind = exports::BinaryKind::kModule}][1] = {{bits, 2}};
  for (const bool compressed : {false, true}) {
    const auto file = exports::written_branch_list(list, compressed);
    if (!file) continue;
    corpus.add("branch_list_fuzz",
               {reinterpret_cast<const std::uint8_t*>(file->data()), file->size()});
  }
  constexpr std::string_view kOld =
      "\x0a\x18simpleperf:EtmBranchList"
      "\x12\x12\x0a\x01k\x1a\x0b\x08\x10\x12\x07\x0a\x01\x01\x10\x01\x18\x02\x20\x01"
      "\x18\x80\x20";
  corpus.add("branch_list_fuzz", {reinterpret_cast<const std::uint8_t*>(kOld.data()), kOld.size()});
}

/// Elements, as tests/support/stack_checks.h makes them of bytes.
void add_elements(Corpus& corpus) {
  // Calls, returns, an exception and a gap.
  constexpr std::array<std::uint8_t, 64> kElements = {
      1,  0x77, 0, 0,    0, 0,    0, 0, 0,  0, 0, 1,    9, 1,    0, 0,  0,  0x10, 0, 1,    9, 1,
      0,  0,    0, 0x20, 0, 2,    0, 1, 0,  0, 5, 0x22, 0, 14,   0, 16, 0,  0,    0, 0x60, 0, 1,
      26, 1,    0, 0,    0, 0x22, 0, 1, 18, 1, 0, 0,    0, 0x11, 0, 1,  18, 1,    0, 0};
  corpus.add("stacks_fuzz", kElements);
}

/// A kernel and a module with code that is changed in memory.
void add_kernels(Corpus& corpus) {
  using namespace waymark::support;
  ChangedCode kernel;
  kernel.text.assign(0x11, a64::kRet);
  for (const std::size_t nop : {0U, 3U}) kernel.text[nop] = a64::kNop;
  for (const std::size_t branch : {2U, 4U, 5U}) kernel.text[branch] = a64::b(2);
  kernel.replacements = {a64::cbz(1), a64::b(8), a64::adrp(2), a64::tbz(3)};
  const std::uint64_t text = ChangedCode::kText;
  const std::uint64_t replacements = ChangedCode::kReplacements;
  kernel.keys = {{text, text + 16, ChangedCode::kKeys},
                 {text + 8, text + 16, (ChangedCode::kKeys + 16) | 1},
                 {text + 12, text + 4, ChangedCode::kKeys}};
  kernel.alternatives = {{text + 16, replacements, 1, 8, 8},
                         {text + 20, replacements + 8, 2},
                         {text + 8, ChangedCode::kCallbacks, 0x8003, 4, 0}};
  for (const bool named : {false, true}) corpus.add("program_symbols_fuzz", kernel.kernel(named));

  constexpr std::uint32_t kRelative64 = 260;
  constexpr std::uint32_t kRelative32 = 261;
  ElfFile module;
  const std::uint32_t code = module.section(
      ".text", ElfFile::kCode, 0, ElfFile::words({a64::kNop, a64::b(2), a64::kAdd, a64::kRet}));
  const std::uint32_t keys =
      module.section("__jump_table", ElfFile::kData, 0, std::vector<std::uint8_t>(16));
  std::vector<std::uint8_t> patch(8);
  ElfFile::put(patch, 0x04040001, 4);
  const std::uint32_t patches = module.section(".altinstructions", ElfFile::kData, 0, patch);
  const std::uint32_t plain =
      module.section(".altinstr_replacement", ElfFile::kCode, 0, ElfFile::words({a64::kAdd}));
  const std::uint32_t in_code = module.symbol("function", code, 0);
  const std::uint32_t in_plain = module.symbol("", plain, 0);
  const std::uint32_t key = module.symbol("kernel_key", 0, 0);
  module.relocate(keys, 0, kRelative32, in_code, 0);
  module.relocate(keys, 4, kRelative32, in_code, 12);
  module.relocate(keys, 8, kRelative64, key, 1);
  module.relocate(patches, 0, kRelative32, in_code, 4);
  module.relocate(patches, 4, kRelative32, in_plain, 0);
  corpus.add("program_symbols_fuzz", module.bytes(true));
}

/// Every kind of record, in both byte orders and both forms.
void add_records(Corpus& corpus) {
  using namespace waymark::perf;
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    const Stamp stamp{.pid = 7, .tid = 7, .time = 5, .cpu = 1};
    RecordBytes records(order);
    records.units(2).comm(stamp, "sort").comm(stamp, "exec", kMiscExec);
    records.mmap2(stamp, 0x400000, 0x1000, 0, "/usr/bin/sort");
    records.add(RecordType::kMmap, 2,
                records.body().u32(7).u32(7).words({0x5000, 0x1000, 0}).name("/lib"), stamp);
    records.add(RecordType::kFork, 0, records.body().u32(8).u32(7).u32(8).u32(7).u64(6), stamp);
    records.add(RecordType::kExit, 0, records.body().u32(8).u32(7).u32(8).u32(7).u64(9), stamp);
    records.add(RecordType::kItraceStart, 0, records.body().u32(7).u32(7), stamp);
    records.add(RecordType::kSwitch, kMiscSwitchOut, records.body(), stamp);
    records.add(RecordType::kSwitchCpuWide, 0, records.body().u32(7).u32(7), stamp);
    records.aux(stamp, 0, 32).aux(stamp, 32, 32, kAuxTruncated | kAuxRaw);
    const std::vector<std::uint8_t> trace(64);
    const std::vector<std::uint8_t> text = feature_text(order, "6.1.0");
    records.auxtrace(0, trace, 0, kNone32, 1);
    constexpr std::string_view kNames =
        "ffff800008000000 T _text\nffff800008000010 t f\t[module]\n0000000000000000 t hidden\n";
    corpus.add("kallsyms_fuzz",
               {reinterpret_cast<const std::uint8_t*>(kNames.data()), kNames.size()});
    constexpr std::string_view kMap = "1000 100 old code\n0x1040 0x10 new code\nf00 1000 all\n";
    corpus.add("jitdump_fuzz", {reinterpret_cast<const std::uint8_t*>(kMap.data()), kMap.size()});
    corpus.add("perf_data_fuzz", pipe_bytes(records));
    corpus.add("perf_data_fuzz",
               file_bytes(records, {{Feature::kHostname, text}, {Feature::kOsRelease, text}}));
  }
}

/// Calls of the C API that decode a legal stream each, then calls by random bytes.
void add_calls(Corpus& corpus) {
  constexpr std::size_t kSettings = 68;
  constexpr std::uint8_t kLegal = 18;  // The cases in capi_fuzz.
  constexpr std::uint8_t kCustom = 19;
  support::Random random(7);
  for (unsigned i = 0; i < 100; ++i) {
    std::vector<std::uint8_t> input(kSettings);
    for (std::uint8_t& byte : input) byte = random.byte();
    for (unsigned j = 0; j < 1 + i % 3; ++j) {
      input.insert(input.end(), {0, 0, 0, kLegal});
      for (unsigned k = 0; k < 6; ++k) input.push_back(random.byte());
      input.push_back(1);  // All quirks.
      input.push_back(0);
    }
    if (i % 4 == 0) {
      input.insert(input.end(), {0, 0, 0, kCustom, random.byte(), 1, 0, 1, 40, 0});
      for (unsigned k = 0; k < 40; ++k) input.push_back(random.byte());
    }
    for (unsigned j = 0; j < 60; ++j) input.push_back(random.byte());
    corpus.add("capi_fuzz", input);
  }
}

/// Every line of docs/howto/program_etmv4.md.
// Most plans have several lines: no comma is missing between them.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
constexpr std::string_view kPlans[] = {
    "sink tmc_etr0 buffer 4194304\ninclude 0x400000..0x400400\nlevels el0\ntrace-context-id\n"
    "cycles 64\ntimestamps\n",
    "exclude 0x400000+0x40 context-id 5/3 at el0+el1\ntrace-vmid contextidr-el2\nreturn-stack\n"
    "branch-broadcast outside 0x1000/0x100\nstall level 3\nno-overflow\nsync 1024\n",
    "start 0x1000 vmid 2/1\nstop 0x2000\nbegin started\nwhen not counter 0 and external 0\n"
    "branch-broadcast inside 0..0x100\nq-elements counted\nconditional loads\np0 stores\n",
    "start-input 0\nstop-input 1\nbranch-broadcast everywhere\nq-elements all\nconditional all\n"
    "p0 loads-stores\nstall\nstall-priority\ntrace-reset\ntrace-error\nsync never\n",
    "event 0 sequencer 2 and not counter 0\nevent 1 address 0x4005c0, address 0x400610\n"
    "event-output 2 range 0x1000..0x2000\ntimestamps always\ncounter 0 value 100\n"
    "counter 0 reload 50\ncounter 0 self-reload\ncounter 0 count always\n"
    "counter 1 chain\ncounter 1 reload-on single-shot 0\n",
    "sequencer 0 forward context-id 7\nsequencer 0 back vmid 3\nsequencer reset never\n"
    "sequencer state 1\nsingle-shot 0 address 0x1000\nsingle-shot 0 repeat\nevent 0 single-shot "
    "0\n",
    "single-shot 0 range 0x1000..0x1100\nevent 0 single-shot 0 or pe-input 0\n"
    "strobe window 1000 period 100\natb-trigger\nlow-power-override\npe 0\nlevels el0 el1 el2\n",
    "include all\nexclude 0x10..0x20\nlevels s-el0 s-el1 s-el3\ncycles\nwhen address 0x100\n"};
// NOLINTEND(bugprone-suspicious-missing-comma)

void add_texts(Corpus& corpus) {
  // The first byte chooses one of three units.
  for (const std::string unit : {"0", "1", "2"}) {
    for (const std::string_view plan : kPlans)
      corpus.add("etm4x_plan_fuzz", unit + "etm4-plan 1\n" + std::string(plan));
  }
  for (const std::string_view question :
       {"capture", "tracks?cancel=a-b", "health",
        "timeline?from=0&to=1e3&width=1280&tracks=1,2&format=binary", "at?track=1&t=0.5",
        "at?source=16&n=9", "instructions?source=16&n=9&before=5&after=512",
        "step?source=16&n=9&by=same_line&direction=back&count=3", "code?function=7&from=1&to=2",
        "functions?from=1&to=2&limit=50", "callers?function=7", "flame?limit=100", "measure",
        "find?what=text&text=a+%3Cb%3E&source=16&limit=5"}) {
    corpus.add("view_request_fuzz", std::string(question));
    corpus.add("view_http_fuzz",
               "GET /0123/api/1/" + std::string(question) +
                   " HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://localhost:80\r\nRange: "
                   "bytes=0-5\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  }
  corpus.add("syst_lines_fuzz", "\x10SYS-T RAW DATA: 0b000040000b48656c6c6f20776f726c6421\nboot\n");
  corpus.add("syst_collateral_fuzz",
             "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
             "<syst:Collateral xmlns:syst=\"http://www.mipi.org/1.0/sys-t\">\n"
             "<syst:Client Name=\"Probe\"><syst:Guids><syst:Guid ID=\"{494e5443-8a9c-4014-a65a-"
             "2f36a36d96e4}\" Mask=\"{ffffffff-ffff-ffff-ff00-ffffffffffff}\"/></syst:Guids>\n"
             "<syst:Short32><syst:Format ID=\"0x1\">value %d</syst:Format></syst:Short32>\n"
             "<syst:Catalog32><syst:Format ID=\"0x2\"><![CDATA[%s and %x]]></syst:Format>"
             "</syst:Catalog32></syst:Client></syst:Collateral>\n");
  corpus.add(
      "syst_collateral_fuzz",
      "<Collateral><Client Name=\"a\"><Options><Option Name=\"syst:timestamp\">displayAsField"
      "</Option></Options><Builds><Build ID=\"1\" Mask=\"0xff\">b %u</Build></Builds>\n"
      "<Modules><Module ID=\"2\">m</Module></Modules><SourceFiles><File ID=\"3\">f.c</File>"
      "</SourceFiles><Catalog64><Format ID=\"0x123456789\" File=\"3\" Line=\"7\">%p %lld %-5.3f %c"
      "</Format><Format ID=\"0x123456789\">twice</Format></Catalog64>\n"
      "<Short64><Format ID=\"5\">%016llx %%</Format></Short64><Write><Protocol ID=\"6\">raw"
      "</Protocol></Write></Client></Collateral>\n");
  corpus.add("syst_collateral_fuzz",
             "<Collateral><Client><Guids><Guid ID=\"{1}\"/></Guids></Client></Collateral>");
  constexpr std::string_view kProblems[] = {R"(ID="1" Mask="z")", R"(ID="1" File="-")", R"(ID="")",
                                            R"(ID="0x10" Mask="0xf0" Line="9")"};
  for (const std::string_view attributes : kProblems) {
    corpus.add(
        "syst_collateral_fuzz",
        fmt::format("<Collateral><Client Name=\"c\"><Guids><Guid ID=\"{{494e5443-8a9c-4014-a65a-"
                    "2f36a36d96e4}}\"/></Guids><Catalog32><Format {}>x</Format></Catalog32>"
                    "</Client></Collateral>",
                    attributes));
  }
  corpus.add("syst_collateral_fuzz",
             "<Collateral><Client><Catalog32><Format ID=\"0x1ffffffff\" "
             "Line=\"x\">late</Format></Catalog32>"
             "</Client></Collateral>");
}

/// Bytes that only make choices: each of these targets makes something legal of them.
void add_choices(Corpus& corpus) {
  support::Random random(11);
  for (const std::string_view target : {"diff_fuzz", "etm4x_operations_fuzz", "image_fuzz",
                                        "isa_fuzz", "stacks_fuzz", "syst_messages_fuzz"}) {
    for (const std::size_t size : {16U, 64U, 300U, 1000U, 3000U}) {
      std::vector<std::uint8_t> input(size);
      for (std::uint8_t& byte : input) byte = random.byte();
      corpus.add(target, input);
    }
  }
}

/// Memory as debuggers print it and as programmers read it.
void add_memory_texts(Corpus& corpus) {
  corpus.add("debugger_text_fuzz",
             "(gdb) x/4wx 0x20000000\n"
             "0x20000000 <buffer>:\t0x00000102\t0x0000010d\t0x00000102\t0x0000010d\n"
             "(gdb) info registers\nr0  0x1  1\nsp  0x20001000  0x20001000\n");
  corpus.add("debugger_text_fuzz",
             "> mdw 0xf0200000 4\n0xf0200000: 00000028 80000000 00000000 20000000\n");
  corpus.add("debugger_text_fuzz",
             "00000000  02 01 00 00 0d 01 00 00  02 01 00 00 0d 01 00 00  |..|......|.....|\n*\n"
             "00000020  02                                                |.|\n00000021\n");
  corpus.add("debugger_text_fuzz", "J-Link>mem32 20000000, 2\n20000000 = 00000102 0000010D\n");
  corpus.add("memory_records_fuzz",
             ":020000040800F2\n:0400000001020304F2\n:04000400AABBCCDDEA\n:0400000508000101ED\n:"
             "00000001FF\n");
  corpus.add("memory_records_fuzz",
             "S00600004844521B\nS107100001020304DE\nS3090800000001020304E4\nS70508000000F2\n");
}

/// The data that live servers send; the first byte chooses in which pieces it comes.
void add_live_streams(Corpus& corpus) {
  corpus.add("live_unpack_fuzz", std::string_view("\x03\x07\x01\x01\x41\x01\x42\x7A\x00"
                                                  "\x02\x01\x01\x01\x01\x01\x03\x80\x7F\x00",
                                                  19));
  corpus.add("live_unpack_fuzz",
             "\x05type target_trace data 0170ff\x1atype target_state state halted\x1a\x1a");
  for (const std::string_view address :
       {"[::1]:3402?tag=2", "localhost:6666", "10.0.0.1", "host:port", "/dev/ttyUSB0?baud=115200"})
    corpus.add("live_unpack_fuzz", "\x01" + std::string(address));
}

/// Sessions of logic analysers with an asynchronous pin, and with two pins.
void add_sessions(Corpus& corpus) {
  const auto session = [](std::string_view probes, unsigned count, std::string_view samples) {
    logic::testing_archive::Archive archive;
    archive.add("version", "2");
    archive.add("metadata",
                fmt::format("[global]\nsigrok version=0.5.2\n[device 1]\ncapturefile=logic-1\n"
                            "total probes={}\nsamplerate=24 MHz\n{}unitsize=1\n",
                            count, probes));
    archive.add("logic-1-1", samples);
    return archive.bytes();
  };
  logic::testing_signal::Signal signal(12);
  signal.level(true, 4);
  constexpr std::array<std::uint8_t, 11> kTrace = {0,    0,    0,    0,    0,   0x80,
                                                   0x03, 0x41, 0x42, 0x43, 0x44};
  for (const std::uint8_t byte : kTrace) signal.uart(byte);
  std::string samples;
  for (const bool high : signal.samples()) samples += high ? '\1' : '\0';
  corpus.add("logic_session_fuzz", session("probe1=SWO\n", 1, samples));
  corpus.add("logic_session_fuzz",
             session("probe1=CLK\nprobe2=D0\n", 2, std::string_view("\0\1\3\2\0\1\2\3", 8)));
  corpus.add("logic_session_fuzz", samples);
}

/// The files of a job.
void add_jobs(Corpus& corpus) {
  corpus.add("shard_plan_fuzz",
             "what = 'coverage'\nformat = 'cobertura'\ninputs = ['a*', 'b']\nlists = 'list.txt'\n"
             "bytes_per_shard = 500_000\ncheck = 'times'\n[options]\nsymfs = ['x', 'y']\n"
             "debuginfod = true\ntid = 12\n");
  corpus.add("shard_plan_fuzz",
             "what = 'stacks'\ninputs = 'a'\nshards = 4\nslice_bytes = 1_000_000\n");
  const shard::Plan plan{.version = "1",
                         .what = "counts",
                         .format = "counts",
                         .folder = "/a",
                         .options = {"--symfs=x"},
                         .inputs = {{"one", 10, 1}, {"two", 20, 2}},
                         .cuts = {{.input = 1,
                                   .trace = "two/trace.bin",
                                   .trace_bytes = 40,
                                   .slice_bytes = 16,
                                   .id_bytes = {{0x10, 30}},
                                   .digests = {1, 2, 3, 4, 5, 6, 7}}},
                         .shards = {{0, 1}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}}};
  corpus.add("shard_plan_fuzz", shard::text_of(plan));

  const auto program = support::few_functions();
  const auto place_of = [&](const Element& /*element*/, std::uint64_t address) {
    return program::Place{program.get(), address};
  };
  support::Random random(13);
  std::vector<std::uint8_t> choices(8 * 200);
  for (std::uint8_t& byte : choices) byte = random.byte();
  const std::vector<Element> elements = support::elements_of(choices);
  shard::StepWriter steps(true);
  stacks::Recorder recorder(place_of, [&](const stacks::Step& step) { steps.add(step); });
  recorder.observe(elements);
  recorder.finish();
  corpus.add("shard_steps_fuzz", steps.take());
  shard::EventWriter events;
  for (const Element& element : elements) events.add(element);
  corpus.add("shard_part_fuzz", events.take());

  count::Counts counts;
  counts.rows.push_back({.range = {.start = 0x1000,
                                   .end = 0x1008,
                                   .count = 2,
                                   .isa = isa::Isa::kA64,
                                   .last_type = isa::InstrType::kBranch,
                                   .last_size = 4},
                         .executed = 5,
                         .not_executed = 3,
                         .cycles = 7,
                         .target = 0x1000});
  profile::Profile profile;
  profile.add(counts, [](TaskId /*task*/, std::uint64_t address) -> profile::Place {
    return {.path = "program", .address = address};
  });
  const std::string content = shard::encode(profile);
  corpus.add("shard_part_fuzz", content);
  corpus.add("shard_part_fuzz", shard::bytes_of({.shard = 3, .codes = {0, 3}, .content = content}));
  const std::array files = {
      shard::DataFile{.table = "calls", .input = 3, .bytes = 1000, .digest = shard::sha256({})},
      shard::DataFile{.table = "counts", .input = 300}};
  corpus.add("shard_part_fuzz", shard::encode(files));
}

}  // namespace

void add_small_inputs(Corpus& corpus) {
  add_texts(corpus);
  add_memory_texts(corpus);
  add_live_streams(corpus);
  add_sessions(corpus);
  add_calls(corpus);
  add_records(corpus);
  add_branch_lists(corpus);
  add_elements(corpus);
  add_choices(corpus);
  add_jobs(corpus);
  add_kernels(corpus);
}

}  // namespace waymark::fuzz
