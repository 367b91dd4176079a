#include "waymark/perf/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "decompressor.h"
#include "waymark/base/bits.h"

namespace waymark::perf {
namespace {

constexpr std::size_t kHeader = 8;
constexpr std::size_t kWord = 8;
constexpr std::size_t kDecompressed = std::size_t{1} << 18;  ///< Bytes at a time.
constexpr std::size_t kMostJoined = std::size_t{1} << 28;    ///< A split or compressed record.
constexpr std::size_t kMostNotes = 100;

bool has_sample_id(const EventAttribute& attribute) { return bit<18>(attribute.flags); }

}  // namespace

/// The sample id at the end of a record: which fields it has.
class SampleLayout {
 public:
  SampleLayout() = default;
  explicit SampleLayout(std::uint64_t sample_type) : type_(sample_type) {
    for (const SampleField field : kFields)
      if ((type_ & field) != 0) size_ += kWord;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool has(SampleField field) const { return (type_ & field) != 0; }

  [[nodiscard]] SampleId read(Bytes bytes, ByteOrder order) const {
    SampleId id;
    Fields fields(bytes, order);
    if (has(kSampleTid)) {
      id.pid = fields.u32();
      id.tid = fields.u32();
    }
    if (has(kSampleTime)) id.time = fields.u64();
    if (has(SampleField::kSampleId)) fields.skip(kWord);
    if (has(kSampleStreamId)) fields.skip(kWord);
    if (has(kSampleCpu)) id.cpu = fields.u32();
    return id;
  }

 private:
  static constexpr std::array kFields = {kSampleTid,      kSampleTime, SampleField::kSampleId,
                                         kSampleStreamId, kSampleCpu,  kSampleIdentifier};
  std::uint64_t type_ = 0;
  std::size_t size_ = 0;
};

class RecordReader::State {
 public:
  explicit State(const File& file) : file_(file) {
    enter(0);
    for (const EventAttribute& attribute : file.attributes()) add_layout(attribute);
  }

  bool next(Record& record) {
    while (section_ < file_.sections().size()) {
      if (!compressed_.empty() || more_) {
        if (take_decompressed(record)) return true;
        continue;
      }
      if (!decompressed_.empty() && has_whole_record()) {
        if (take_decompressed(record)) return true;
        continue;
      }
      if (!take_plain(record)) {
        leave_section();
        continue;
      }
      if (consumed(record)) continue;
      return true;
    }
    return false;
  }

  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }

 private:
  struct Header {
    RecordType type{};
    std::uint16_t misc = 0;
    std::uint64_t size = 0;  ///< With the header.
  };

  Header header_of(Bytes bytes) const {
    Fields fields(bytes, file_.order());
    Header header;
    header.type = static_cast<RecordType>(fields.u32());
    header.misc = fields.u16();
    header.size = fields.u16();
    if (header.type >= RecordType::kFirstSimpleperf) {
      header.size |= std::uint64_t{header.misc} << 16;
      header.misc = 0;
    }
    return header;
  }

  // -- Sections
  // ---------------------------------------------------------------------------------------

  [[nodiscard]] const RecordSection& section() const { return file_.sections()[section_]; }

  void enter(std::size_t number) {
    section_ = number;
    if (number < file_.sections().size()) at_ = section().begin;
    compressed_ = {};
    more_ = false;
    decompressed_.clear();
    read_ = 0;
    decompressor_.reset();
    joined_.clear();
  }

  void leave_section() {
    if (read_ < decompressed_.size())
      note(fmt::format("{}: the last compressed record is incomplete.", section().path));
    if (!joined_.empty())
      note(fmt::format("{}: the last split record is incomplete.", section().path));
    enter(section_ + 1);
  }

  bool damaged(std::string_view what) {
    note(fmt::format("{} is damaged at byte {}: {} Records after it are not read.", section().path,
                     at_, what));
    at_ = section().end;
    compressed_ = {};
    more_ = false;
    decompressed_.clear();
    read_ = 0;
    return false;
  }

