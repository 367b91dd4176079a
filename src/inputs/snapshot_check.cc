// Checks the files that a snapshot names; snapshot-format.md 3, "Dump semantics".
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "ini_parser.h"
#include "waymark/image/image.h"

namespace waymark::inputs {
namespace {

// A missing or unknown space counts as ANY; an unknown one is a problem.
std::optional<image::SpaceMask> space_mask(const std::string& name) {
  if (name.empty()) return image::kSpaceAny;
  const Result<image::SpaceMask> mask = image::space_by_name(name);
  if (!mask) return std::nullopt;
  return *mask;
}

std::string hex(std::uint64_t value) { return fmt::format("0x{:x}", value); }

// A dump as it is placed in target memory.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t order = 0;  // The order of definition.
  const std::string* path = nullptr;
  const std::string* file = nullptr;  // The device ini.
  std::uint32_t line = 0;
  image::SpaceMask space = image::kSpaceAny;
};

class Checker {
 public:
  Checker(const Snapshot& snapshot, const SnapshotStore& store, std::vector<Problem>& problems)
      : snapshot_(snapshot), store_(store), problems_(problems) {}

  void buffers(const std::string& trace_file) {
    for (const TraceBuffer& buffer : snapshot_.buffers) {
      const std::string path = snapshot_.path_of(buffer.file);
      const std::optional<std::uint64_t> size = store_.file_size(path);
      if (!size) {
        report(ProblemKind::kBufferFileMissing, Severity::kError, trace_file, buffer.line,
               fmt::format("The capture {} cannot be opened; add the file or correct `file=`.",
                           in_quotes(path)),
               {path});
      } else if (*size == 0) {
        report(ProblemKind::kBufferFileEmpty, Severity::kWarning, trace_file, buffer.line,
               fmt::format("The capture {} is empty: nothing was traced into this buffer.",
                           in_quotes(path)),
               {path});
      }
    }
  }

  void dumps() {
    for (const Device& device : snapshot_.devices) {
      const std::string& file = *files_.insert(snapshot_.path_of(device.file)).first;
      for (const Dump& dump : device.dumps) check_dump(file, dump);
    }
    report_overlaps();
  }

 private:
  void report(ProblemKind kind, Severity severity, const std::string& file, std::uint32_t line,
              std::string sentence, std::vector<std::string> values) {
    add_problem(problems_, {kind, severity, file, line, std::move(sentence), std::move(values)});
  }

