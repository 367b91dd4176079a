// Programs from ELF files.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "waymark/base/mapped_file.h"
#include "waymark/synth/program.h"

namespace waymark::synth {
namespace {

using isa::Isa;

/// Far above any real program.
constexpr std::uint64_t kMaxCode = std::uint64_t{1} << 30;
constexpr std::size_t kMostEntries = 16;

class Reader {
 public:
  Reader(const elf::File& file, MCode m_code)
      : file_(file), arm_(file.machine() == elf::File::kArm), m_code_(m_code) {}

  Result<Program> run() {
    if (!arm_ && file_.machine() != elf::File::kAarch64)
      return unsupported(fmt::format("is for machine {}; AArch64 ({}) and Arm ({}) are supported",
                                     file_.machine(), elf::File::kAarch64, elf::File::kArm));
    if (m_code_ != MCode::kNone && !arm_)
      return unsupported("is not for Arm, as programs of the M profile are");
    if (file_.big_endian()) return unsupported("is big-endian");
    WAYMARK_TRY(add_segments());
    add_functions();
    if (file_.entry() != 0) add_entry(file_.entry());
    for (const Place& place : program_.functions())
      if (program_.entries().size() < kMostEntries) program_.add_entry(place);
    if (program_.entries().empty())
      return unsupported(
          "has neither an entry point nor functions in its symbol table, so execution cannot "
          "start");
    WAYMARK_TRY(m_code_ != MCode::kNone
                    ? program_.add_vectors(m_code_)
                    : program_.add_default_handlers(arm_ ? Isa::kA32 : Isa::kA64));
    return std::move(program_);
  }

 private:
  std::unexpected<Error> unsupported(std::string_view what) const {
    return fail(ErrorCode::kUnsupported, fmt::format("'{}' {}.", file_.path(), what));
  }

  Result<void> add_segments() {
    const Result<MappedFile> whole = MappedFile::open(file_.path());
    if (!whole) return std::unexpected(whole.error());
    std::uint64_t total = 0;
    for (const elf::Segment& segment : file_.segments()) {
      if (!segment.executable) continue;
      total += segment.size;
      if (total > kMaxCode) return unsupported("has more than 1 GiB of code");
      // Dumps in snapshots have an even size, and reading an instruction takes four bytes.
      const std::size_t size = (in_memory(segment.size) + 3) & ~std::size_t{3};
      const Bytes rest =
          whole->bytes().subspan(std::min(in_memory(segment.offset), whole->bytes().size()));
      const Bytes bytes = rest.first(std::min(size, rest.size()));
      std::vector<std::uint8_t> code(bytes.begin(), bytes.end());
      Origin origin;
      if (code.size() == size) origin = {file_.path(), segment.offset};
      code.resize(size);
      WAYMARK_TRY(program_.add_segment(segment.address, std::move(code), std::move(origin)));
    }
    if (program_.segments().empty()) return unsupported("has no executable segment; link it first");
    return {};
  }

  [[nodiscard]] Place place_of(std::uint64_t address) const {
    if (!arm_) return {address, Isa::kA64};
    return {address & ~std::uint64_t{1}, (address & 1) != 0 ? Isa::kT32 : Isa::kA32};
  }
  [[nodiscard]] bool fits(Place place) const {
    return place.address % (place.isa == Isa::kT32 ? 2 : 4) == 0 &&
           program_.segment_at(place.address) != nullptr;
  }
  void add_entry(std::uint64_t address) {
    if (fits(place_of(address))) program_.add_entry(place_of(address));
  }

  void add_functions() {
    std::set<std::pair<std::uint64_t, Isa>> seen;
    for (const elf::Symbol& symbol : file_.symbols()) {
      if (!symbol.function) continue;
      const Place place = place_of(symbol.address);
      if (fits(place) && seen.emplace(place.address, place.isa).second)
        program_.add_function(place);
    }
  }

  const elf::File& file_;
  Program program_;
  bool arm_;
  MCode m_code_;
};

}  // namespace

Result<Program> Program::elf(const std::string& path, MCode m_code) {
  const Result<elf::File> file = elf::File::open(path);
  if (!file) return std::unexpected(file.error());
  return elf(*file, m_code);
}

Result<Program> Program::elf(const elf::File& file, MCode m_code) {
  return Reader(file, m_code).run();
}

}  // namespace waymark::synth
