// From a path to something that decodes: the trace, the image, and a decode tree over both.  The
// command line uses this.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/mapped_file.h"
#include "waymark/base/result.h"
#include "waymark/element/exception_names.h"
#include "waymark/frames/dstream.h"
#include "waymark/image/image.h"
#include "waymark/inputs/detect.h"
#include "waymark/inputs/joined_trace.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/live/stream.h"
#include "waymark/logic/pins.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::live {
class Head;
}  // namespace waymark::live

namespace waymark::perf {
struct JittedCode;
class ProcessImages;
class ProgramFiles;
struct Recording;
}  // namespace waymark::perf

namespace waymark::inputs {

struct PerfInput;
class TraceFeed;

/// How the bytes of the trace are wrapped.  kPieces: frames as in memory, where four frame syncs
/// before each piece of a recording reset the decoders.
enum class Framing : std::uint8_t { kNone, kMemoryAligned, kFsync, kHsync, kDstream, kPieces };

/// "mem", "fsync", "hsync", "dstream", "none", "pieces".
std::string_view framing_name(Framing framing);
std::optional<Framing> framing_by_name(std::string_view name);

/// The options of the deformatter; nothing for kNone.
std::optional<frames::Options> frame_options(Framing framing);

/// Bytes of trace in a file of this size, without an incomplete frame at its end and the footers of
/// DSTREAM records.
std::uint64_t trace_bytes(Framing framing, std::uint64_t file_size);

/// Bytes of each trace ID in the frames of a capture.
using IdBytes = std::array<std::uint64_t, kTraceIdCount>;

/// A file whose bytes are in target memory from `address` on.  An ELF file is loaded as a program
/// instead: as it was linked if `address` is in one of its segments, otherwise with its first
/// segment at `address`.  The same holds for the blocks of Intel HEX and S-records.
struct ImageFile {
  std::optional<std::uint64_t> address{};  ///< Nothing: as the file says, which then must.
  std::string path;
  image::SpaceMask space = image::kSpaceAny;
};

/// An ELF file whose segments are in target memory, `bias` above the addresses for which it was
/// linked.
struct ProgramFile {
  std::string path;
  std::uint64_t bias = 0;
};

/// A source of raw trace as the user describes it.
struct RawSource {
  std::optional<TraceId> id{};  ///< Nothing: the trace has no frames.
  std::string protocol{};       ///< See protocol_by_name().
  std::string core{};           ///< Empty: that of CaptureOptions.
  /// Before those of CaptureOptions.
  std::vector<std::pair<std::string, std::uint32_t>> registers{};
};

/// The user's options.  The second group is for inputs that do not state these facts.  For other
/// inputs, it overrides them where that makes sense.
struct CaptureOptions {
  /// Name of a trace buffer of a snapshot; empty: the first; "all", unless one has this name: all
  /// of them, joined in order of time.
  std::string buffer;
  std::vector<TraceId> ids;           ///< Only these; empty: all.
  std::vector<std::uint32_t> cpus{};  ///< In a recording, only these; empty: all.
  SourceOptions source;

  std::string protocol;              ///< "etmv4", "ete", "itm"; see protocol_by_name().
  std::string core;                  ///< "Cortex-A53", "ARMv8-A"; empty: ARMv8-A.
  std::vector<RawSource> sources{};  ///< Instead of `protocol`.
  std::optional<Framing> framing;
  logic::PinOptions pins{};  ///< For what a logic analyser sampled.
  std::vector<std::pair<std::string, std::uint32_t>> registers;  ///< Each must be known.
  /// A file in which a debugger printed the registers of an MTB; debugger_text.h.
  std::string register_text{};
  /// Packet layouts of the data stream of an ETMv4, by the names of packets; see
  /// src/inputs/protocols/etmv4data.cc.
  std::vector<std::pair<std::string, std::uint32_t>> layouts;
  std::vector<ImageFile> images;      ///< Added to those of a snapshot.
  std::vector<ProgramFile> programs;  ///< The same.
  /// Folders with the files of the machine where a recording was made; perf::ProgramFiles.
  std::vector<std::string> roots;
  std::vector<std::string> caches{};  ///< perf::ProgramSearch.
  /// The timestamps of a recording's trace are those of the virtual counter, although it does not
  /// say so.
  bool virtual_timestamps = false;
  std::string vmlinux{};  ///< The same as `caches`.
  std::string kallsyms{};
  std::string kcore{};
  std::string guest_vmlinux{};
  std::string guest_kallsyms{};
  /// The same: the path of a program that a server has.
  std::function<std::optional<std::string>(const std::vector<std::uint8_t>& build_id)> fetch{};