  void check_dump(const std::string& file, const Dump& dump) {
    const auto [entry, fresh] = sizes_.try_emplace(snapshot_.path_of(dump.file));
    const std::string& path = entry->first;
    if (fresh) entry->second = store_.file_size(path);
    const std::optional<std::uint64_t> size = entry->second;

    const std::optional<image::SpaceMask> space = space_mask(dump.space);
    if (!space) {
      report(
          ProblemKind::kUnknownSpace, Severity::kWarning, file, dump.line,
          fmt::format("Memory space {} is not known and counts as ANY; use EL1S, EL1N, EL2, EL3, "
                      "EL2S, EL1R, EL2R, ROOT, S, N, R or ANY.",
                      in_quotes(dump.space)),
          {dump.space});
    }
    if (!size) {
      report(ProblemKind::kDumpFileMissing, Severity::kError, file, dump.line,
             fmt::format("The memory dump {} cannot be opened, so code in it cannot be followed; "
                         "add the file or correct `file=`.",
                         in_quotes(path)),
             {path});
      return;
    }
    if (dump.offset != 0 && dump.length == 0) {
      report(ProblemKind::kDumpOffsetUnused, Severity::kWarning, file, dump.line,
             fmt::format("`offset` {} has no effect without a `length`; add `length=0x<bytes>`.",
                         hex(dump.offset)),
             {path, hex(dump.offset)});
    }
    // Without a length the whole file counts, rounded down to an even size.
    const std::uint64_t length = dump.length != 0 ? dump.length : (*size & ~std::uint64_t{1});
    if (*size == 0 || length == 0) {
      report(ProblemKind::kDumpFileEmpty, Severity::kWarning, file, dump.line,
             fmt::format("The memory dump {} is empty; remove the section or supply the file.",
                         in_quotes(path)),
             {path});
      return;
    }
    if (dump.length != 0 && (dump.offset > *size || dump.length > *size - dump.offset)) {
      const std::uint64_t needed =
          dump.length > std::numeric_limits<std::uint64_t>::max() - dump.offset
              ? std::numeric_limits<std::uint64_t>::max()
              : dump.offset + dump.length;
      report(ProblemKind::kDumpFileShort, Severity::kError, file, dump.line,
             fmt::format("The section asks for {} bytes of {}, which has {}; correct `length` and "
                         "`offset`.",
                         needed, in_quotes(path), *size),
             {path, std::to_string(needed), std::to_string(*size)});
      return;
    }
    std::uint64_t last = dump.address + (length - 1);
    if (last < dump.address) {
      report(ProblemKind::kDumpWraps, Severity::kError, file, dump.line,
             fmt::format("{} bytes from address {} go past the end of the address space; correct "
                         "`address`.",
                         length, hex(dump.address)),
             {path, hex(dump.address), hex(length)});
      last = std::numeric_limits<std::uint64_t>::max();
    }
    // Cores that share memory name the same dump, which is not reported.  Within one core it is.
    const auto [start, first_time] = starts_.emplace(std::pair(&path, dump.address), &file);
    if (!first_time) {
      if (start->second == &file) {
        report(ProblemKind::kDumpRepeated, Severity::kInfo, file, dump.line,
               fmt::format("{} is already at address {}; this section adds nothing.",
                           in_quotes(path), hex(dump.address)),
               {path, hex(dump.address)});
      }
      return;
    }
    ranges_.push_back({.first = dump.address,
                       .last = last,
                       .order = ranges_.size(),
                       .path = &path,
                       .file = &file,
                       .line = dump.line,
                       .space = space.value_or(image::kSpaceAny)});
  }

  // One sweep over the ranges by start.  `reach` holds for each set of spaces the range that
  // reaches furthest: those in other spaces may overlap.  Each range is compared only with those,
  // so that many overlaps cost no more than one.
  void report_overlaps() {
    std::ranges::sort(ranges_, {}, [](const Range& r) { return std::pair(r.first, r.order); });
    std::map<image::SpaceMask, const Range*> reach;
    for (const Range& range : ranges_) {
      const Range*& furthest = reach[range.space];
      const Range* const other = furthest;
      if (furthest == nullptr || furthest->last < range.last) furthest = &range;
      if (other != nullptr && other->last >= range.first) report_overlap(range, *other);
    }
  }

  void report_overlap(const Range& a, const Range& b) {
    const Range& later = a.order > b.order ? a : b;
    const Range& earlier = a.order > b.order ? b : a;
    report(ProblemKind::kDumpOverlap, Severity::kError, *later.file, later.line,
           fmt::format("{} at {}..{} overlaps {} at {}..{} ({}), so one of them is refused; "
                       "correct `address` or `length`, or give them different spaces.",
                       in_quotes(*later.path), hex(later.first), hex(later.last),
                       in_quotes(*earlier.path), hex(earlier.first), hex(earlier.last),
                       ini_place(*earlier.file, earlier.line)),
           {*later.path, hex(later.first), *earlier.path, hex(earlier.first)});
  }

  const Snapshot& snapshot_;
  const SnapshotStore& store_;
  std::vector<Problem>& problems_;
  std::set<std::string> files_;
  std::map<std::string, std::optional<std::uint64_t>> sizes_;
  std::map<std::pair<const std::string*, std::uint64_t>, const std::string*> starts_;
  std::vector<Range> ranges_;
};

}  // namespace

void check_files(const std::string& trace_file, const Snapshot& snapshot,
                 const SnapshotStore& store, std::vector<Problem>& problems) {
  Checker checker(snapshot, store, problems);
  checker.buffers(trace_file);
  checker.dumps();
}

}  // namespace waymark::inputs
