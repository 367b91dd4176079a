#include "waymark/syst/message_sorter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <system_error>
#include <tuple>
#include <utility>

namespace waymark::syst {

std::optional<MessageOrder::Time> MessageOrder::time_of(const Record& record) {
  const bool has_transport = record.frame.has_master || record.frame.channel != kNoChannel;
  if (record.time) {
    if (record.time_is_partial()) return std::nullopt;
    return Time{Scale::kTransport, *record.time};
  }
  if (!has_transport && record.message.has_timestamp() && record.message.ok())
    return Time{Scale::kSender, record.message.timestamp};
  if (has_transport && record.nanoseconds) return Time{Scale::kNanoseconds, *record.nanoseconds};
  return std::nullopt;
}

std::uint64_t MessageOrder::add(const Record& record) {
  std::uint64_t& last = last_[record.frame.trace_id];
  const std::optional<Time> time = time_of(record);
  if (!time) return last;
  if (!scale_) scale_ = time->scale;
  if (time->scale != *scale_) return last;
  last = time->value;
  if (last >= greatest_) {
    greatest_ = last;
  } else {
    ++backwards_;
    if (!first_backwards_) first_backwards_ = record.frame.index;
  }
  return last;
}

namespace {

/// The header of each text in the temporary file.
struct SpillHeader {
  std::uint64_t time;
  std::uint64_t size;
};

std::string reason(int number) { return std::generic_category().message(number); }

}  // namespace

/// Sorted runs of texts, one after the other.
class MessageSorter::SpillFile {
 public:
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;
  };

  static Result<std::unique_ptr<SpillFile>> make(const std::string& folder) {
    std::string path = folder + "/waymark-sort-XXXXXX";
    const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) {
      return fail(ErrorCode::kIo,
                  fmt::format("Cannot create a temporary file for sorting in {}: {}. Set TMPDIR to "
                              "a folder that can be written.",
                              folder, reason(errno)));
    }
    static_cast<void>(::unlink(path.c_str()));
    return std::unique_ptr<SpillFile>(new SpillFile(descriptor, folder));
  }

  ~SpillFile() { ::close(descriptor_); }
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  Result<void> append(const SpillHeader& header, const char* text) {
    const auto* const bytes = reinterpret_cast<const char*>(&header);
    pending_.insert(pending_.end(), bytes, bytes + sizeof header);
    pending_.insert(pending_.end(), text, text + header.size);
    return pending_.size() < kPending ? Result<void>() : flush();
  }

  Result<void> end_run() {
    WAYMARK_TRY(flush());
    const std::uint64_t begin = runs_.empty() ? 0 : runs_.back().end;
    runs_.push_back({begin, size_});
    return {};
  }

  /// Reads `size` bytes at `at`, which must all have been written.
  Result<void> read(std::uint64_t at, char* to, std::size_t size) const {
    while (size != 0) {
      const ssize_t got = ::pread(descriptor_, to, size, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        return fail(ErrorCode::kIo,
                    fmt::format("Cannot read the temporary file for sorting in {}: {}.", folder_,
                                got == 0 ? "it is too short" : reason(errno)));
      }
      at += static_cast<std::uint64_t>(got);
      to += got;
      size -= static_cast<std::size_t>(got);
    }
    return {};
  }

 private:
  static constexpr std::size_t kPending = std::size_t{1} << 18;

  SpillFile(int descriptor, std::string folder)
      : descriptor_(descriptor), folder_(std::move(folder)) {}

  Result<void> flush() {
    const char* from = pending_.data();
    std::size_t left = pending_.size();
    while (left != 0) {
      const ssize_t put = ::write(descriptor_, from, left);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) {
        return fail(ErrorCode::kIo,
                    fmt::format("Cannot write the temporary file for sorting in {}: {}. Set TMPDIR "
                                "to a folder with more space.",
                                folder_, reason(errno)));
      }
      from += put;
      left -= static_cast<std::size_t>(put);
      size_ += static_cast<std::uint64_t>(put);
    }
    pending_.clear();
    return {};
  }

  int descriptor_;
  std::string folder_;
  std::vector<char> pending_;
  std::vector<Run> runs_;
  std::uint64_t size_ = 0;
};

namespace {

std::string folder_or_default(std::string folder) {
  if (!folder.empty()) return folder;
  // A program that changes its environment in another thread must not do so during this call.
  const char* const variable = std::getenv("TMPDIR");
  return variable != nullptr && *variable != '\0' ? variable : "/tmp";
}

}  // namespace

