#include "waymark/perf/jitdump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "waymark/base/cut_text.h"
#include "waymark/base/plural.h"

namespace waymark::perf {
namespace {

constexpr std::uint32_t kDumpMagic = 0x4A695444;
constexpr std::uint32_t kSwappedDumpMagic = 0x4454694A;
constexpr std::uint32_t kDumpVersion = 1;
constexpr std::size_t kDumpHeaderSize = 40;
constexpr std::size_t kRecordHeaderSize = 16;
constexpr std::uint64_t kCounterTimes = 1;

enum RecordKind : std::uint32_t { kLoad = 0, kMove = 1, kLines = 2, kClose = 3 };

/// Takes the text up to a zero byte, without it; nothing: there is no zero byte.
std::optional<std::string_view> take_text(Bytes& bytes) {
  const auto end = std::ranges::find(bytes, std::uint8_t{0});
  if (end == bytes.end()) return std::nullopt;
  const auto size = static_cast<std::size_t>(end - bytes.begin());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), size);
  bytes = bytes.subspan(size + 1);
  return text;
}

/// Fills a JitDump, record by record.
class DumpReader {
 public:
  DumpReader(Bytes bytes, JitDump& to) : bytes_(bytes), to_(to) {}

  Result<void> run() {
    WAYMARK_TRY(read_header());
    while (at_ < bytes_.size() && read_record()) continue;
    if (damaged_ != 0) {
      note(fmt::format(
          "{} damaged and {} not used, the first at byte {}. Code is missing where {} loaded.",
          one_or(damaged_, "A record is", fmt::format("{} records are", damaged_)),
          one_or(damaged_, "is", "are"), first_damaged_, one_or(damaged_, "it was", "they were")));
    }
    move_lines();
    return {};
  }

