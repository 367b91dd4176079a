// The steps from a path to a Capture.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "buffer_joiner.h"
#include "waymark/elf/file.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/debugger_text.h"
#include "waymark/inputs/input_file.h"
#include "waymark/inputs/protocols.h"
#include "waymark/live/head.h"
#include "waymark/mtb/buffer.h"
#include "waymark/perf/recording.h"
#include "waymark/perf/time_alignment.h"
#include "waymark/stm/config.h"

namespace waymark::inputs {

/// Whether the registers of an ETMv4 say that it has a data stream.
bool traces_data(const RegisterReader& registers);

/// The lowest bit of the trace ID in the register that holds it; nothing for other registers.
std::optional<unsigned> trace_id_bit(std::string_view register_name);

inline constexpr std::string_view kAllBuffers = "all";  ///< CaptureOptions::buffer.

/// A buffer of a snapshot that is to be joined with others.
struct BufferAlone {
  const TraceBuffer* buffer = nullptr;
  Capture capture;
  JoinedIds ids{};
  /// The source of this device.
  [[nodiscard]] const CaptureSource* source_of(std::string_view device) const;
};

/// Used once.  What all inputs share is in capture_builder.cc; the rest is in
/// capture_builder_raw.cc, capture_builder_sources.cc, capture_builder_snapshot.cc,
/// capture_builder_buffers.cc, capture_builder_perf.cc, capture_builder_debugger.cc,
/// capture_builder_logic.cc, capture_builder_mtb.cc and capture_builder_notes.cc.
class CaptureBuilder {
 public:
  CaptureBuilder(const std::string& path, CaptureOptions options)
      : path_(path), name_(input_name(path)), options_(std::move(options)) {
    for (const auto& [name, value] : options_.registers) register_names_.push_back(name);
    options_.registers.insert(options_.registers.end(), options_.layouts.begin(),
                              options_.layouts.end());
  }

  Result<Capture> build();

