#include "waymark/perf/file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "waymark/base/bits.h"
#include "waymark/perf/record.h"

namespace waymark::perf {
namespace {

constexpr std::uint64_t kMagic = 0x32454c4946524550;          // PERFILE2
constexpr std::uint64_t kMagicOfOthers = 0x50455246494c4532;  // The same in the other byte order.
constexpr std::uint64_t kOldMagic = 0x454c494646524550;       // PERFFILE
constexpr std::size_t kPipeHeader = 16;
constexpr std::size_t kFileHeader = 104;
constexpr std::size_t kExtent = 16;  // An offset and a size.
constexpr unsigned kFeatures = 256;
constexpr std::size_t kMostAttributes = 4096;
constexpr std::size_t kMostFolderFiles = 65536;

struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

Extent read_extent(Fields& fields) {
  Extent extent;
  extent.offset = fields.u64();
  extent.size = fields.u64();
  return extent;
}

/// The part of `extent` that is in the file.
Bytes within(Bytes file, const Extent& extent) {
  if (extent.offset >= file.size()) return {};
  const Bytes rest = file.subspan(static_cast<std::size_t>(extent.offset));
  return rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(extent.size, rest.size())));
}

bool is_folder(const std::string& path) {
  struct stat entry{};
  return ::stat(path.c_str(), &entry) == 0 && S_ISDIR(entry.st_mode);
}

std::string padded_text(Fields& fields) {
  const std::uint32_t size = fields.u32();
  return Fields::text(fields.take(size));
}

}  // namespace

EventAttribute read_attribute(Bytes bytes, ByteOrder order, std::size_t& size) {
  constexpr std::size_t kOldest = 64;
  Fields fields(bytes, order);
  EventAttribute attribute;
  attribute.type = fields.u32();
  const std::uint32_t claimed = fields.u32();
  size = std::min<std::size_t>(claimed == 0 ? kOldest : claimed, bytes.size());
  fields = Fields(bytes.first(size), order);
  fields.skip(8);
  attribute.config = fields.u64();
  fields.skip(8);  // The sample period.
  attribute.sample_type = fields.u64();
  fields.skip(8);  // The read format.
  attribute.flags = fields.u64();
  fields.skip(8);  // Wake-up and type of a breakpoint.
  attribute.config1 = fields.u64();
  attribute.config2 = fields.u64();
  fields.skip(20);  // The content of samples.
  attribute.clock = fields.u32();
  return attribute;
}

/// Fills a File.
class FileReader {
 public:
  explicit FileReader(File& file) : file_(file) {}

  Result<void> read_main(Bytes bytes, const std::string& name) {
    WAYMARK_TRY(read_magic(bytes, name));
    Fields fields(bytes, file_.order_);
    fields.skip(8);
    const std::uint64_t header = fields.u64();
    if (header == kPipeHeader) {
      file_.pipe_ = true;
      file_.sections_.push_back({bytes, kPipeHeader, bytes.size(), name});
      return read_pipe();
    }
    if (bytes.size() < kFileHeader || header < kFileHeader) {
      return fail(ErrorCode::kBadData,
                  fmt::format("{} is cut short or damaged: the header of a perf.data file has {} "
                              "bytes.",
                              name, kFileHeader),
                  0);
    }
    return read_file(bytes, name, fields);
  }

  void add_section(Bytes bytes, const std::string& name) {
    file_.sections_.push_back({bytes, 0, bytes.size(), name});
  }

