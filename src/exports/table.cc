#include "waymark/exports/table.h"

#include <algorithm>

#include "waymark/exports/afl.h"
#include "waymark/exports/branch_profiles.h"
#include "waymark/exports/cobertura.h"
#include "waymark/exports/database.h"
#include "waymark/exports/lcov.h"
#include "waymark/exports/llvm_sample.h"
#include "waymark/exports/vcd.h"

namespace waymark::exports {
namespace {

constexpr Format kFormats[] = {
    {.name = "autofdo",
     .purpose = "AutoFDO with Clang or GCC",
     .readers = "create_llvm_prof, create_gcov",
     .suffix = ".afdo.txt",
     .write_program = write_autofdo},
    {.name = "llvm-unsymbolized",
     .purpose = "AutoFDO with Clang",
     .readers = "llvm-profgen --unsymbolized-profile",
     .suffix = ".prof.txt",
     .write_program = write_llvm_unsymbolized},
    {.name = "llvm-sample",
     .purpose = "AutoFDO with Clang, without another tool",
     .readers = "clang -fprofile-sample-use, llvm-profdata",
     .suffix = ".llvm.prof",
     .write_program = write_llvm_sample},
    {.name = "llvm-sample-binary",
     .purpose = "the same in its binary form, which is small and read fast",
     .readers = "clang -fprofile-sample-use, llvm-profdata",
     .suffix = ".llvm.profdata",
     .write_program = write_llvm_sample_binary},
    {.name = "bolt",
     .purpose = "a faster layout of the program by BOLT",
     .readers = "perf2bolt --pa",
     .suffix = ".bolt.txt",
     .write_program = write_bolt},
    {.name = "lcov",
     .purpose = "reports of the lines, functions and branches that were executed",
     .readers = "lcov, genhtml and many others",
     .suffix = ".info",
     .write_profile = write_lcov},
    {.name = "cobertura",
     .purpose = "the same for servers that build and test",
     .readers = "Jenkins, GitLab, Azure DevOps and others",
     .suffix = ".xml",
     .write_profile = write_cobertura},
    {.name = "afl",
     .purpose = "fuzzing guided by coverage: the number and count of each edge",
     .readers = "afl-cmin and what else reads the text of afl-showmap",
     .suffix = ".afl.txt",
     .write_profile = write_afl},
    {.name = "afl-map",
     .purpose = "the same as the map in the memory of a fuzzer, 64 KiB",
     .readers = "afl-fuzz and what else shares its memory",
     .suffix = ".afl.map",
     .write_profile = write_afl_map},
    {.name = "branch-list",
     .purpose = "profiles that are made later, with the programs at hand",
     .readers = "simpleperf inject, profcollectd, waymark export",
     .suffix = ".branches",
     .write_branches = written_branch_list},
    {.name = "sqlite",
     .purpose = "queries: counts, calls, lines, exceptions and messages as tables",
     .readers = "sqlite3 and what else reads its databases",
     .suffix = ".sqlite",
     .make_database = make_database},
    {.name = "vcd",
     .purpose = "waves of exceptions, events, ports and data values",
     .readers = "GTKWave, Surfer and other wave viewers",
     .suffix = ".vcd",
     .make_events = make_vcd},
    {.name = "folded",
     .purpose = "flame graphs",
     .readers = "flamegraph.pl, inferno, speedscope",
     .suffix = ".folded",
     .write_tree = write_folded},
    {.name = "callgrind",
     .purpose = "calls and costs by source line",
     .readers = "KCachegrind, callgrind_annotate",
     .suffix = ".callgrind",
     .write_tree = write_callgrind,
     .wants_lines = true},
    {.name = "pprof",
     .purpose = "graphs and tables of calls",
     .readers = "pprof",
     .suffix = ".pb.gz",
     .write_tree = write_pprof,
     .wants_lines = true},
    {.name = "speedscope",
     .purpose = "flame graphs and short timelines",
     .readers = "speedscope",
     .suffix = ".speedscope.json",
     .make_timeline = make_speedscope,
     .tracks_apart = true},
    {.name = "trace-event",
     .purpose = "timelines",
     .readers = "Perfetto, chrome://tracing, speedscope",
     .suffix = ".trace.json",
     .make_timeline = make_trace_event},
    {.name = "perfetto",
     .purpose = "long timelines, and queries in SQL",
     .readers = "Perfetto, trace_processor",
     .suffix = ".perfetto-trace",
     .make_timeline = make_perfetto},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &Format::name);
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace waymark::exports