 private:
  Result<Detection> detect_input();
  Result<void> read_snapshot_input();
  Result<void> read_raw_input(const Detection& detection);
  Result<void> read_perf_input();
  [[nodiscard]] Result<void> refuse_places() const;
  Result<void> read_recording();
  Result<std::vector<TraceIndex>> join_pieces();
  Result<void> add_perf_sources();
  [[nodiscard]] std::string core_name_of(const perf::Unit& unit) const;
  static const ProtocolRow& row_of(const perf::Unit& unit);
  [[nodiscard]] RegisterReader registers_of(const perf::Unit& unit) const;
  /// How the events of the recording and its trace are compared by time.  `begins`: where each
  /// piece begins.
  Result<perf::TraceTimes> align_times(const std::vector<TraceIndex>& begins);
  /// Where the process is not known.
  void note_missing_contexts();
  Result<void> select_cpus();
  void add_kernel_of_folder();
  Result<void> check_kernel(perf::ProgramFiles& programs);
  void resolve_kernel();
  void note_losses(const perf::Losses& losses);
  Result<void> choose_buffer();
  /// Whether all buffers of the snapshot are wanted.
  [[nodiscard]] bool joins_buffers() const;
  /// Their traces become one trace.
  Result<void> join_buffers();
  [[nodiscard]] Result<Capture> open_alone(const TraceBuffer& buffer) const;
  /// Gives each source, and each ID without one, a trace ID that no other buffer has.
  Result<void> choose_ids();
  void report_new_id(const BufferAlone& alone, TraceId own, TraceId wanted);
  /// The name that the buffer `joining_` has for `own`.
  [[nodiscard]] TraceId joined_id(TraceId own) const;
  [[nodiscard]] RegisterReader joined_registers(const RegisterReader& registers) const;
  void look_for_dstream();
  Result<void> set_trace(Result<MappedFile> file);
  Result<void> add_snapshot_sources();
  Result<void> add_joined_sources();
  [[nodiscard]] Result<void> check_register_names_of(
      const std::vector<const TraceBuffer*>& buffers) const;
  Result<void> add_raw_sources();
  [[nodiscard]] Result<MappedFile> head_as_file() const;
  Result<void> set_feed();
  /// IDs that appear in a live trace later get their sources then.
  void expect_late_sources(const ProtocolRow& row, isa::Core core, std::vector<TraceId> known);
  /// Those of the command line.
  Result<void> add_given_sources();
  Result<void> check_given_source(const RawSource& source) const;
  Result<void> add_given_source(const RawSource& source);
  Result<void> check_raw_registers(const ProtocolRow& row, const RegisterReader& registers,
                                   std::string_view option) const;
  /// Frames that do not begin at offset 0, or between which bytes are missing, become pieces.
  Result<void> align_frames(const Detection& detection);
  [[nodiscard]] std::unexpected<Error> no_protocol() const;
  /// An error unless a protocol of `types` has each register of the command line.
  Result<void> check_register_names(const std::vector<std::string>& types) const;
  Result<void> add_images();
  [[nodiscard]] Result<void> check_core() const;
  Result<void> add_program(const elf::File& program, image::SpaceMask space = image::kSpaceAny);
  Result<void> check_ids() const;
  void add_snapshot_source(const TraceSource& source);
  /// Adds the memory of the core of `source`.
  void add_dumps(const Device& core, CaptureSource& source);
  /// nullptr: the reader of the snapshot found no problem.
  [[nodiscard]] const Problem* problem_of_dump(const Device& core, const Dump& dump) const;
  /// The file of the command line that occupies the addresses of the dump.
  [[nodiscard]] const image::RegionInfo* given_image_at(const Dump& dump) const;
  Result<void> look_for_itm_sync();
  /// The memory that text shows becomes the trace.
  Result<Detection> read_memory_text(InputKind kind);
  /// Where it is not the file of records that ends it.
  Result<DebuggerText> memory_of_text(InputKind kind);
  void note_no_end_record(const std::string& path);
  /// The trace that a logic analyser sampled becomes the trace.
  Result<Detection> read_logic_session();
  void note_pins(const logic::PinTrace& pins, std::uint64_t bytes);
  /// Where the registers of an MTB are in a file of the command line.
  Result<void> read_register_text();
  /// Registers not set on the command line.
  void add_mtb_registers(const DebuggerText& text, const MtbRegisters& registers);
  /// An error if the trace of the protocol is never in frames, but this is.
  [[nodiscard]] Result<void> check_framing(const ProtocolRow& row) const;
  /// The records of an MTB in their order, and what is known of the time after them.
  Result<void> read_records(const RegisterReader& registers);
  void note_open_end();
  /// By the registers of an MTB, the oldest record first.
  Result<void> order_records(const RegisterReader& registers);
  Result<void> find_order();
  Result<void> read_in_order(const std::array<mtb::DumpPart, 2>& parts);
  void add_data_stream(const TraceSource& source);
  /// The registers of the command line, then those of the device, which must outlive the reader.
  [[nodiscard]] RegisterReader registers_of(const Device& device) const;
  /// True: the stream shows that the least significant nibble comes first.
  Result<std::optional<bool>> look_for_nibble_order(TraceId id);
  /// Of raw trace without frames.
  Result<std::optional<stm::NibbleOrder>> order_in_trace();
  Result<std::optional<stm::NibbleOrder>> order_in_frames(TraceId id);
  Result<void> count_id_bytes();
  /// An error if the caller asked to stop.
  [[nodiscard]] Result<void> go_on() const;
  void note_lost_tail();
  void note_ids_without_source();

  /// Makes the source and adds it to the tree.  The error is a sentence.
  Result<void> attach(const ProtocolRow& row, const RegisterReader& own, isa::Core core,
                      CaptureSource description);
  void note(Note note);
  void note(std::string text, Severity severity = Severity::kWarning);
  /// A warning that trace is missing.
  void note_loss(std::string text);
  /// Appends the notes that are errors; each was noted when its reason was found.
  [[nodiscard]] std::string with_obstacles(std::string sentence) const;

  const std::string path_;
  const std::string name_;                   ///< The path as sentences name it.
  CaptureOptions options_;                   ///< Includes what the input itself states.
  std::vector<std::string> register_names_;  ///< Registers of the command line.
  Capture capture_;
  std::vector<Problem> problems_;                ///< Problems of the snapshot.
  std::vector<image::RegionInfo> given_images_;  ///< Images of the command line.
  std::vector<BufferAlone> alone_;               ///< The buffers that are joined.
  const BufferAlone* joining_ = nullptr;         ///< The one of which sources are being added.
  bool is_part_ = false;                         ///< Another builder joins what is built here.
};

}  // namespace waymark::inputs