  // -- Records as they are in the file
  // -----------------------------------------------------------------

  bool take_plain(Record& record) {
    const RecordSection& section = this->section();
    const std::uint64_t left = section.end - at_;
    if (left == 0) return false;
    const Bytes rest =
        section.file.subspan(static_cast<std::size_t>(at_), static_cast<std::size_t>(left));
    if (left < kHeader) return damaged("the file ends within the header of a record.");
    const Header header = header_of(rest);
    if (header.size < kHeader) return damaged("a record is shorter than its header.");
    if (header.size > left) return damaged("a record extends beyond the end of the data.");
    fill(record, header, rest.first(static_cast<std::size_t>(header.size)), at_, true);
    at_ += header.size;
    if (header.type == RecordType::kAuxtrace) take_trace(record);
    return true;
  }

  void take_trace(Record& record) {
    const std::uint64_t size = Fields(record.body, file_.order()).u64();
    const std::uint64_t left = section().end - at_;
    if (size > left) {
      note(fmt::format("{} is cut short: {} bytes of trace begin at byte {}, but only {} follow.",
                       section().path, size, at_, left));
    }
    const auto taken = static_cast<std::size_t>(std::min(size, left));
    record.trace = section().file.subspan(static_cast<std::size_t>(at_), taken);
    record.trace_offset = at_;
    at_ += taken;
  }

  void fill(Record& record, const Header& header, Bytes whole, std::uint64_t offset, bool in_file) {
    record = {};
    record.type = header.type;
    record.misc = header.misc;
    record.section = section_;
    record.offset = offset;
    record.in_file = in_file;
    record.body = whole.subspan(kHeader);
    if (header.type >= RecordType::kFirstOwn || header.type == RecordType::kSample) return;
    const SampleLayout layout = layout_of(record.body);
    if (layout.size() == 0 || layout.size() > record.body.size()) return;
    record.sample = layout.read(record.body.last(layout.size()), file_.order());
    record.body = record.body.first(record.body.size() - layout.size());
  }

  // -- Records that hold records
  // ------------------------------------------------------------------------

  /// True for a record that is only a part or a container of others.
  bool consumed(Record& record) {
    switch (record.type) {
      case RecordType::kCompressed:
        compressed_ = record.body;
        more_ = true;
        container_ = record.offset;
        return true;
      case RecordType::kCompressed2: {
        Fields fields(record.body, file_.order());
        const std::uint64_t size = fields.u64();
        compressed_ = fields.take(
            static_cast<std::size_t>(std::min<std::uint64_t>(size, fields.remaining())));
        more_ = true;
        container_ = record.offset;
        return true;
      }
      case RecordType::kSimpleperfSplit:
        if (joined_.size() + record.body.size() > kMostJoined) {
          damaged("a split record is too large.");
          joined_.clear();
          return true;
        }
        joined_.insert(joined_.end(), record.body.begin(), record.body.end());
        return true;
      case RecordType::kSimpleperfSplitEnd:
        return !join(record);
      default:
        return false;
    }
  }

  /// False: there is no whole record in the parts.
  bool join(Record& record) {
    whole_ = std::exchange(joined_, {});
    if (whole_.size() < kHeader) return false;
    // The size field of the header has 16 bits; the parts say how long the record is.
    fill(record, header_of(whole_), whole_, record.offset, false);
    return true;
  }

  [[nodiscard]] bool has_whole_record() const {
    const Bytes rest = Bytes(decompressed_).subspan(read_);
    return rest.size() >= kHeader && header_of(rest).size <= rest.size();
  }

