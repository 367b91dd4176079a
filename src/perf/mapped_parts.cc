#include "mapped_parts.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "waymark/perf/jitted_code.h"
#include "waymark/program/kernel.h"

namespace waymark::perf {
namespace {

constexpr std::string_view kKernelName = "[kernel.kallsyms]";
/// perf appends the process of the virtual machine.
constexpr std::string_view kGuestName = "[guest.kernel.kallsyms";

std::vector<std::uint8_t> recorded_id(const Recording& recording, std::string_view path) {
  const auto named = std::ranges::find(recording.build_ids, path, &BuildId::path);
  return named == recording.build_ids.end() ? std::vector<std::uint8_t>() : named->id;
}

const ProgramFile* find_file(const Mapping& mapping, const Recording& recording,
                             ProgramFiles& files) {
  if (!mapping.build_id.empty()) return files.find(mapping.path, mapping.build_id);
  return files.find(mapping.path, recorded_id(recording, mapping.path));
}

/// Finds the files of ranges.
class PartFinder {
 public:
  PartFinder(const Recording& recording, ProgramFiles& files)
      : recording_(recording), files_(files) {}

  std::vector<MappedPart> parts_of(const std::vector<MappedRange>& ranges) {
    for (const MappedRange& range : ranges) {
      if (!range.mapping->executable) continue;
      if (range.mapping->jitted) {
        add_jitted(range);
        continue;
      }
      if (range.mapping->path.starts_with(kGuestName)) {
        add_kernel(range, files_.guest_kernel(), files_.guest_names());
        continue;
      }
      if (range.mapping->in_kernel && add_kcore(range)) continue;
      if (range.mapping->path.starts_with(kKernelName)) {
        add_kernel(range, files_.kernel(recorded_id(recording_, kKernelName)),
                   files_.kernel_names());
      } else {
        add_file(range);
      }
    }
    std::ranges::sort(parts_, {}, &MappedPart::first);
    return std::move(parts_);
  }

 private:
  /// The stretch of a file at an address, as far as the range reaches.
  void add(const MappedRange& range, std::uint64_t address, std::uint64_t offset, Bytes bytes,
           const ProgramFile* file, const program::Program* names) {
    if (bytes.empty() || address > range.last) return;
    const std::uint64_t last = address + std::min<std::uint64_t>(bytes.size() - 1, ~address);
    if (last < range.first) return;
    const std::uint64_t skipped = address < range.first ? range.first - address : 0;
    parts_.push_back({.first = address + skipped,
                      .last = std::min(last, range.last),
                      .file_offset = offset + skipped,
                      .bytes = bytes.subspan(static_cast<std::size_t>(skipped)),
                      .mapping = range.mapping,
                      .file = file,
                      .names = names});
  }

  void add_file(const MappedRange& range) {
    const ProgramFile* const file = find_file(*range.mapping, recording_, files_);
    if (file == nullptr) return;
    if (range.mapping->in_kernel) {
      if (const program::ModuleCode* const code = file->module_code()) {
        const std::uint64_t start = range.mapping->address + text_distance(*range.mapping, *file);
        const program::SwitchedCode* const switched = file->switched_code();
        const Bytes bytes =
            switched == nullptr ? Bytes(code->bytes) : switched->from(code->file_offset);
        add(range, start, code->file_offset, bytes, file, nullptr);
        return;
      }
    }
    const Bytes bytes = file->bytes();
    if (range.file_offset >= bytes.size()) return;
    add(range, range.first, range.file_offset,
        bytes.subspan(static_cast<std::size_t>(range.file_offset)), file, nullptr);
  }

  void add_jitted(const MappedRange& range) {
    const JittedFunction& function = *range.mapping->jitted;
    const std::uint64_t address = range.mapping->address;
    const std::size_t before = parts_.size();
    add(range, address, function.file_offset(), function.code(), &function.file(),
        function.program());
    if (parts_.size() != before) parts_.back().names_bias = address - function.address();
  }

  /// perf maps a module from its code on, simpleperf all of it.
  [[nodiscard]] std::uint64_t text_distance(const Mapping& mapping, const ProgramFile& file) const {
    if (!recording_.simpleperf) return 0;
    const auto known = recording_.module_offsets.find(mapping.path);
    if (known != recording_.module_offsets.end()) return known->second;
    const program::Program* const program = file.program();
    return program == nullptr ? 0
                              : program->address_of(file.module_code()->file_offset).value_or(0);
  }

  bool add_kcore(const MappedRange& range) {
    const ProgramFile* const kcore = files_.kcore();
    if (kcore == nullptr) return false;
    const std::size_t before = parts_.size();
    for (const program::LoadedPart& part : program::executable_parts(kcore->bytes())) {
      add(range, part.address, part.file_offset,
          kcore->bytes().subspan(static_cast<std::size_t>(part.file_offset),
                                 static_cast<std::size_t>(part.size)),
          kcore, files_.kernel_names());
    }
    return parts_.size() != before;
  }

  void add_kernel(const MappedRange& range, const ProgramFile* file,
                  const program::Program* names) {
    if (file == nullptr) return;
    const Bytes bytes = file->bytes();
    const std::uint64_t slide = slide_of(*range.mapping, bytes, names);
    const program::SwitchedCode* const switched = file->switched_code();
    for (const program::LoadedPart& part : program::executable_parts(bytes)) {
      add(range, part.address + slide, part.file_offset,
          switched != nullptr ? switched->from(part.file_offset)
                              : bytes.subspan(static_cast<std::size_t>(part.file_offset),
                                              static_cast<std::size_t>(part.size)),
          file, names);
    }
  }

  /// How far above its link-time addresses the kernel ran.
  static std::uint64_t slide_of(const Mapping& mapping, Bytes vmlinux,
                                const program::Program* names) {
    // perf writes where the symbol was as the offset in the file, simpleperf as the address.
    std::string symbol = mapping.path.substr(mapping.path.find(']') + 1);
    std::uint64_t ran = mapping.file_offset != 0 ? mapping.file_offset : mapping.address;
    if (symbol.empty()) symbol = "_text";
    if (ran == 0 && names != nullptr) {
      for (const std::string_view name : {"_text", "_stext"}) {
        const auto at = std::ranges::find(names->functions(), name, &program::Function::name);
        if (at == names->functions().end()) continue;
        symbol = name;
        ran = at->start;
        break;
      }
    }
    const auto linked = program::symbol_value(vmlinux, symbol);
    return ran == 0 || !linked ? 0 : ran - *linked;
  }

  const Recording& recording_;
  ProgramFiles& files_;
  std::vector<MappedPart> parts_;
};

}  // namespace

std::vector<MappedPart> mapped_parts(const std::vector<MappedRange>& ranges,
                                     const Recording& recording, ProgramFiles& files) {
  return PartFinder(recording, files).parts_of(ranges);
}

}  // namespace waymark::perf