 private:
  Result<void> read_magic(Bytes bytes, const std::string& name) {
    if (bytes.size() < kPipeHeader) {
      return fail(ErrorCode::kBadData,
                  fmt::format("{} is not a perf.data file: it has only {} "
                              "bytes.",
                              name, bytes.size()),
                  0);
    }
    const auto magic = load_le<std::uint64_t>(bytes.data());
    if (magic == kOldMagic || magic == std::byteswap(kOldMagic)) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} has the perf.data format of before 2010, which cannot hold "
                              "CoreSight trace.",
                              name),
                  0);
    }
    if (magic != kMagic && magic != kMagicOfOthers) {
      return fail(ErrorCode::kBadData,
                  fmt::format("{} is not a perf.data file: it does not begin with PERFILE2.", name),
                  0);
    }
    file_.order_ = magic == kMagic ? ByteOrder::kLittle : ByteOrder::kBig;
    return {};
  }

  Result<void> read_file(Bytes bytes, const std::string& name, Fields fields) {
    const std::uint64_t attribute_size = fields.u64();
    const Extent attributes = read_extent(fields);
    const Extent data = read_extent(fields);
    fields.skip(kExtent);  // Event types, which are no longer used.
    const Bytes bitmap = fields.take(kFeatures / 8);
    read_attributes(bytes, name, attributes, attribute_size);

    if (data.offset < kFileHeader || data.offset > bytes.size()) {
      return fail(ErrorCode::kBadData,
                  fmt::format("{} is damaged: its data would begin at byte {}, but the file has "
                              "{} bytes.",
                              name, data.offset, bytes.size()),
                  40);
    }
    // perf writes the size of the data, and the features after them, when it ends.
    const bool ended = data.size != 0;
    const std::uint64_t end =
        ended ? data.offset + std::min(data.size, bytes.size() - data.offset) : bytes.size();
    file_.sections_.push_back({bytes, data.offset, end, name});
    if (!ended) {
      note(
          fmt::format("{} was not completed: perf ended before it wrote the size of the data. "
                      "The file is read as far as it goes.",
                      name));
    } else if (end - data.offset < data.size) {
      note(
          fmt::format("{} is cut short: it should have {} bytes of data from byte {} on, and has "
                      "{}. The file is read as far as it goes.",
                      name, data.size, data.offset, end - data.offset));
    } else {
      read_features(bytes, name, bitmap, end);
    }
    // Events that simpleperf saw before recording began.
    if (const Bytes maps = file_.feature(Feature::kSimpleperfInitMap); !maps.empty()) {
      const auto offset = static_cast<std::uint64_t>(maps.data() - bytes.data());
      file_.sections_.insert(file_.sections_.begin(), {bytes, offset, offset + maps.size(), name});
    }
    return {};
  }

  void read_attributes(Bytes bytes, const std::string& name, const Extent& extent,
                       std::uint64_t size) {
    const Bytes all = within(bytes, extent);
    if (size <= kExtent || all.size() < extent.size) {
      note(fmt::format("The events in {} are damaged or cut short at byte {}.", name,
                       extent.offset));
    }
    if (size <= kExtent) return;
    for (Bytes rest = all; rest.size() >= size && file_.attributes_.size() < kMostAttributes;
         rest = rest.subspan(static_cast<std::size_t>(size))) {
      const Bytes one = rest.first(static_cast<std::size_t>(size));
      std::size_t used = 0;
      EventAttribute attribute =
          read_attribute(one.first(one.size() - kExtent), file_.order_, used);
      Fields place(one.last(kExtent), file_.order_);
      Fields ids(within(bytes, read_extent(place)), file_.order_);
      while (ids.remaining() >= 8) attribute.ids.push_back(ids.u64());
      file_.attributes_.push_back(std::move(attribute));
    }
  }

  void read_features(Bytes bytes, const std::string& name, Bytes bitmap, std::uint64_t end) {
    Fields table(within(bytes, {end, kFeatures * kExtent}), file_.order_);
    for (unsigned feature = 0; feature < kFeatures; ++feature) {
      // The bitmap is an array of 64-bit words in the byte order of the file.
      const unsigned byte = feature / 8;
      const unsigned at =
          file_.order_ == ByteOrder::kLittle ? byte : (byte & ~7U) + 7 - (byte & 7U);
      if ((bitmap[at] >> feature % 8 & 1) == 0) continue;
      const Extent extent = read_extent(table);
      const Bytes content = within(bytes, extent);
      if (table.overrun() || content.size() < extent.size) {
        note(fmt::format("{} is cut short or damaged: feature {} is incomplete.", name, feature));
        if (table.overrun()) return;
      }
      file_.features_[static_cast<Feature>(feature)] = content;
    }
  }

  /// In a pipe, records hold events and features.
  Result<void> read_pipe() {
    RecordReader records(file_);
    Record record;
    while (records.next(record)) {
      if (record.type == RecordType::kHeaderAttr) {
        std::size_t used = 0;
        EventAttribute attribute = read_attribute(record.body, file_.order_, used);
        Fields ids(record.body.subspan(used), file_.order_);
        while (ids.remaining() >= 8) attribute.ids.push_back(ids.u64());
        if (file_.attributes_.size() < kMostAttributes)
          file_.attributes_.push_back(std::move(attribute));
      } else if (record.type == RecordType::kHeaderFeature && record.body.size() >= 8) {
        const std::uint64_t number = Fields(record.body, file_.order_).u64();
        // perf does not compress them.
        if (number < kFeatures && record.in_file)
          file_.features_[static_cast<Feature>(number)] = record.body.subspan(8);
      }
    }
    return {};
  }

  void note(std::string text) { file_.notes_.push_back({Severity::kWarning, std::move(text)}); }

  File& file_;
};

Result<File> File::read(Bytes bytes, const std::string& name) {
  File file;
  WAYMARK_TRY(FileReader(file).read_main(bytes, name));
  return file;
}

Result<File> File::open(const std::string& path) {
  const bool folder = is_folder(path);
  const std::string main = folder ? path + "/data" : path;
  auto mapped = MappedFile::open(main);
  if (!mapped) return std::unexpected(mapped.error());
  File file;
  FileReader reader(file);
  file.files_.push_back(*std::move(mapped));
  WAYMARK_TRY(reader.read_main(file.files_.front().bytes(), main));
  for (std::size_t i = 0; folder && i < kMostFolderFiles; ++i) {
    const std::string name = fmt::format("{}.{}", main, i);
    auto more = MappedFile::open(name);
    if (!more && more.error().code == ErrorCode::kNotFound) break;
    if (!more) return std::unexpected(more.error());
    file.files_.push_back(*std::move(more));
    reader.add_section(file.files_.back().bytes(), name);
  }
  return file;
}

Bytes File::feature(Feature feature) const {
  const auto found = features_.find(feature);
  return found == features_.end() ? Bytes() : found->second;
}

std::string File::feature_text(Feature which) const {
  Fields fields(feature(which), order_);
  return padded_text(fields);
}

std::vector<std::string> File::command_line() const {
  Fields fields(feature(Feature::kCommandLine), order_);
  const std::uint32_t count = fields.u32();
  std::vector<std::string> words;
  for (std::uint32_t i = 0; i < count && fields.remaining() >= 4; ++i)
    words.push_back(padded_text(fields));
  return words;
}

}  // namespace waymark::perf
