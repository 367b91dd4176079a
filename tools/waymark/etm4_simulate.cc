// waymark etm4 simulate: runs cases of the programming model.
#include <fmt/format.h>

#include "command.h"
#include "etm4.h"
#include "etm4_cases.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "output.h"
#include "run.h"
#include "waymark/base/escape.h"

namespace waymark::cli {
namespace {

struct SimulateOptions {
  std::string cases;
  bool check = false;
  bool fixed = false;
  Format format = Format::kText;
};

// Objects are compared as sets of members.
bool equal(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

std::string difference(const Json& expected, const Json& got) {
  if (!expected.is_object() || !got.is_object()) {
    return fmt::format("expected {}, got {}", json_text(expected), json_text(got));
  }
  std::string text;
  for (const auto& [name, value] : expected.items()) {
    const auto at = got.find(name);
    if (at == got.end()) {
      text += fmt::format(" {} is missing;", name);
    } else if (*at != value) {
      text += fmt::format(" {} is {} and not {};", name, at->dump(), value.dump());
    }
  }
  for (const auto& [name, value] : got.items()) {
    if (!expected.contains(name)) text += fmt::format(" {} is not expected;", name);
  }
  if (!text.empty()) text.pop_back();
  return "registers differ:" + text;
}

struct Tally {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t unchecked = 0;  ///< Cases without any expectation.
  std::size_t steps = 0;
  std::size_t compared = 0;  ///< Steps.
};

// Lines for what differs, or items of `failures`.
void check(const Etm4Case& run, Tally& tally, TextBuffer& out, Json* failures) {
  bool passed = true;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const Json expected = etm4_expectation(*run.steps[i].step);
    if (expected.is_null()) continue;
    ++compared;
    if (equal(expected, run.steps[i].result)) continue;
    passed = false;
    if (failures != nullptr) {
      failures->push_back({{"case", run.id},
                           {"step", i},
                           {"expected", json_text(expected)},
                           {"got", json_text(run.steps[i].result)}});
      continue;
    }
    put_lines(
        out, fmt::format("{} step {}: {}\n", run.id, i, difference(expected, run.steps[i].result)));
  }
  tally.steps += run.steps.size();
  tally.compared += compared;
  if (compared == 0) {
    ++tally.unchecked;
  } else {
    ++(passed ? tally.passed : tally.failed);
  }
}

Json tally_json(const Tally& tally, Json failures) {
  return {{"passed", tally.passed},       {"failed", tally.failed},
          {"unchecked", tally.unchecked}, {"steps", tally.steps},
          {"compared", tally.compared},   {"failures", std::move(failures)}};
}

void print(const Tally& tally, TextBuffer& out) {
  out.put(fmt::format("{} passed, {} failed", tally.passed, tally.failed));
  if (tally.unchecked != 0) out.put(fmt::format(", {} without expectations", tally.unchecked));
  out.put(fmt::format("; {} of {} steps had an expectation\n", tally.compared, tally.steps));
}

void print(const Etm4Case& run, TextBuffer& out) {
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    out.put(fmt::format("{{\"case\": {}, \"step\": {}, \"result\": {}}}\n", json_text(run.id), i,
                        json_text(run.steps[i].result)));
  }
}

int run(const SimulateOptions& options) {
  const auto text = read_text_input(options.cases);
  if (!text) return text.error();
  const auto document = read_etm4_cases(*text);
  if (!document) {
    return complain(
        fmt::format("{}: {}", inputs::input_name(options.cases), document.error().detail), kInput);
  }
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  Tally tally;
  const bool json = options.format == Format::kJson;
  Json failures = Json::array();
  for (const Json& item : document->at("cases")) {
    const auto done = run_etm4_case(item, options.fixed ? etm4x::kNoQuirks : etm4x::kAllQuirks);
    if (!done) {
      output->flush();
      return complain(fmt::format("{}: {}", inputs::input_name(options.cases), done.error().detail),
                      kInput);
    }
    if (!options.check) {
      print(*done, output->text());
    } else {
      check(*done, tally, output->text(), json ? &failures : nullptr);
    }
    if (!output->settle()) break;
  }
  if (options.check && json) {
    put_json(output->text(), tally_json(tally, std::move(failures)));
  } else if (options.check) {
    print(tally, output->text());
  }
  return finish_output(*output, tally.failed == 0 ? kOk : kDamaged);
}

}  // namespace

void add_etm4_simulate(Command& etm4, int& exit_code) {
  auto options = std::make_shared<SimulateOptions>();
  Command* command =
      etm4.add_subcommand("simulate", "Run the steps of a case file on a model of the driver");
  command->add_option("CASES", options->cases, "the cases, as JSON; - for standard input")
      ->required();
  command->add_flag("--check", options->check,
                    "compare the results with those in the file instead of printing them");
  command->add_flag("--fixed", options->fixed,
                    "simulate a driver without its bugs, which docs/howto/program_etmv4.md lists");
  add_format_option(*command, options->format, false);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