  /// The next record of a compressed stretch; false if there is none yet.
  bool take_decompressed(Record& record) {
    if (!has_whole_record()) {
      decompress();
      return false;
    }
    const Bytes rest = Bytes(decompressed_).subspan(read_);
    const Header header = header_of(rest);
    if (header.size < kHeader) return damaged("a compressed record is shorter than its header.");
    fill(record, header, rest.first(static_cast<std::size_t>(header.size)), container_, false);
    read_ += static_cast<std::size_t>(header.size);
    if (header.type == RecordType::kCompressed || header.type == RecordType::kCompressed2 ||
        header.type == RecordType::kAuxtrace)
      return damaged("a compressed record holds another one, or trace.");
    return !consumed(record);
  }

  void decompress() {
    decompressed_.erase(decompressed_.begin(),
                        decompressed_.begin() + static_cast<std::ptrdiff_t>(read_));
    read_ = 0;
    const std::size_t had = decompressed_.size();
    if (had > kMostJoined) {
      damaged("a compressed record is too large.");
      return;
    }
    if (!decompressor_) decompressor_ = std::make_unique<Decompressor>();
    decompressed_.resize(had + kDecompressed);
    const std::size_t before = compressed_.size();
    const auto written = decompressor_->next(compressed_, std::span(decompressed_).subspan(had));
    if (!written) {
      damaged(fmt::format("compressed records cannot be read ({}).", written.error().detail));
      return;
    }
    decompressed_.resize(had + *written);
    // A full buffer may mean that more is to come without further input.
    more_ = *written == kDecompressed;
    if (*written == 0 && compressed_.size() == before) {
      if (!compressed_.empty()) damaged("compressed records cannot be read.");
      more_ = false;
    }
  }

  // -- Sample ids
  // -----------------------------------------------------------------------------------------

  void add_layout(const EventAttribute& attribute) {
    if (!has_sample_id(attribute)) return;
    layouts_.emplace_back(attribute.sample_type);
    for (const std::uint64_t id : attribute.ids) ids_.emplace_back(id, layouts_.size() - 1);
    std::ranges::sort(ids_);
  }

  /// Events may differ in their fields; then the last word names the event.
  [[nodiscard]] SampleLayout layout_of(Bytes body) const {
    if (layouts_.empty()) return {};
    if (layouts_.size() == 1 || !layouts_.front().has(kSampleIdentifier) || body.size() < kWord)
      return layouts_.front();
    const std::uint64_t id = Fields(body.last(kWord), file_.order()).u64();
    const auto found =
        std::ranges::lower_bound(ids_, id, {}, &std::pair<std::uint64_t, std::size_t>::first);
    return layouts_[found != ids_.end() && found->first == id ? found->second : 0];
  }

  void note(std::string text) {
    if (notes_.size() < kMostNotes) notes_.push_back({Severity::kWarning, std::move(text)});
  }

  const File& file_;
  std::size_t section_ = 0;
  std::uint64_t at_ = 0;

  std::unique_ptr<Decompressor> decompressor_;
  Bytes compressed_;                        ///< From the current container, still compressed.
  bool more_ = false;                       ///< The decompressor may have more without input.
  std::uint64_t container_ = 0;             ///< Where it is.
  std::vector<std::uint8_t> decompressed_;  ///< Whole records and the beginning of one.
  std::size_t read_ = 0;                    ///< Of decompressed_.
  std::vector<std::uint8_t> joined_;        ///< Parts of a split record.
  std::vector<std::uint8_t> whole_;         ///< The last one that was whole.

  std::vector<SampleLayout> layouts_;
  std::vector<std::pair<std::uint64_t, std::size_t>> ids_;  ///< Event ids to layouts_.
  std::vector<Note> notes_;
};

RecordReader::RecordReader(const File& file) : state_(std::make_unique<State>(file)) {}
RecordReader::RecordReader(RecordReader&&) noexcept = default;
RecordReader& RecordReader::operator=(RecordReader&&) noexcept = default;
RecordReader::~RecordReader() = default;

bool RecordReader::next(Record& record) { return state_->next(record); }

const std::vector<Note>& RecordReader::notes() const { return state_->notes(); }

}  // namespace waymark::perf
