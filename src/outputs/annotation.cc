#include "waymark/outputs/annotation.h"

#include <fmt/format.h>

#include <algorithm>

#include "json_object.h"
#include "quoted.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/outputs/csv.h"

namespace waymark::outputs {
namespace {

constexpr std::size_t kAnnotationMnemonicWidth = 7;
constexpr std::size_t kShownTargets = 3;

std::size_t digits_of(std::uint64_t value) { return fmt::formatted_size("{}", value); }

/// The width of the columns of counts: enough for all of them and for their headings.
std::size_t column_width(const AnnotatedFunction& function) {
  std::size_t width = 9;
  for (const AnnotatedInstruction& each : function.code)
    width = std::max({width, digits_of(each.count.times), digits_of(each.count.cycles)});
  return width;
}

void put_count(TextBuffer& out, bool given, std::uint64_t value, std::size_t width) {
  char digits[20];
  const std::size_t size = given ? static_cast<std::size_t>(write_dec(digits, value) - digits) : 0;
  out.put("  ");
  out.right({digits, size}, width);
}

/// Tabs become blanks, so that columns stay.
void put_source(TextBuffer& out, std::string_view line) {
  std::string plain;
  for (const char c : line) plain.append(c == '\t' ? 4U : 1U, c == '\t' ? ' ' : c);
  write_shown(out, plain);
}

void put_instruction(TextBuffer& out, const AnnotatedInstruction& each, const Style& style) {
  out.put(
      fmt::format("0x{:x}  {:0{}x}{}  ", each.address, each.opcode, 2 * each.size,
                  std::string_view("      ").substr(0, each.size >= 4 ? 0 : 8 - 2 * each.size)));
  const std::string_view text = each.text;
  const std::size_t blank = text.find(' ');
  const std::string_view mnemonic = text.substr(0, blank);
  out.put(mnemonic);
  if (blank != std::string_view::npos) {
    for (std::size_t i = mnemonic.size(); i < kAnnotationMnemonicWidth; ++i) out.put(' ');
    out.put(text.substr(blank));
  }
  if (!each.note.empty()) {
    out.put("  ; ");
    out.put(each.note);
  }
  const auto name = [&](std::string_view shown) {
    begin_colour(out, style, Colour::kName);
    write_shown(out, shown);
    end_colour(out, style);
  };
  if (!each.target_name.empty()) {
    out.put(" <");
    name(each.target_name);
    out.put('>');
  }
  for (std::size_t i = 0; i < std::min(each.targets.size(), kShownTargets); ++i) {
    const AnnotatedTarget& target = each.targets[i];
    out.put(i == 0 && each.note.empty() ? std::string_view("  ; to ") : std::string_view(", to "));
    if (target.name.empty()) {
      out.put(fmt::format("0x{:x}", target.address));
    } else {
      name(target.name);
    }
    out.put(' ');
    out.put(counted(target.times, "time"));
  }
  if (each.targets.size() > kShownTargets) {
    out.put(
        fmt::format(", and {} elsewhere", counted(each.targets.size() - kShownTargets, "target")));
  }
}

}  // namespace

void write_text(TextBuffer& out, const AnnotatedFunction& function, const AnnotationFacts& facts,
                const SourceLines& sources, const Style& style) {
  begin_colour(out, style, Colour::kHeading);
  write_shown(out, function.readable);
  end_colour(out, style);
  out.put(" in ");
  write_shown(out, function.program);
  out.put(fmt::format(", 0x{:x} to 0x{:x}: ", function.start, function.last));
  out.put(counted(function.instructions, "instruction"));
  if (facts.whole != 0) {
    out.put(fmt::format(" ({:.1f} %)", 100 * static_cast<double>(function.instructions) /
                                           static_cast<double>(facts.whole)));
  }
  if (facts.cycles) out.put(", " + counted(function.cycles, "cycle"));
  if (function.code.empty()) {
    out.put("\n  its code is not in the program image\n");
    return;
  }
  out.put("\n\n");
  const std::size_t width = column_width(function);
  begin_colour(out, style, Colour::kHeading);
  for (const std::string_view heading : {"times", "taken", "not taken"}) {
    out.put("  ");
    out.right(heading, width);
  }
  if (facts.cycles) {
    out.put("  ");
    out.right("cycles", width);
  }
  end_colour(out, style);
  out.put('\n');
  const std::size_t indent = (width + 2) * (facts.cycles ? 4 : 3) + 2;
  std::string_view file;
  std::string_view inlined;
  std::uint32_t line = 0;
  for (const AnnotatedInstruction& each : function.code) {
    if (!each.file.empty() && (each.file != file || each.inlined != inlined)) {
      out.right("", indent);
      write_shown(out, each.file);
      if (!each.inlined.empty()) {
        out.put(", inlined ");
        begin_colour(out, style, Colour::kName);
        write_shown(out, each.inlined);
        end_colour(out, style);
      }
      out.put('\n');
      file = each.file;
      inlined = each.inlined;
      line = 0;
    }
    if (!each.file.empty() && each.line != 0 && each.line != line) {
      line = each.line;
      out.right("", indent);
      char digits[20];
      out.right({digits, static_cast<std::size_t>(write_dec(digits, line) - digits)}, 5);
      if (const auto text = sources(each.file, line)) {
        out.put("  ");
        put_source(out, *text);
      }
      out.put('\n');
    }
    const bool executable = !each.is_data;
    put_count(out, executable, each.count.times, width);
    put_count(out, executable && each.is_branch, each.count.taken, width);
    put_count(out, executable && each.is_branch, each.count.not_taken, width);
    if (facts.cycles) put_count(out, executable, each.count.cycles, width);
    out.put("      ");
    put_instruction(out, each, style);
    out.put('\n');
  }
}

void write_json(TextBuffer& out, const AnnotatedFunction& function, const AnnotationFacts& facts,
                const SourceLines& sources) {
  Object object(out, "annotated_function");
  object.text("function", function.name);
  object.text("demangled", function.readable);
  object.text("program", function.program);
  object.hex("start", function.start);
  object.hex("end", function.last + 1);
  object.number("instructions", function.instructions);
  if (facts.cycles) object.number("cycles", function.cycles);
  object.flag("complete", facts.complete);
  out.put(",\"code\":[");
  for (const AnnotatedInstruction& each : function.code) {
    if (&each != function.code.data()) out.put(',');
    out.put(fmt::format(R"({{"address":"0x{:x}","opcode":"0x{:0{}x}","text":)", each.address,
                        each.opcode, 2 * each.size));
    write_json_string(out, each.text);
    if (!each.note.empty()) {
      out.put(",\"note\":");
      write_json_string(out, each.note);
    }
    if (!each.target_name.empty()) {
      out.put(",\"target\":");
      write_json_string(out, each.target_name);
    }
    if (!each.is_data) {
      out.put(fmt::format(R"(,"times":{})", each.count.times));
      if (each.is_branch)
        out.put(
            fmt::format(R"(,"taken":{},"not_taken":{})", each.count.taken, each.count.not_taken));
      if (facts.cycles) out.put(fmt::format(R"(,"cycles":{})", each.count.cycles));
    }
    if (!each.file.empty()) {
      out.put(",\"file\":");
      write_json_string(out, each.file);
      out.put(fmt::format(R"(,"line":{})", each.line));
      if (const auto text = sources(each.file, each.line)) {
        out.put(",\"source\":");
        write_json_string(out, *text);
      }
    }
    if (!each.inlined.empty()) {
      out.put(",\"inlined\":");
      write_json_string(out, each.inlined);
    }
    if (!each.targets.empty()) {
      out.put(",\"targets\":[");
      for (const AnnotatedTarget& target : each.targets) {
        if (&target != each.targets.data()) out.put(',');
        out.put(fmt::format(R"({{"address":"0x{:x}","times":{})", target.address, target.times));
        if (!target.name.empty()) {
          out.put(",\"name\":");
          write_json_string(out, target.name);
        }
        out.put('}');
      }
      out.put(']');
    }
    out.put('}');
  }
  out.put(']');
  object.end();
}

void write_annotation_csv_header(TextBuffer& out) {
  out.put(
      "function,demangled,program,address,opcode,text,target,times,taken,not_taken,cycles,file,"
      "line,"
      "inlined,source,complete\n");
}

void write_csv(TextBuffer& out, const AnnotatedFunction& function, const AnnotationFacts& facts,
               const SourceLines& sources) {
  for (const AnnotatedInstruction& each : function.code) {
    write_csv_field(out, function.name);
    out.put(',');
    write_csv_field(out, function.readable);
    out.put(',');
    write_csv_field(out, function.program);
    out.put(fmt::format(",0x{:x},0x{:0{}x},", each.address, each.opcode, 2 * each.size));
    write_csv_field(out, each.note.empty() ? each.text : each.text + " ; " + each.note);
    out.put(',');
    write_csv_field(out, each.target_name);
    const auto number = [&](bool given, std::uint64_t value) {
      out.put(',');
      if (given) out.dec(value);
    };
    number(!each.is_data, each.count.times);
    number(!each.is_data && each.is_branch, each.count.taken);
    number(!each.is_data && each.is_branch, each.count.not_taken);
    number(!each.is_data && facts.cycles, each.count.cycles);
    out.put(',');
    write_csv_field(out, each.file);
    number(each.line != 0, each.line);
    out.put(',');
    write_csv_field(out, each.inlined);
    out.put(',');
    const auto text = each.file.empty() ? std::nullopt : sources(each.file, each.line);
    write_csv_field(out, text.value_or(std::string_view()));
    out.put(facts.complete ? std::string_view(",1\n") : std::string_view(",0\n"));
  }
}

}  // namespace waymark::outputs
