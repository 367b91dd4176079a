#include "waymark/live/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "waymark/base/number.h"
#include "waymark/base/standard_streams.h"

namespace waymark::live {
namespace {

constexpr std::string_view kFirstLine = "waymark-live 1\n";

std::string reason(int number) { return std::generic_category().message(number); }

int create(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

class RecordedStream final : public Stream {
 public:
  RecordedStream(std::unique_ptr<Stream> stream, RecordOptions options, int descriptor)
      : stream_(std::move(stream)), options_(std::move(options)), trace_(descriptor) {}

  ~RecordedStream() override {
    if (trace_ >= 0) ::close(trace_);
    if (marks_ >= 0) ::close(marks_);
  }

  Result<Piece> next(Milliseconds patience) override {
    auto piece = stream_->next(patience);
    if (!piece) return piece;
    if (piece->kind == PieceKind::kGap) mark(fmt::format("gap {}\n", size_));
    if (piece->kind == PieceKind::kBytes) {
      if (options_.arrivals && piece->arrival != 0)
        mark(fmt::format("at {} {}\n", size_, piece->arrival));
      write(trace_, options_.path,
            {reinterpret_cast<const char*>(piece->bytes.data()), piece->bytes.size()});
      size_ += piece->bytes.size();
    }
    return piece;
  }

  void released() override {
    mark(fmt::format("release {}\n", size_));
    stream_->released();
  }

  [[nodiscard]] std::string name() const override { return stream_->name(); }

 private:
  void mark(std::string_view line) {
    if (trace_ < 0) return;
    const std::string path = options_.path + std::string(kMarksSuffix);
    if (marks_ < 0) {
      marks_ = create(path);
      if (marks_ < 0) return give_up(path, errno);
      write(marks_, path, kFirstLine);
    }
    write(marks_, path, line);
  }

  void write(int descriptor, const std::string& path, std::string_view text) {
    if (trace_ < 0 || descriptor < 0) return;
    if (const int number = write_all(descriptor, text); number != 0) give_up(path, number);
  }

  void give_up(const std::string& path, int number) {
    ::close(trace_);
    trace_ = -1;
    if (options_.notify)
      options_.notify(fmt::format(
          "--record: cannot write {}: {}. The recording ends here, and the command continues.",
          path, reason(number)));
  }

  std::unique_ptr<Stream> stream_;
  RecordOptions options_;
  int trace_ = -1;  ///< -1: nothing more is kept.
  int marks_ = -1;
  std::uint64_t size_ = 0;
};

std::optional<Mark> read_mark(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view word = line.substr(0, blank);
  std::string_view rest = line.substr(blank + 1);
  Mark mark;
  if (word == "at") {
    const std::size_t second = rest.find(' ');
    if (second == std::string_view::npos) return std::nullopt;
    const auto time = parse_number(rest.substr(second + 1));
    if (!time || *time == 0 || *time >> 63 != 0) return std::nullopt;
    mark.kind = PieceKind::kBytes;
    mark.arrival = static_cast<ArrivalTime>(*time);
    rest = rest.substr(0, second);
  } else if (word == "gap") {
    mark.kind = PieceKind::kGap;
  } else if (word == "release") {
    mark.kind = PieceKind::kRelease;
  } else {
    return std::nullopt;
  }
  const auto offset = parse_number(rest);
  if (!offset) return std::nullopt;
  mark.offset = *offset;
  return mark;
}

}  // namespace

Result<std::unique_ptr<Stream>> record(std::unique_ptr<Stream> stream,
                                       const RecordOptions& options) {
  const int descriptor = create(options.path);
  const int number = errno;
  if (descriptor < 0) {
    return fail(ErrorCode::kIo, fmt::format("--record: cannot write {}: {}. Choose another file.",
                                            options.path, reason(number)));
  }
  // Marks of an earlier recording do not belong to this one.
  (void)::unlink((options.path + std::string(kMarksSuffix)).c_str());
  return std::make_unique<RecordedStream>(std::move(stream), options, descriptor);
}

Result<std::optional<Marks>> Marks::open(const std::string& recording) {
  const std::string path = recording + std::string(kMarksSuffix);
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  auto file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (!file->text().starts_with(kFirstLine)) {
    return fail(ErrorCode::kParse, fmt::format("{}: this is not the file of marks of a recording, "
                                               "despite its name; rename or remove it.",
                                               path));
  }
  return Marks(*std::move(file));
}

void Marks::rewind() {
  at_ = kFirstLine.size();
  line_ = 1;
  last_ = 0;
}

Result<std::optional<Mark>> Marks::next() {
  const std::string_view text = file_.text();
  if (at_ >= text.size()) return std::nullopt;
  file_.passed(at_);
  ++line_;
  const std::size_t end = text.find('\n', at_);
  // The computer stopped while the last line was written.
  if (end == std::string_view::npos) {
    at_ = text.size();
    return std::nullopt;
  }
  const auto mark = read_mark(text.substr(at_, end - at_));
  at_ = end + 1;
  if (!mark || mark->offset < last_) {
    return fail(ErrorCode::kParse,
                fmt::format("{}: line {} is not a mark, or comes too late; remove the file to read "
                            "the recording without its marks.",
                            file_.path(), line_));
  }
  last_ = mark->offset;
  return mark;
}

Result<Piece> Playback::next(Milliseconds /*patience*/) {
  while (true) {
    if (!looked_) {
      auto mark = marks_.next();
      if (!mark) return std::unexpected(mark.error());
      mark_ = *mark;
      looked_ = true;
    }
    if (mark_ && mark_->offset <= at_) {
      looked_ = false;
      if (mark_->kind != PieceKind::kBytes) return Piece{.kind = mark_->kind, .arrival = arrival_};
      arrival_ = mark_->arrival;
      continue;
    }
    std::size_t size = std::min(bytes_.size() - at_, kMostBytes);
    if (size == 0) return Piece{.kind = PieceKind::kEnd, .arrival = arrival_};
    if (mark_) size = in_memory(std::min<std::uint64_t>(size, mark_->offset - at_));
    const Piece piece{
        .kind = PieceKind::kBytes, .bytes = bytes_.subspan(at_, size), .arrival = arrival_};
    at_ += size;
    return piece;
  }
}

void Playback::seek(std::uint64_t offset) {
  at_ = static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes_.size()));
  marks_.rewind();
  looked_ = false;
  arrival_ = 0;
  // Marks before the place do not matter, except for the time of arrival.
  while (true) {
    const auto mark = marks_.next();
    if (!mark || !*mark) return;
    if ((*mark)->offset > at_) {
      mark_ = *mark;
      looked_ = true;
      return;
    }
    if ((*mark)->kind == PieceKind::kBytes) arrival_ = (*mark)->arrival;
  }
}

}  // namespace waymark::live
