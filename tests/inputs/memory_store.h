// Snapshots for tests without a disk.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "waymark/inputs/snapshot.h"

namespace waymark::inputs {

/// Files by name; dumps and captures by size.  All are in the folder "s/".
struct MemoryStore {
  std::map<std::string, std::string> texts;
  std::map<std::string, std::uint64_t> sizes;
  std::vector<Problem> problems;

  Result<Snapshot> read() {
    problems.clear();
    const SnapshotStore store{[this](const std::string& path) -> Result<std::string> {
                                const auto at = texts.find(path.substr(2));
                                if (at == texts.end()) return fail(ErrorCode::kNotFound, "absent");
                                return at->second;
                              },
                              [this](const std::string& path) -> std::optional<std::uint64_t> {
                                const auto at = sizes.find(path.substr(2));
                                if (at == sizes.end()) return std::nullopt;
                                return at->second;
                              }};
    return read_snapshot("s/", store, problems);
  }

  /// The detail of the error that reading gives, empty if it gives none.
  std::string error() {
    const Result<Snapshot> result = read();
    return result ? std::string() : result.error().detail;
  }

  const Problem* find(ProblemKind kind) const {
    const auto at = std::ranges::find(problems, kind, &Problem::kind);
    return at == problems.end() ? nullptr : &*at;
  }
};

/// A sound snapshot of one core, one trace source and one buffer.
inline MemoryStore sound_store() {
  return {.texts = {{"snapshot.ini",
                     "[snapshot]\nversion=1.0\n[device_list]\nd0=cpu_0.ini\nd1=etm_0.ini\n"
                     "[trace]\nmetadata=trace.ini\n"},
                    {"cpu_0.ini",
                     "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n"
                     "[dump1]\nfile=code.bin\naddress=0x1000\n"},
                    {"etm_0.ini",
                     "[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4.2\n"
                     "[regs]\nTRCTRACEIDR(0x010)=0x10\n"},
                    {"trace.ini",
                     "[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB_0\nfile=t.bin\n"
                     "format=coresight\n[source_buffers]\nETM_0=ETB_0\n"
                     "[core_trace_sources]\ncpu_0=ETM_0\n"}},
          .sizes = {{"code.bin", 0x100}, {"t.bin", 64}},
          .problems = {}};
}

}  // namespace waymark::inputs
