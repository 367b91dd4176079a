#include "jit_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "waymark/perf/writer.h"

namespace waymark::synth {
namespace {

// See waymark/perf/jitdump.h.
constexpr std::uint32_t kDumpMagic = 0x4A695444;
enum RecordKind : std::uint32_t {
  kLoad = 0,
  kMove = 1,
  kLines = 2,
  kClose = 3,
  kUnwind = 4,
  kUnknownKind = 99
};

/// A part of a segment.
struct Part {
  std::uint64_t address = 0;
  Bytes code{};
};

/// The segments, divided where functions begin.
std::vector<Part> parts_of(const Program& program) {
  std::vector<Part> parts;
  for (const Segment& segment : program.segments()) {
    const std::uint64_t end = segment.address + segment.bytes.size();
    std::set<std::uint64_t> starts = {segment.address};
    for (const Place& function : program.functions())
      if (function.address > segment.address && function.address < end)
        starts.insert(function.address);
    for (auto at = starts.begin(); at != starts.end(); ++at) {
      const std::uint64_t next = std::next(at) == starts.end() ? end : *std::next(at);
      parts.push_back(
          {*at,
           Bytes(segment.bytes).subspan(in_memory(*at - segment.address), in_memory(next - *at))});
    }
  }
  return parts;
}

class JitDumpWriter {
 public:
  JitDumpWriter(std::uint32_t pid, perf::ByteOrder order) : pid_(pid), out_(order) {}

  void header(std::uint32_t machine) {
    constexpr std::uint32_t kSize = 40;
    out_.u32(kDumpMagic).u32(1).u32(kSize).u32(machine).u32(0).u32(pid_).words({0, 0});
  }
  void load(std::uint64_t time, std::uint64_t address, std::uint64_t number,
            const std::string& name, Bytes code) {
    perf::ByteWriter body = task();
    body.words({address, address, code.size(), number});
    body.raw({reinterpret_cast<const std::uint8_t*>(name.c_str()), name.size() + 1}).raw(code);
    record(kLoad, time, body.bytes);
  }
  void move(std::uint64_t time, std::uint64_t from, std::uint64_t to, std::uint64_t number,
            std::uint64_t size) {
    record(kMove, time, task().words({to, from, to, size, number}).bytes);
  }
  /// A line for each 8 bytes.
  void lines(std::uint64_t time, std::uint64_t address, std::uint64_t size,
             const std::string& file) {
    perf::ByteWriter body(out_.order());
    body.words({address, (size + 7) / 8});
    for (std::uint64_t i = 0; 8 * i < size; ++i) {
      const std::string name = i == 0 ? file : "\xFF";
      body.u64(address + 8 * i).u32(i + 1).u32(0);
      body.raw({reinterpret_cast<const std::uint8_t*>(name.c_str()), name.size() + 1});
    }
    record(kLines, time, body.bytes);
  }
  void record(RecordKind kind, std::uint64_t time, Bytes body) {
    out_.u32(kind).u32(16 + body.size()).u64(time).raw(body);
  }
  std::vector<std::uint8_t> take() { return std::move(out_.bytes); }

 private:
  [[nodiscard]] perf::ByteWriter task() const {
    perf::ByteWriter body(out_.order());
    body.u32(pid_).u32(pid_);
    return body;
  }

  std::uint32_t pid_;
  perf::ByteWriter out_;
};

}  // namespace

std::vector<std::uint8_t> jitdump_bytes(const Program& program, std::uint32_t pid, JitTimes times,
                                        perf::ByteOrder order) {
  constexpr std::uint32_t kArm = 40;
  constexpr std::uint32_t kAArch64 = 183;
  constexpr std::uint64_t kElsewhere = 0x4000'0000;
  const std::vector<Part> parts = parts_of(program);
  JitDumpWriter out(pid, order);
  out.header(program.uses(isa::Isa::kA64) ? kAArch64 : kArm);
  const auto others = [&](std::uint64_t time, std::string_view name) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i % 3 == 0) continue;
      const std::vector<std::uint8_t> code(parts[i].code.size());
      out.load(time, parts[i].address, parts.size() + i, fmt::format("{}_{}", name, i), code);
    }
  };
  others(times.begin / 4, "old");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [address, code] = parts[i];
    const std::uint64_t first = i % 3 == 2 ? address + kElsewhere : address;
    out.lines(times.begin / 2, first, code.size(), fmt::format("/jit/{}.js", i));
    out.load(times.begin / 2, first, i, fmt::format("jitted_{}", i), code);
  }
  const std::vector<std::uint8_t> nothing(24);  // Sizes of 0.
  out.record(kUnwind, times.begin / 2, nothing);
  out.record(kUnknownKind, times.begin / 2, nothing);
  for (std::size_t i = 2; i < parts.size(); i += 3) {
    const auto& [address, code] = parts[i];
    out.move(times.begin - 1, address + kElsewhere, address, i, code.size());
  }
  others(times.end, "new");
  out.record(kClose, times.end, {});
  return out.take();
}

}  // namespace waymark::synth
