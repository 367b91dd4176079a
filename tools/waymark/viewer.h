// waymark view and waymark report: what their options say, and what they do.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "export_messages.h"
#include "input_options.h"
#include "run_programs.h"
#include "waymark/view/session.h"

namespace waymark::cli {

class Command;

struct ViewerInput {
  InputOptions input;
  std::string index;                 ///< Its file; empty: where `waymark index` puts it.
  std::vector<std::string> symbols;  ///< FILE or FILE@ADDRESS.
  bool of_one_run = false;           ///< As SymbolOptions has it.
  std::vector<std::string> sources;  ///< As outputs::SourceFiles takes them.
  ExportMessageOptions messages;
};

/// The options of ViewerInput but INPUT itself.
void add_viewer_options(Command& command, ViewerInput& options);

struct ViewCommand {
  ViewerInput input;
  std::uint16_t port = 0;  ///< 0: any.
  bool open = false;
};

struct ReportCommand {
  ViewerInput input;
  std::vector<std::string> paths;
  RunsPrograms programs;  ///< Those of one of two inputs.
  std::string output;
  std::uint64_t most_bytes = 10'000'000;
  std::vector<std::string> windows;
};

/// Both return an exit code, after a sentence if it is not kOk.  Without WAYMARK_VIEW, they only
/// say that the program was built without the viewer.
int run_view(const ViewCommand& options);
int run_report(const ReportCommand& options);

/// Opens `path` with the other options.  On failure prints the sentence and returns the exit code.
std::expected<std::unique_ptr<view::Session>, int> open_session(const ViewerInput& options,
                                                                const std::string& path);

}  // namespace waymark::cli
