#include "waymark/exports/findings.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "waymark/outputs/csv.h"
#include "waymark/outputs/json.h"

namespace waymark::exports {
namespace {

/// How much there is of one kind.
struct KindSum {
  std::uint64_t captures = 0;
  std::uint64_t findings = 0;
};

void put_text(TextBuffer& out, std::string_view name, std::string_view value) {
  out.put(fmt::format("\"{}\":", name));
  outputs::write_json_string(out, value);
}

void write_sums(TextBuffer& out, std::span<const CaptureFindings> captures) {
  std::map<std::string_view, KindSum> sums;
  std::size_t with_findings = 0;
  for (const CaptureFindings& capture : captures) {
    std::set<std::string_view> kinds;
    for (const Finding& finding : capture.findings) {
      ++sums[finding.kind].findings;
      kinds.insert(finding.kind);
    }
    for (const std::string_view kind : kinds) ++sums[kind].captures;
    with_findings += kinds.empty() ? 0 : 1;
  }
  out.put(fmt::format(R"({{"type":"findings","inputs":{},"inputs_with_findings":{},"kinds":[)",
                      captures.size(), with_findings));
  std::string_view comma;
  for (const auto& [kind, sum] : sums) {
    out.put(std::exchange(comma, ","));
    out.put('{');
    put_text(out, "kind", kind);
    out.put(fmt::format(R"(,"inputs":{},"findings":{}}})", sum.captures, sum.findings));
  }
  out.put("],\n\"captures\":[\n");
}

void write_finding(TextBuffer& out, const Finding& finding) {
  out.put('{');
  put_text(out, "kind", finding.kind);
  if (finding.id) out.put(fmt::format(R"(,"id":{})", *finding.id));
  if (finding.count != 0) out.put(fmt::format(R"(,"count":{})", finding.count));
  if (finding.bytes != 0) out.put(fmt::format(R"(,"bytes":{})", finding.bytes));
  out.put(',');
  put_text(out, "text", finding.text);
  out.put('}');
}

}  // namespace

Result<void> write_findings(std::span<const CaptureFindings> captures, TextBuffer& out) {
  write_sums(out, captures);
  std::string_view comma;
  for (const CaptureFindings& capture : captures) {
    out.put(std::exchange(comma, ",\n"));
    out.put('{');
    put_text(out, "input", capture.input);
    out.put(fmt::format(R"(,"code":{},)", capture.code));
    put_text(out, "kind", capture.kind);
    out.put(',');
    put_text(out, "framing", capture.framing);
    out.put(fmt::format(R"(,"bytes":{},"findings":[)", capture.bytes));
    std::string_view between;
    for (const Finding& finding : capture.findings) {
      out.put(std::exchange(between, ","));
      write_finding(out, finding);
    }
    out.put("]}");
  }
  out.put("\n]}\n");
  return {};
}

Result<void> write_findings_csv(std::span<const CaptureFindings> captures, TextBuffer& out) {
  out.put("input,code,capture,framing,trace_bytes,kind,id,count,bytes,text\n");
  const auto number = [](std::uint64_t value) {
    return value == 0 ? std::string() : fmt::format("{}", value);
  };
  for (const CaptureFindings& capture : captures) {
    TextBuffer about;
    outputs::write_csv_field(about, capture.input);
    about.put(fmt::format(",{},", capture.code));
    outputs::write_csv_field(about, capture.kind);
    about.put(fmt::format(",{},{},", capture.framing, capture.bytes));
    if (capture.findings.empty()) {
      out.put(about.view());
      out.put(",,,,\n");
    }
    for (const Finding& finding : capture.findings) {
      out.put(about.view());
      out.put(fmt::format("{},{},{},{},", finding.kind,
                          finding.id ? fmt::format("0x{:02x}", *finding.id) : std::string(),
                          number(finding.count), number(finding.bytes)));
      outputs::write_csv_field(out, finding.text);
      out.put('\n');
    }
  }
  return {};
}

}  // namespace waymark::exports
