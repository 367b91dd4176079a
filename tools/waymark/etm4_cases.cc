#include "etm4_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "waymark/base/number.h"
#include "waymark/etm4x/cases.h"

namespace waymark::cli {
namespace {

using etm4x::Environment;
using etm4x::IdRegisters;
using etm4x::PerfFilter;
using etm4x::PerfRequest;
using etm4x::RegisterImage;

std::unexpected<Error> bad(std::string detail) {
  return fail(ErrorCode::kParse, std::move(detail));
}

// A number, or a text in C notation.
Result<std::uint64_t> number_of(const Json& value, std::string_view name) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (const auto number = parse_number(text)) return *number;
  }
  return bad(fmt::format(R"("{}" is {}, not a number such as 12 or "0xC")", name, value.dump()));
}

Result<std::uint64_t> member_number(const Json& object, std::string_view name,
                                    std::uint64_t fallback) {
  const auto at = object.find(name);
  if (at == object.end() || at->is_null()) return fallback;
  return number_of(*at, name);
}

Result<bool> member_flag(const Json& object, std::string_view name, bool fallback) {
  const auto value = member_number(object, name, fallback ? 1 : 0);
  if (!value) return std::unexpected(value.error());
  return *value != 0;
}

// An empty object if there is none.
Result<const Json*> member_object(const Json& object, std::string_view name) {
  static const Json kNone = Json::object();
  const auto at = object.find(name);
  if (at == object.end() || at->is_null()) return &kNone;
  if (at->is_object()) return &*at;
  return bad(fmt::format("\"{}\" is not an object", name));
}

Result<IdRegisters> ids_of(const Json& caps) {
  IdRegisters id;
  for (unsigned i = 0; i < id.idr.size(); ++i) {
    const auto value = member_number(caps, fmt::format("TRCIDR{}", i), 0);
    if (!value) return std::unexpected(value.error());
    id.idr[i] = static_cast<std::uint32_t>(*value);
  }
  const auto devarch = member_number(caps, "TRCDEVARCH", id.devarch);
  if (!devarch) return std::unexpected(devarch.error());
  id.devarch = static_cast<std::uint32_t>(*devarch);
  return id;
}

Result<Environment> environment_of(const Json& env) {
  Environment where;
  const auto cpu = member_number(env, "cpu", 0);
  if (!cpu) return std::unexpected(cpu.error());
  where.cpu = static_cast<unsigned>(*cpu);
  if (const auto access = env.find("access"); access != env.end()) {
    if (*access == "sysreg") {
      where.access = etm4x::RegisterAccess::kSystemRegisters;
    } else if (*access != "mmio") {
      return bad(fmt::format(R"("access" is {}, not "mmio" or "sysreg")", access->dump()));
    }
  }
  static constexpr std::pair<std::string_view, bool Environment::*> kFlags[] = {
      {"vhe", &Environment::kernel_at_el2},
      {"init_pid_ns", &Environment::init_pid_namespace},
      {"sink_active", &Environment::sink_active},
      {"claimed", &Environment::claimed},
      {"trf", &Environment::has_trf},
      {"skip_power_up", &Environment::skip_power_up},
      {"threshold_erratum", &Environment::threshold_erratum}};
  for (const auto& [name, member] : kFlags) {
    const auto value = member_flag(env, name, where.*member);
    if (!value) return std::unexpected(value.error());
    where.*member = *value;
  }
  if (const auto shots = env.find("TRCSSCSR"); shots != env.end()) {
    if (!shots->is_array() || shots->size() > where.sscsr.size()) {
      return bad("\"TRCSSCSR\" is not a list of at most 8 values");
    }
    for (std::size_t i = 0; i < shots->size(); ++i) {
      const auto value = number_of((*shots)[i], "TRCSSCSR");
      if (!value) return std::unexpected(value.error());
      where.sscsr[i] = static_cast<std::uint32_t>(*value);
    }
  }
  return where;
}

