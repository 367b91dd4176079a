#include "etm4_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "waymark/base/escape.h"

namespace waymark::cli {

Json hex_json(std::uint64_t value) { return fmt::format("0x{:x}", value); }

Json registers_json(const etm4x::RegisterImage& image) {
  Json registers = Json::object();
  for (const etm4x::RegisterValue& item : image.values()) {
    registers[item.name] = hex_json(item.value);
  }
  return registers;
}

Json writes_json(const std::vector<etm4x::SysfsWrite>& writes) {
  Json list = Json::array();
  for (const etm4x::SysfsWrite& write : writes) {
    list.push_back({{"file", write.file}, {"value", write.value}});
  }
  return list;
}

Json problems_json(const std::vector<etm4x::PlanProblem>& problems) {
  Json list = Json::array();
  for (const etm4x::PlanProblem& problem : problems) list.push_back(problem.text());
  return list;
}

void put_json(TextBuffer& out, const Json& value) {
  out.put(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  out.put('\n');
}

void put_lines(TextBuffer& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    put_escaped(out, text.substr(0, end));
    if (end == std::string_view::npos) return;
    out.put('\n');
    text.remove_prefix(end + 1);
  }
}

}  // namespace waymark::cli
