#include "waymark/exports/table.h"

#include <algorithm>

#include "waymark/exports/afl.h"
#include "waymark/exports/block_counts.h"
#include "waymark/exports/branch_profiles.h"
#include "waymark/exports/cobertura.h"
#include "waymark/exports/database.h"
#include "waymark/exports/findings.h"
#include "waymark/exports/lcov.h"
#include "waymark/exports/llvm_sample.h"
#include "waymark/exports/vcd.h"

namespace waymark::exports {
namespace {

constexpr Format kFormats[] = {
    {.name = "counts",
     .purpose = "tables: how often each block of each program was executed, as CSV",
     .readers = "spreadsheets, databases, your own programs",
     .suffix = ".csv",
     .write_profile = write_block_counts,
     .any_program = true},
    {.name = "autofdo",
     .purpose = "AutoFDO with Clang or GCC",
     .readers = "create_llvm_prof, create_gcov",
     .suffix = ".afdo.txt",
     .write_program = write_autofdo,
     .most_dwarf = 4},
    {.name = "llvm-unsymbolized",
     .purpose = "AutoFDO with Clang",
     .readers = "llvm-profgen --unsymbolized-profile",
     .suffix = ".prof.txt",
     .write_program = write_llvm_unsymbolized},
    {.name = "llvm-sample",
     .purpose = "AutoFDO with Clang, without other tools",
     .readers = "clang -fprofile-sample-use, llvm-profdata",
     .suffix = ".llvm.prof",
     .write_program = write_llvm_sample,
     .needs_names = true},
    {.name = "llvm-sample-binary",
     .purpose = "AutoFDO with Clang, in a small binary form",
     .readers = "clang -fprofile-sample-use, llvm-profdata",
     .suffix = ".llvm.profdata",
     .write_program = write_llvm_sample_binary,
     .needs_names = true},
    {.name = "bolt",
     .purpose = "a faster layout of a program with BOLT",
     .readers = "perf2bolt --pa",
     .suffix = ".bolt.txt",
     .write_program = write_bolt},
    {.name = "lcov",
     .purpose = "coverage reports: lines, functions and branches",
     .readers = "lcov, genhtml and others",
     .suffix = ".info",
     .write_profile = write_lcov,
     .needs_names = true},
    {.name = "cobertura",
     .purpose = "coverage reports in CI servers",
     .readers = "Jenkins, GitLab, Azure DevOps",
     .suffix = ".xml",
     .write_profile = write_cobertura,
     .needs_names = true},
    {.name = "afl",
     .purpose = "coverage-guided fuzzing: edges and their counts, as text",
     .readers = "programs that read the text of afl-showmap",
     .suffix = ".afl.txt",
     .write_profile = write_afl},
    {.name = "afl-map",
     .purpose = "coverage-guided fuzzing: edges as a map of 64 KiB",
     .readers = "programs that read the map of afl-fuzz",
     .suffix = ".afl.map",
     .write_profile = write_afl_map},
    {.name = "branch-list",
     .purpose = "profiles that are made later, on a machine that has the programs",
     .readers = "simpleperf inject, profcollectd, waymark export",
     .suffix = ".branches",
     .write_branches = written_branch_list},
    {.name = "sqlite",
     .purpose = "queries: counts, calls, lines, exceptions and messages as tables",
     .readers = "sqlite3 and other programs that read SQLite databases",
     .suffix = ".sqlite",
     .make_database = make_database},
    {.name = "parquet",
     .purpose = "queries over many captures: elements, calls, counts and messages as tables",
     .readers = "DuckDB, Spark, ClickHouse, pandas and other programs that read Apache Parquet",
     .suffix = ".parquet",
     .is_tables = true},
    {.name = "findings",
     .purpose = "what looks wrong with each of many captures, as JSON",
     .readers = "jq, CI servers, your own programs",
     .suffix = ".json",
     .write_findings = write_findings},
    {.name = "findings-csv",
     .purpose = "what looks wrong with each of many captures, as CSV",
     .readers = "spreadsheets, databases, your own programs",
     .suffix = ".csv",
     .write_findings = write_findings_csv},
    {.name = "vcd",
     .purpose = "waveforms of exceptions, events, ports and data values",
     .readers = "GTKWave, Surfer and other waveform viewers",
     .suffix = ".vcd",
     .make_events = make_vcd},
    {.name = "folded",
     .purpose = "flame graphs",
     .readers = "flamegraph.pl, inferno, speedscope",
     .suffix = ".folded",
     .write_tree = write_folded,
     .stacks = {.wants_roots = true}},
    {.name = "callgrind",
     .purpose = "calls and costs by source line",
     .readers = "KCachegrind, callgrind_annotate",
     .suffix = ".callgrind",
     .write_tree = write_callgrind,
     .stacks = {.wants_lines = true}},
    {.name = "pprof",
     .purpose = "graphs and tables of calls",
     .readers = "pprof",
     .suffix = ".pb.gz",
     .write_tree = write_pprof,
     .stacks = {.wants_lines = true}},
    {.name = "speedscope",
     .purpose = "flame graphs and short timelines",
     .readers = "speedscope",
     .suffix = ".speedscope.json",
     .make_timeline = make_speedscope,
     .stacks = {.tracks_apart = true}},
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
  // What people call the result.
  if (name == "flamegraph") name = "folded";
  const auto* const found = std::ranges::find(kFormats, name, &Format::name);
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace waymark::exports