Result<PerfRequest> perf_of(const Json& perf) {
  PerfRequest request;
  if (!perf.is_object()) return bad("\"perf\" is not an object");
  const auto options = member_object(perf, "options");
  if (!options) return std::unexpected(options.error());
  static constexpr std::pair<std::string_view, bool PerfRequest::*> kFlags[] = {
      {"branch_broadcast", &PerfRequest::branch_broadcast},
      {"cycacc", &PerfRequest::cycacc},
      {"contextid", &PerfRequest::contextid},
      {"contextid1", &PerfRequest::contextid1},
      {"contextid2", &PerfRequest::contextid2},
      {"timestamp", &PerfRequest::timestamp},
      {"retstack", &PerfRequest::retstack}};
  static constexpr std::pair<std::string_view, std::uint32_t PerfRequest::*> kNumbers[] = {
      {"preset", &PerfRequest::preset},
      {"configid", &PerfRequest::configid},
      {"cc_threshold", &PerfRequest::cc_threshold}};
  for (const auto& [name, value] : (*options)->items()) {
    const auto number = number_of(value, name);
    if (!number) return std::unexpected(number.error());
    bool known = name == "sinkid";
    for (const auto& [flag, member] : kFlags) {
      if (name != flag) continue;
      request.*member = *number != 0;
      known = true;
    }
    for (const auto& [field, member] : kNumbers) {
      if (name != field) continue;
      request.*member = static_cast<std::uint32_t>(*number);
      known = true;
    }
    if (!known) return bad(fmt::format("the PMU has no option \"{}\"", name));
  }
  static constexpr std::pair<std::string_view, bool PerfRequest::*> kEvent[] = {
      {"exclude_kernel", &PerfRequest::exclude_kernel},
      {"exclude_user", &PerfRequest::exclude_user},
      {"ssstatus", &PerfRequest::start_stop_started}};
  for (const auto& [name, member] : kEvent) {
    const auto value = member_flag(perf, name, false);
    if (!value) return std::unexpected(value.error());
    request.*member = *value;
  }
  const auto filters = perf.find("filters");
  if (filters == perf.end() || filters->is_null()) return request;
  if (!filters->is_array()) return bad("\"filters\" is not a list");
  for (const Json& item : *filters) {
    PerfFilter filter;
    const auto action = item.is_object() ? item.find("action") : item.end();
    if (action == item.end()) return bad("a filter has no \"action\"");
    if (*action == "start") {
      filter.action = etm4x::FilterAction::kStart;
    } else if (*action == "stop") {
      filter.action = etm4x::FilterAction::kStop;
    } else if (*action != "filter") {
      return bad(fmt::format("\"action\" is {}, not filter, start or stop", action->dump()));
    }
    const auto start = member_number(item, "start", 0);
    const auto size = member_number(item, "size", 0);
    if (!start) return std::unexpected(start.error());
    if (!size) return std::unexpected(size.error());
    filter.start = *start;
    filter.size = *size;
    request.filters.push_back(filter);
  }
  return request;
}

Json result_json(const etm4x::StepResult& result) {
  if (const auto* text = std::get_if<std::string>(&result)) return *text;
  Json object = Json::object();
  for (const auto& value : std::get<RegisterImage>(result).values())
    object[value.name] = etm4x::register_text(value);
  return object;
}

Result<etm4x::Step> write_of(const Json& write) {
  if (!write.is_array() || write.size() != 2 || !write[0].is_string() || !write[1].is_string()) {
    return bad("\"write\" is not a pair of a file and its bytes");
  }
  return etm4x::WriteStep{write[0].get<std::string>(), write[1].get<std::string>()};
}

Result<etm4x::Step> disable_of(const Json& disable) {
  etm4x::DisableStep step;
  if (!disable.is_object() && !disable.is_boolean() && !disable.is_null()) {
    return bad("\"disable\" is not an object");
  }
  if (disable.is_object()) {
    for (const auto& [name, value] : disable.items()) {
      const auto number = number_of(value, name);
      if (!number) return std::unexpected(number.error());
      step.registers.emplace_back(name, *number);
    }
  }
  return step;
}

Result<etm4x::Step> step_of(const Json& step) {
  if (!step.is_object()) return bad("it is not an object");
  if (const auto at = step.find("write"); at != step.end()) return write_of(*at);
  if (const auto at = step.find("read"); at != step.end()) {
    if (!at->is_string()) return bad("\"read\" is not a file name");
    return etm4x::ReadStep{at->get<std::string>()};
  }
  if (const auto at = step.find("perf"); at != step.end()) {
    auto request = perf_of(*at);
    if (!request) return std::unexpected(request.error());
    return etm4x::PerfStep{std::move(*request)};
  }
  if (const auto at = step.find("disable"); at != step.end()) return disable_of(*at);
  if (step.contains("image")) return etm4x::ImageStep{};
  if (step.contains("hardware")) return etm4x::HardwareStep{};
  return bad("it is not write, read, image, hardware, disable or perf");
}

