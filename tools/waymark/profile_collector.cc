#include "profile_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "complain.h"
#include "counting.h"
#include "elf_argument.h"
#include "image_mismatches.h"
#include "missing_programs.h"
#include "output.h"
#include "program_profile.h"
#include "run.h"
#include "waymark/base/escape.h"

namespace waymark::cli {

CollectNeeds needs_of(const exports::Format& format) {
  return {.code = format.make_database == nullptr, .names = format.needs_names};
}

int Collector::add(const std::string& path, const Precounted* known) {
  const int code = add_input(path, known);
  if (code == kOk) ++used_;
  code_ = std::max(code_, code);
  return code;
}

int Collector::add_input(const std::string& path, const Precounted* known) {
  const auto list = open_branch_list(path);
  if (!list) return complain(list.error().detail, kInput);
  if (*list) return add_branches(path, **list);
  InputOptions input = options_.input;
  input.path = path;
  Window window(input, options_.window);
  auto opened = open_capture(input, {}, needs_.notes,
                             known != nullptr ? known->id_bytes : window.known_id_bytes(), true);
  if (!opened) return opened.error();
  Used& used = used_inputs_.emplace_back(std::move(*opened));
  inputs::Capture& capture = used.capture;
  auto selection = select_in(capture, options_.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  auto places = needs_.names ? place_lookup(capture, options_.symbols)
                             : any_place_lookup(capture, options_.symbols);
  if (!places) return complain_of_symbols(places.error());
  const std::vector<std::string> files =
      window.input_files(capture, program_paths(options_.symbols.files));
  files_.insert(files_.end(), files.begin(), files.end());
  const std::vector<std::string> of_capture = capture.input_files();
  files_.insert(files_.end(), of_capture.begin(), of_capture.end());
  files_.push_back(path_of_input(path));
  auto nothing = Output::open("", {});
  if (!nothing) return complain(nothing.error().detail, kOutput);
  if (const int code = window.open(capture); code != kOk) return code;
  Counted counted = known != nullptr ? known->count(capture, *selection)
                    : window.given() ? count_window(capture, *selection, window, *nothing)
                                     : count_all(capture, *selection, options_.threads);
  std::optional<MissingPrograms> missing;
  if (capture.processes() != nullptr) {
    missing.emplace(capture);
    for (const count::Counts& counts : counted.by_source) missing->add(counts);
  }
  if (*selection && (*selection)->by_program()) keep_programs(counted, **selection);
  if (counted.code == kMemory || counted.code == kInterrupted) return counted.code;
  if (needs_.code && counted.code == kOk && !counted_something(counted)) {
    return report_nothing(path, capture, *selection, window, missing ? &*missing : nullptr);
  }
  used.locate = program_locator(capture, *std::move(places));
  bool is_new = false;
  for (const count::Counts& counts : counted.by_source)
    is_new = add_counts(counts, used.locate) || is_new;
  if (missing && needs_.notes) missing->report();
  if (needs_.notes) report_mismatches(capture, counted.code);
  if (counted.code == kOk) traces_.push_back(path);
  // Only the programs of an input are still needed, if it brought any.
  if (!is_new) used_inputs_.pop_back();
  return counted.code;
}

bool Collector::add_counts(const count::Counts& counts, const profile::Locate& locate) {
  if (observer_) observer_(counts, locate);
  return profile_.add(counts, locate);
}

int Collector::add_branches(const std::string& path, const exports::BranchList& list) {
  files_.push_back(path);
  BranchListCounts& counts = used_lists_.emplace_back(options_.input);
  (void)counts.add(list, [this](const count::Counts& found, const profile::Locate& locate) {
    return add_counts(found, locate);
  });
  counts.report(path);
  if (counts.instructions() != 0) return kOk;
  return complain(fmt::format("{}: no instruction could be counted: none of its programs was "
                              "found, or none of their code.",
                              escaped(path)),
                  kDamaged);
}

}  // namespace waymark::cli