  /// Returns what is known about the framed trace without reading it, for example from an index.
  /// Nothing: all of it is read once to count. May be empty.
  std::function<std::optional<IdBytes>(const MappedFile& trace, Framing framing)> known_id_bytes;

  /// Prepares for check_image().
  bool check_image = false;

  /// The memory of the target, to which the caller adds programs between two decodes; nothing: the
  /// capture makes one.
  std::shared_ptr<image::Image> image{};

  /// Opens the input if it is not a snapshot; nothing: MappedFile::open().  See InputOpener.
  std::function<Result<MappedFile>(const std::string& path)> open_file;

  /// The trace arrives through this stream, whose beginning read_head() has read, and the
  /// path is only its name.  See live_capture.h.
  std::shared_ptr<live::Head> live{};

  /// Called from time to time while trace is read before decoding begins.  True: opening ends with
  /// kIo.  May be empty.
  std::function<bool()> stop;
};

/// By what the events of a recording are compared with its trace.
enum class TimeSource : std::uint8_t {
  kAuxRecords,  ///< By the times of the AUX records: all of a piece of trace has the time of its
                ///< end.
  kTimestamps,  ///< By the timestamps in the trace.
};

/// A source of the tree, and what the input says about it.
struct CaptureSource {
  TraceId id = 0;  ///< The ID in the registers.
  std::string device{};
  std::string type{};     ///< "ETM4.2"
  std::string version{};  ///< The architecture version in the registers: "4.2"; empty: unknown.
  std::string core{};
  std::string core_type{};
  isa::Profile profile = isa::Profile::kUnknown;
  Source* source = nullptr;       ///< The tree owns it.
  bool starts_in_sync = false;    ///< Decoded without a synchronisation point; SourceOptions.
  bool needs_image = false;       ///< Its trace can only be decoded with the program.
  std::uint64_t config_hash = 0;  ///< Covers everything that determines how its bytes are read.
  std::string image_fault{};      ///< What part of the image is missing, as a whole sentence.
  std::string buffer{};           ///< Where several buffers are joined, the one with its trace.
};

/// How the numbers of its exceptions are to be read.
[[nodiscard]] ExceptionNumbers exception_numbers(const CaptureSource& source);

/// A static key, or the alternatives of a CPU feature, that a kernel had set differently in memory
/// than its file has them, as the trace shows.
struct KernelSwitch {
  std::string program{};  ///< The path of the file.
  std::string name{};     ///< program::CodeSwitch.
  bool is_key = true;
  bool on = false;
  std::size_t sites = 0;
};

/// A sentence for the user about something doubtful that did not stop the opening.
struct Note {
  Severity severity = Severity::kWarning;
  std::string text;
  bool loss = false;  ///< It says that trace is missing.
};

/// A part of the trace, in the form that DecodeTree::feed() takes.
struct TraceBlock {
  TraceIndex index = 0;
  Bytes bytes;
};

/// The next piece of a trace.
struct TraceEvent {
  enum class Kind : std::uint8_t {
    kBlock,
    kGap,      ///< Bytes are missing at `block.index`; DecodeTree::lose().
    kRelease,  ///< Lines that wait for more are to be written.
    kIdle,     ///< Nothing arrives for the moment.
  };
  Kind kind = Kind::kBlock;
  TraceBlock block{};
  live::ArrivalTime arrival = 0;  ///< When the bytes came to this host; 0: not known.
};

/// Owns everything that decoding needs.  One owner; not thread safe.
class Capture {
 public:
  /// kNotFound, kIo: a path; kParse: a snapshot's ini file; kInvalidArgument: the options, with the
  /// option to change or to add in `detail`; kUnsupported: a kind of input or of trace that cannot
  /// be decoded; kBadData: an empty trace, or a program that is not an ELF file.
  static Result<Capture> open(const std::string& path, const CaptureOptions& options);