 private:
  Result<void> read_header() {
    if (bytes_.size() < kDumpHeaderSize) {
      return fail(ErrorCode::kBadData,
                  "This is not a jitdump file, or it was cut inside its header.");
    }
    const std::uint32_t magic = Fields(bytes_, ByteOrder::kLittle).u32();
    if (magic != kDumpMagic && magic != kSwappedDumpMagic) {
      return fail(ErrorCode::kBadData,
                  "This is not a jitdump file: it does not begin with \"JiTD\".");
    }
    to_.order = magic == kDumpMagic ? ByteOrder::kLittle : ByteOrder::kBig;
    Fields fields(bytes_, to_.order);
    fields.skip(4);
    const std::uint32_t version = fields.u32();
    if (version != kDumpVersion) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("This jitdump file has the version {}; only version {} can be read.",
                              version, kDumpVersion));
    }
    at_ = fields.u32();
    if (at_ < kDumpHeaderSize || at_ > bytes_.size()) {
      return fail(ErrorCode::kBadData,
                  fmt::format("The header of this jitdump file is damaged: its size is {}.", at_));
    }
    to_.machine = fields.u32();
    fields.skip(4);
    to_.pid = static_cast<std::int32_t>(fields.u32());
    fields.skip(8);
    to_.counter_times = (fields.u64() & kCounterTimes) != 0;
    return {};
  }

  /// False: nothing can be read after it.
  bool read_record() {
    Fields fields(bytes_.subspan(at_), to_.order);
    const std::uint32_t kind = fields.u32();
    const std::uint64_t size = fields.u32();
    const std::uint64_t time = fields.u64();
    const std::size_t rest = bytes_.size() - at_;
    if (fields.overrun() || size > rest) {
      note(
          fmt::format("The file ends inside the record at byte {}: its process was still writing "
                      "it, or was killed. Code that was loaded later is missing.",
                      at_));
      return false;
    }
    if (size < kRecordHeaderSize) {
      note(
          fmt::format("The record at byte {} is damaged: its size is {}. The code after it is "
                      "missing.",
                      at_, size));
      return false;
    }
    const Bytes body =
        bytes_.subspan(at_ + kRecordHeaderSize, static_cast<std::size_t>(size) - kRecordHeaderSize);
    bool good = true;
    if (kind == kLoad) good = read_load(body, time);
    if (kind == kMove) good = read_move(body, time);
    if (kind == kLines) good = read_lines(body);
    if (!good && damaged_++ == 0) first_damaged_ = at_;
    at_ += static_cast<std::size_t>(size);
    return kind != kClose;
  }

  bool read_load(Bytes body, std::uint64_t time) {
    constexpr std::size_t kFixed = 40;
    Fields fields(body, to_.order);
    fields.skip(16);
    JitFunction function;
    function.address = fields.u64();
    const std::uint64_t size = fields.u64();
    function.number = fields.u64();
    auto lines = std::exchange(lines_, {});
    if (fields.overrun()) return false;
    Bytes rest = body.subspan(kFixed);
    const auto name = take_text(rest);
    if (!name || size > rest.size()) return false;
    if (size == 0) return true;  // A function without code.
    if (size - 1 > ~std::uint64_t{0} - function.address) return false;
    function.name = cut_text(*name, kLongestName);
    // The code is the last part of the record.
    function.code = rest.last(static_cast<std::size_t>(size));
    if (lines && lines->first == function.address) function.lines = std::move(lines->second);
    last_of_[function.number] = to_.functions.size();
    to_.placements.push_back({time, to_.functions.size(), function.address});
    to_.functions.push_back(std::move(function));
    return true;
  }

  bool read_move(Bytes body, std::uint64_t time) {
    Fields fields(body, to_.order);
    fields.skip(24);
    const std::uint64_t address = fields.u64();
    const std::uint64_t size = fields.u64();
    const auto function = last_of_.find(fields.u64());
    if (fields.overrun() || function == last_of_.end()) return false;
    if (size != to_.functions[function->second].code.size()) return false;
    if (size - 1 > ~std::uint64_t{0} - address) return false;
    to_.placements.push_back({time, function->second, address});
    return true;
  }

  bool read_lines(Bytes body) {
    constexpr std::size_t kFixed = 16;
    constexpr std::size_t kEntry = 16;
    Fields fields(body, to_.order);
    const std::uint64_t code_address = fields.u64();
    const std::uint64_t count = fields.u64();
    lines_.reset();
    if (fields.overrun()) return false;
    program::SourceLines lines;
    std::map<std::string_view, std::uint32_t> numbers;
    std::optional<std::uint32_t> before;
    Bytes rest = body.subspan(kFixed);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (rest.size() < kEntry) return false;
      Fields entry(rest, to_.order);
      program::SourceLines::Line line;
      line.address = entry.u64();
      line.line = entry.u32();
      line.column = entry.u32();
      rest = rest.subspan(kEntry);
      const auto name = take_text(rest);
      if (!name) return false;
      if (*name != "\xFF") {
        const auto [at, added] =
            numbers.try_emplace(*name, static_cast<std::uint32_t>(lines.files.size()));
        if (added) lines.files.push_back(cut_text(*name, kLongestName));
        before = at->second;
      }
      if (!before) return false;
      line.file = *before;
      lines.lines.push_back(line);
    }
    lines_.emplace(code_address, std::move(lines));
    return true;
  }

  /// V8 adds the size of an ELF header to the addresses of lines, for the files that perf inject
  /// makes of the code.  This shows where such an address is beyond the end of its code.
  void move_lines() {
    constexpr std::uint64_t kElfHeader = 0x40;
    bool beyond = false;
    for (const JitFunction& function : to_.functions) {
      for (const auto& line : function.lines.lines) {
        const std::uint64_t offset = line.address - function.address;
        if (offset < kElfHeader || offset - kElfHeader >= function.code.size()) return;
        beyond |= offset >= function.code.size();
      }
    }
    if (!beyond) return;
    for (JitFunction& function : to_.functions)
      for (auto& line : function.lines.lines) line.address -= kElfHeader;
  }

  void note(std::string text) { to_.notes.push_back({Severity::kWarning, std::move(text)}); }

  Bytes bytes_;
  JitDump& to_;
  std::size_t at_ = 0;
  std::uint64_t damaged_ = 0;
  std::size_t first_damaged_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> last_of_;  ///< By the number of the function.
  /// The lines of the next function, with the address of its code.
  std::optional<std::pair<std::uint64_t, program::SourceLines>> lines_;
};

}  // namespace

Result<JitDump> JitDump::read(Bytes bytes) {
  JitDump dump;
  WAYMARK_TRY(DumpReader(bytes, dump).run());
  return dump;
}

bool is_jitdump(const std::string& path) {
  constexpr std::string_view kStart = "jit-";
  std::string_view name = path;
  name.remove_prefix(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
  if (!name.starts_with(kStart) || !name.ends_with(".dump")) return false;
  name.remove_prefix(kStart.size());
  return name.front() >= '0' && name.front() <= '9';
}

}  // namespace waymark::perf
