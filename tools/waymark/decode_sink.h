// The output of decode: elements and damage in one of the formats.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "format.h"
#include "message_stage.h"
#include "missing_programs.h"
#include "selection.h"
#include "waymark/inputs/capture.h"
#include "waymark/merge/timeline.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/human.h"
#include "waymark/outputs/instructions.h"
#include "waymark/outputs/style.h"

namespace waymark::cli {

/// Where elements and damage go, by format.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void add(std::span<const Element> elements) = 0;
  virtual void add(const Diagnostic& record) = 0;
  virtual void add(const merge::TimedRecord& record) = 0;
  virtual void finish() {}

  /// Nothing comes for the moment: writes what need not wait.  True: a line was written.
  virtual bool release() { return false; }

  /// Bytes are missing at this place of a live trace.
  virtual void gap(TraceIndex /*index*/) {}

  /// An element that is not shown; it only says where an earlier one continued.
  virtual void pass_over(const Element& /*element*/) {}

  /// Whether something that is shown says more than where the trace begins and ends.
  [[nodiscard]] virtual bool has_content(std::span<const Element> elements);

  /// From now on, elements only complete what is written; they are not written themselves.
  virtual void end_here() = 0;
  /// After end_here(): something is not complete.
  [[nodiscard]] virtual bool wants_more() const { return false; }
};

struct SinkOptions {
  Format format = Format::kText;
  bool header = true;                ///< Where the format has one.
  bool timed = false;                ///< All comes as TimedRecord.
  MessageStage* messages = nullptr;  ///< Writes kCustom elements.
  outputs::PlaceLookup functions{};  ///< Names functions; empty: none are wanted.
  outputs::NameDetails details{};    ///< What is shown besides their names.
  /// Lists the instructions of ranges; empty: none are wanted.
  std::shared_ptr<outputs::InstructionPool> instructions{};
  outputs::HumanWriter::ProcessNamer processes{};       ///< Names processes; may be empty.
  outputs::HumanWriter::ThreadInVmid thread_in_vmid{};  ///< May be empty.
  std::shared_ptr<MissingPrograms> missing{};  ///< Collects what is missing; may be nullptr.
  std::optional<Selection> selection{};        ///< Only these elements are shown.
  outputs::Style style{};                      ///< Of text.
};

/// The header line of CSV with these options.
std::string csv_header(const SinkOptions& options);

/// As make_sink(), without the selection, and nothing that is missing is collected.
std::unique_ptr<Sink> make_writer(const SinkOptions& options, TextBuffer& out,
                                  const inputs::Capture& capture);

/// Adds the selection and the search for what is missing.  It passes on what is selected, and all
/// damage: its source is unknown.
std::unique_ptr<Sink> select_into(std::unique_ptr<Sink> sink, const SinkOptions& options);

/// Writes whole lines to `out`; both must outlive the sink.
std::unique_ptr<Sink> make_sink(const SinkOptions& options, TextBuffer& out,
                                const inputs::Capture& capture);

}  // namespace waymark::cli