  [[nodiscard]] InputKind kind() const { return kind_; }
  [[nodiscard]] Framing framing() const { return framing_; }
  /// nullptr unless the input is a snapshot.
  [[nodiscard]] const Snapshot* snapshot() const { return snapshot_.get(); }
  /// nullptr: not a snapshot, or several buffers are joined.
  [[nodiscard]] const TraceBuffer* buffer() const { return buffer_; }
  /// Where the bytes of the trace come from, if several buffers are joined; otherwise nullptr.
  [[nodiscard]] const JoinedTrace* joined() const { return joined_.get(); }
  /// nullptr unless perf or simpleperf recorded the input.
  [[nodiscard]] const perf::Recording* recording() const;
  [[nodiscard]] const perf::ProcessImages* processes() const;
  [[nodiscard]] TimeSource time_source() const;
  [[nodiscard]] const perf::ProgramFiles* programs() const;
  [[nodiscard]] const perf::JittedCode* jitted_code() const;
  /// The findings of opening; the image reflects them.
  [[nodiscard]] const std::vector<KernelSwitch>& kernel_switches() const {
    return kernel_switches_;
  }
  /// For check_image(); nullptr without CaptureOptions::check_image.
  [[nodiscard]] DecodeTree* checking_tree() { return checking_tree_.get(); }
  [[nodiscard]] const MappedFile& trace() const { return trace_; }
  [[nodiscard]] const image::Image& image() const { return *image_; }
  [[nodiscard]] DecodeTree& tree() { return *tree_; }
  /// The sources that CaptureOptions::ids selects.
  [[nodiscard]] const std::vector<CaptureSource>& sources() const { return sources_; }
  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }

  /// Why the trace of sources() cannot be followed everywhere, as the end of a sentence: part or
  /// all of the program image is missing.  Empty: nothing is known to be missing.
  [[nodiscard]] std::string image_fault() const;

  /// All files that the capture reads or that its snapshot names, whether they exist or not.  No
  /// output may replace them.
  [[nodiscard]] std::vector<std::string> input_files() const;

  /// Bytes of each trace ID in the frames, attached or not; all zero without frames.
  [[nodiscard]] const IdBytes& id_bytes() const { return id_bytes_; }

  /// The blocks of the trace in order; nothing at its end.
  std::optional<TraceBlock> next_block();

  /// The same with what happens between the blocks of a live trace, or of the recording of one.
  /// Other traces only have blocks.  Waits for a live trace, at most a few hundredths of a second.
  /// kIo: the stream failed, or the caller asked to stop; kParse: the marks of a recording.
  Result<std::optional<TraceEvent>> next_event();

  /// The trace arrives while it is read; its length is not known.  It is read once, with
  /// next_event(), and further sources appear in sources() when their IDs do.
  [[nodiscard]] bool live() const;
  /// After kIdle: lines that waited were written.  See live::Stream::released().
  void released() const;

  /// All blocks that next_block() has not returned yet, as one; nothing at the end, or if the trace
  /// is in records or has events. next_block() is not affected.
  [[nodiscard]] std::optional<TraceBlock> rest() const;

  /// For a caller that reads rest(): the bytes before `index` are not needed soon.  next_block()
  /// does this itself.
  void passed(TraceIndex index) { trace_.passed(index); }
  /// The next block begins at `index`, or at the end of the trace if that is earlier.  `index` must
  /// be a multiple of the frames' alignment (frames::Options::alignment).
  void seek(TraceIndex index);

  /// The total number of bytes from next_block(), at which indexes end.
  [[nodiscard]] std::uint64_t trace_bytes() const;

  Capture(Capture&& other) noexcept;
  Capture& operator=(Capture&& other) noexcept;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

 private:
  Capture();
  friend class CaptureBuilder;
  void add_late_sources();

  InputKind kind_ = InputKind::kUnknown;
  Framing framing_ = Framing::kNone;
  std::unique_ptr<Snapshot> snapshot_;
  const TraceBuffer* buffer_ = nullptr;
  std::shared_ptr<const JoinedTrace> joined_;
  std::shared_ptr<PerfInput> perf_;
  MappedFile trace_;
  std::shared_ptr<image::Image> image_;
  std::unique_ptr<DecodeTree> tree_;
  std::unique_ptr<DecodeTree> checking_tree_;
  std::vector<KernelSwitch> kernel_switches_;
  std::vector<CaptureSource> sources_;
  std::vector<Note> notes_;
  IdBytes id_bytes_{};

  /// Where the next part of the trace comes from.
  struct Reading {
    TraceIndex position = 0;
    std::unique_ptr<TraceFeed> feed;  ///< nullptr: the trace is one piece of memory.
    /// Sources whose IDs appeared in a live trace after it was opened, until sources_ has them.
    std::shared_ptr<std::vector<CaptureSource>> late;
  };
  Reading reading_;
};

}  // namespace waymark::inputs
