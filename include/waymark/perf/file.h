// A file or folder that perf or simpleperf recorded: header, events, features and where the records
// are.  See perf-cs-etm.md 1 and simpleperf.md 1.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/base/mapped_file.h"
#include "waymark/base/result.h"
#include "waymark/perf/fields.h"
#include "waymark/perf/format.h"

namespace waymark::perf {

/// A recorded event: its perf_event_attr, of whatever size.  Fields that the file lacks are 0.
struct EventAttribute {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint64_t sample_type = 0;  ///< SampleField bits, and others.
  std::uint64_t flags = 0;        ///< Bit 18: sample_id_all.  Bit 25: use_clockid.
  std::uint32_t clock = 0;        ///< As clock_gettime() takes it, if use_clockid is set.
  std::vector<std::uint64_t> ids{};
};

/// The attribute at the front of `bytes`; its own size field says how long it is.  `size` receives
/// that length, limited to that of `bytes`.
EventAttribute read_attribute(Bytes bytes, ByteOrder order, std::size_t& size);

/// A part of the recording that could not be read, or something doubtful, as a whole sentence.
struct Note {
  Severity severity = Severity::kWarning;
  std::string text;
};

/// Records, one after the other, in a file.
struct RecordSection {
  Bytes file;               ///< All of the file.
  std::uint64_t begin = 0;  ///< Offsets in `file`.
  std::uint64_t end = 0;
  std::string path;
};

/// Immutable once open.  Any number of threads may read it.
class File {
 public:
  /// A perf.data file in file or pipe form, or the folder of `perf record --threads`.  Files of
  /// both byte orders are read.  A file that was cut short is read as far as it goes, with a note.
  ///
  /// kNotFound, kIo: the path; kBadData: not a perf.data file, or its header is damaged;
  /// kUnsupported: the format of before 2010.  `detail` names the path and the offset.
  static Result<File> open(const std::string& path);

  /// The same for a file in memory, which must outlive the object.  `name` is for messages.
  static Result<File> read(Bytes bytes, const std::string& name);

  [[nodiscard]] ByteOrder order() const { return order_; }
  [[nodiscard]] bool pipe() const { return pipe_; }  ///< Made with `perf record -o -`.
  [[nodiscard]] const std::vector<EventAttribute>& attributes() const { return attributes_; }
  /// Sections of records, in the order in which to read them.
  [[nodiscard]] const std::vector<RecordSection>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }

  /// The payload of a feature; empty: not in the file.
  [[nodiscard]] Bytes feature(Feature feature) const;
  /// A feature that is one string: kHostname, kOsRelease, kVersion, kArch, kCpuDescription, kCpuId.
  [[nodiscard]] std::string feature_text(Feature which) const;
  /// kCommandLine: the words of the command.
  [[nodiscard]] std::vector<std::string> command_line() const;

 private:
  friend class FileReader;
  std::vector<MappedFile> files_;  ///< Empty for read().
  ByteOrder order_ = ByteOrder::kLittle;
  bool pipe_ = false;
  std::vector<EventAttribute> attributes_;
  std::vector<RecordSection> sections_;
  std::map<Feature, Bytes> features_;
  std::vector<Note> notes_;
};

}  // namespace waymark::perf