MessageSorter::MessageSorter(std::size_t memory, std::string folder)
    : memory_(memory), folder_(folder_or_default(std::move(folder))) {}

MessageSorter::~MessageSorter() = default;

std::uint64_t MessageSorter::spilled() const { return file_ == nullptr ? 0 : file_->size(); }

Result<void> MessageSorter::add(std::uint64_t time, std::string_view text) {
  const std::size_t used = texts_.size() + entries_.size() * sizeof(Entry);
  if (used != 0 && used + text.size() + sizeof(Entry) > memory_) WAYMARK_TRY(spill());
  entries_.push_back({time, texts_.size(), text.size()});
  texts_.insert(texts_.end(), text.begin(), text.end());
  return {};
}

void MessageSorter::sort() {
  std::ranges::sort(entries_, {},
                    [](const Entry& it) { return std::tuple(it.time, it.begin, it.size); });
}

Result<void> MessageSorter::spill() {
  if (file_ == nullptr) {
    auto made = SpillFile::make(folder_);
    if (!made) return std::unexpected(std::move(made).error());
    file_ = *std::move(made);
  }
  sort();
  for (const Entry& entry : entries_)
    WAYMARK_TRY(file_->append({entry.time, entry.size}, texts_.data() + entry.begin));
  WAYMARK_TRY(file_->end_run());
  entries_.clear();
  texts_.clear();
  return {};
}

Result<void> MessageSorter::finish(const std::function<bool(std::string_view)>& take) {
  Result<void> done;
  if (file_ == nullptr) {
    sort();
    for (const Entry& entry : entries_)
      if (!take({texts_.data() + entry.begin, entry.size})) break;
  } else {
    done = spill();
    // Their memory is freed for the buffers of the merge.
    texts_ = {};
    entries_ = {};
    if (done) done = merge(take);
  }
  texts_ = {};
  entries_ = {};
  file_.reset();
  return done;
}

namespace {

/// The part of a run that is in memory.
struct Window {
  std::uint64_t next = 0;  ///< The position in the file of the first byte that was not read.
  std::uint64_t end = 0;   ///< The end of the run in the file.
  std::vector<char> bytes;
  std::size_t at = 0;

  [[nodiscard]] std::size_t left() const { return bytes.size() - at; }
};

}  // namespace

Result<void> MessageSorter::merge(const std::function<bool(std::string_view)>& take) {
  constexpr std::size_t kLeast = 4096;
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const std::vector<SpillFile::Run>& runs = file_->runs();
  const std::size_t chunk = std::clamp(memory_ / runs.size(), kLeast, kMost);
  std::vector<Window> windows(runs.size());

  // Reads until the window holds `size` bytes.  False: the run has ended, and the window is empty.
  const auto fill = [&](Window& window, std::size_t size) -> Result<bool> {
    if (window.left() >= size) return true;
    if (window.left() == 0 && window.next == window.end) return false;
    window.bytes.erase(window.bytes.begin(),
                       window.bytes.begin() + static_cast<std::ptrdiff_t>(window.at));
    window.at = 0;
    const std::size_t had = window.bytes.size();
    const auto more = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max(chunk, size - had), window.end - window.next));
    window.bytes.resize(had + more);
    WAYMARK_TRY(file_->read(window.next, window.bytes.data() + had, more));
    window.next += more;
    return true;
  };

  using Head = std::pair<std::uint64_t,
                         std::size_t>;  // Time and run: with equal times, earlier runs come first.
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto enter = [&](std::size_t run) -> Result<void> {
    const Result<bool> more = fill(windows[run], sizeof(SpillHeader));
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    SpillHeader header;
    std::memcpy(&header, windows[run].bytes.data() + windows[run].at, sizeof header);
    heads.emplace(header.time, run);
    return {};
  };
  for (std::size_t run = 0; run < runs.size(); ++run) {
    windows[run].next = runs[run].begin;
    windows[run].end = runs[run].end;
    WAYMARK_TRY(enter(run));
  }
  while (!heads.empty()) {
    const std::size_t run = heads.top().second;
    heads.pop();
    Window& window = windows[run];
    SpillHeader header;
    std::memcpy(&header, window.bytes.data() + window.at, sizeof header);
    const std::size_t size = sizeof header + in_memory(header.size);
    if (const Result<bool> whole = fill(window, size); !whole)
      return std::unexpected(whole.error());
    if (!take({window.bytes.data() + window.at + sizeof header, in_memory(header.size)})) return {};
    window.at += size;
    WAYMARK_TRY(enter(run));
  }
  return {};
}

}  // namespace waymark::syst
