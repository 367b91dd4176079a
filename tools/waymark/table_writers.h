// Writers of the rows of tables: for export, shard and merge.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "complain.h"
#include "exit_code.h"
#include "export_options.h"
#include "output.h"
#include "profile_collector.h"
#include "run.h"
#include "table_folder.h"
#include "waymark/exports/tables.h"
#include "waymark/inputs/capture.h"
#include "waymark/stacks/engine.h"
#include "waymark/syst/interpreter.h"
#include "waymark/syst/trace_reader.h"

namespace waymark::cli {

/// Whether the options name a table; without names, all are wanted.
bool wants_table(const ExportOptions& options, std::string_view table);

/// The facts that all files of an input state.  `slice`: see exports::TableInput.
exports::TableInput table_input(std::size_t number, const std::string& path,
                                std::optional<std::size_t> slice = {});

/// A file that is being written.  After finish(), another one can be opened.
template <class Part>
class OpenPart {
 public:
  /// kOk, or the exit code after the sentence.
  int open(const TableFolder& folder, std::string_view table, const exports::TableInput& input,
           std::span<const std::string> files) {
    auto opened = Output::open_whole(folder.part_path(table, input.part, input.slice), files);
    if (!opened) return complain(opened.error().detail, kOutput);
    output_ = std::make_unique<Output>(*std::move(opened));
    part_ = std::make_unique<Part>(input, output_->text());
    return kOk;
  }
  [[nodiscard]] bool is_open() const { return part_ != nullptr; }
  Part& part() { return *part_; }
  Output& output() { return *output_; }
  /// The end of the file.
  int finish() {
    if (part_ == nullptr) return kOk;
    const auto part = std::move(part_);
    if (const auto finished = part->finish(); !finished)
      return complain(finished.error().detail, kMemory);
    return output_->commit() ? kOk : finish_output(*output_, kOutput);
  }

 private:
  std::unique_ptr<Output> output_;
  std::unique_ptr<Part> part_;
};

/// Writes the table of counts.  kOk, or the exit code.
int write_counts(const Collector& collected, const TableFolder& folder,
                 const exports::TableInput& input);

/// Whether something was executed, or said.
bool has_content(const Element& element);

/// The messages in the elements of a capture.
class MessageRows final : private syst::FrameSink {
 public:
  MessageRows(const ExportMessages& messages, OpenPart<exports::MessagesPart>& to);

  void add(std::span<const Element> elements) {
    for (const Element& element : elements) reader_.add(element);
  }
  void finish() { reader_.finish(); }

 private:
  void on_frame(const syst::Frame& frame) override;

  syst::Interpreter interpreter_;
  syst::TraceReader reader_;
  OpenPart<exports::MessagesPart>& to_;
};

/// The calls in a capture.
class CallRows {
 public:
  CallRows(const inputs::Capture& capture, outputs::PlaceLookup places,
           const StackExportOptions& options, OpenPart<exports::CallsPart>& to);

  stacks::Engine& engine() { return engine_; }
  /// Also says what cannot be trusted.
  void finish();

 private:
  stacks::Timeline timeline_;
  stacks::Engine engine_;
};

}  // namespace waymark::cli