// The library parses nested values in a loop, but prints and copies them by recursion.
Result<void> check_depth(std::string_view text) {
  constexpr std::size_t kDeepest = 32;
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) {
        return bad(fmt::format(
            "line {}: lists and objects are nested more than {} levels deep; cases need at most 8.",
            1 + std::ranges::count(text.substr(0, i), '\n'), kDeepest));
      }
    } else if ((c == ']' || c == '}') && depth != 0) {
      --depth;
    }
  }
  return {};
}

}  // namespace

Result<Json> read_etm4_cases(std::string_view text) {
  if (auto flat = check_depth(text); !flat) return std::unexpected(flat.error());
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    // Only a second parse tells where, and it throws.
    try {
      document = Json::parse(text);
    } catch (const Json::parse_error& error) {
      const auto before = text.substr(0, error.byte);
      return bad(
          fmt::format("line {}: this is not JSON: the text ends too early, or has a character that "
                      "is not valid here.",
                      1 + std::ranges::count(before, '\n')));
    }
  }
  if (!document.is_object() || !document.contains("cases") || !document["cases"].is_array()) {
    return bad("there is no list \"cases\": the file is not a collection of cases.");
  }
  if (const auto format = document.find("format"); format != document.end() && *format != 1) {
    return bad(fmt::format("the format is {}; this program reads format 1.", format->dump()));
  }
  return document;
}

Result<Etm4Case> run_etm4_case(const Json& item, etm4x::Quirks quirks) {
  if (!item.is_object()) return bad("an item of \"cases\" is not an object.");
  etm4x::Case todo;
  const auto id = item.find("id");
  todo.id = id != item.end() && id->is_string() ? id->get<std::string>() : "?";
  const auto in_case = [&](const Error& error) {
    return bad(fmt::format("case {}: {}.", todo.id, error.detail));
  };
  const auto caps = member_object(item, "caps");
  if (!caps) return in_case(caps.error());
  const auto env = member_object(item, "env");
  if (!env) return in_case(env.error());
  const auto ids = ids_of(**caps);
  if (!ids) return in_case(ids.error());
  todo.unit = *ids;
  const auto environment = environment_of(**env);
  if (!environment) return in_case(environment.error());
  todo.environment = *environment;
  const auto steps = item.find("steps");
  if (steps == item.end() || !steps->is_array()) {
    return bad(fmt::format("case {}: there is no list \"steps\".", todo.id));
  }
  for (const Json& step : *steps) {
    auto read = step_of(step);
    if (!read) {
      return bad(
          fmt::format("case {}, step {}: {}.", todo.id, todo.steps.size(), read.error().detail));
    }
    todo.steps.push_back(std::move(*read));
  }
  Etm4Case run{.id = todo.id, .steps = {}};
  const auto results = etm4x::run_case(todo, quirks);
  for (std::size_t i = 0; i < results.size(); ++i)
    run.steps.push_back({&(*steps)[i], result_json(results[i])});
  return run;
}

Json etm4_expectation(const Json& step) {
  const auto member = [&step](std::string_view name) {
    const auto at = step.find(name);
    return at == step.end() ? Json() : *at;
  };
  if (step.contains("perf")) {
    const Json expected = member("expect");
    return expected.is_null() || expected == "ok" ? member("image") : expected;
  }
  if (step.contains("write")) return member("expect");
  if (step.contains("read")) {
    return step.contains("expect") ? member("expect") : member("expect_err");
  }
  if (step.contains("disable")) return member("expect");
  return step.contains("image") ? member("image") : member("hardware");
}

std::string json_text(const Json& value) {
  if (!value.is_object()) return value.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string text = "{";
  for (const auto& [name, item] : value.items()) {
    if (text.size() > 1) text += ", ";
    text += json_text(Json(name)) + ": " + json_text(item);
  }
  return text + "}";
}

}  // namespace waymark::cli
