#include "man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "exit_status.h"

namespace waymark::cli {
namespace {

/// The order of sections; those that are not here come after OPTIONS.
constexpr std::string_view kLastSections[] = {"EXIT STATUS", "ENVIRONMENT", "FILES",
                                              "NOTES",       "EXAMPLES",    "SEE ALSO"};

struct Section {
  std::string heading;
  std::string body;  ///< In the language of man pages.
};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

/// Characters that roff would take for something else.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x80)
          throw std::runtime_error(fmt::format("not ASCII: {}", text));
        result += c;
    }
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fP"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fP"; }

/// The length of "--option", "-o" or "waymark-decode(1)" at the beginning; 0: none is there.
std::size_t bold_prefix(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_name_character(text[end])) ++end;
  if (text.substr(end).starts_with("(1)")) return end + 3;
  const bool is_option = text.starts_with("-") && end > 1 && text.find_first_not_of('-') < end;
  if (!is_option) return 0;
  while (text[end - 1] == '-') --end;
  return end;
}

/// Text with its markup.
std::string inline_text(std::string_view text) {
  std::string result;
  bool is_start = true;  // A word starts here.
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t close = c == '`' || c == '*' ? text.find(c, 1) : std::string_view::npos;
    const bool is_marked = close != std::string_view::npos && close > 1 &&
                           (c == '`' || (is_start && is_name_character(text[1])));
    std::size_t length = 1;
    if (is_marked) {
      const std::string_view inner = text.substr(1, close - 1);
      result += c == '`' ? bold(inner) : italic(inner);
      length = close + 1;
    } else if (const std::size_t prefix = is_start ? bold_prefix(text) : 0; prefix != 0) {
      const std::string_view word = text.substr(0, prefix);
      const bool is_page = word.ends_with("(1)");
      result += is_page ? bold(word.substr(0, prefix - 3)) + "(1)" : bold(word);
      length = prefix;
    } else if (c == '-') {
      result += '-';  // A hyphen, where it is not code.
    } else {
      result += escaped(text.substr(0, 1));
    }
    is_start = !is_name_character(text[length - 1]);
    text.remove_prefix(length);
  }
  return result;
}

/// A line of text that roff cannot take for a request.
void put_line(std::string& out, const std::string& line) {
  if (line.starts_with('.')) out += "\\&";
  out += line + '\n';
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void put_verbatim(std::string& out, const std::vector<std::string>& lines) {
  out += ".PP\n.RS 4\n.nf\n";
  for (const std::string& line : lines) put_line(out, escaped(line));
  out += ".fi\n.RE\n";
}

class TextReader {
 public:
  explicit TextReader(const std::string& text) : lines_(lines_of(text)) {}

  std::vector<Section> read() {
    while (at_ < lines_.size()) read_block();
    return std::move(sections_);
  }

 private:
  [[nodiscard]] bool is_explanation(std::size_t line) const {
    return line < lines_.size() && lines_[line].starts_with(": ");
  }

  std::string& body() {
    if (sections_.empty()) throw std::runtime_error("a text begins without a heading");
    return sections_.back().body;
  }

  void read_block() {
    const std::string& line = lines_[at_];
    if (line.empty()) {
      ++at_;
    } else if (line.starts_with("## ")) {
      body() += fmt::format(".SS {}\n", escaped(line.substr(3)));
      is_first_ = true;
      ++at_;
    } else if (line.starts_with("# ")) {
      sections_.push_back({line.substr(2), {}});
      is_first_ = true;
      ++at_;
    } else if (line.starts_with("    ")) {
      std::vector<std::string> shown;
      for (; at_ < lines_.size() && lines_[at_].starts_with("    "); ++at_)
        shown.push_back(lines_[at_].substr(4));
      put_verbatim(body(), shown);
      is_first_ = false;
    } else if (is_explanation(at_ + 1)) {
      body() += ".TP\n";
      put_line(body(), inline_text(line));
      lines_[++at_].erase(0, 2);
      put_paragraph();
    } else {
      if (!is_first_) body() += ".PP\n";
      put_paragraph();
    }
  }

  void put_paragraph() {
    for (; at_ < lines_.size() && !lines_[at_].empty() && !is_explanation(at_ + 1); ++at_)
      put_line(body(), inline_text(lines_[at_]));
    is_first_ = false;
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  bool is_first_ = true;
  std::vector<Section> sections_;
};

/// "FILE[@ADDRESS]" with its names in italics; words in bold.
std::string value_text(std::string_view value) {
  std::string result;
  while (!value.empty()) {
    std::size_t end = 0;
    while (end < value.size() && is_name_character(value[end])) ++end;
    if (end == 0) {
      result += escaped(value.substr(0, 1));
      value.remove_prefix(1);
      continue;
    }
    const std::string_view word = value.substr(0, end);
    const bool is_name = std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
    result += is_name ? italic(word) : bold(word);
    value.remove_prefix(end);
  }
  return result;
}

std::string sentence(const std::string& text) {
  return text.ends_with('.') || text.ends_with('?') ? text : text + '.';
}

std::string options_text(const CommandRow& command) {
  std::string out;
  std::string_view group = kPlainGroup;
  for (const OptionRow& option : command.options) {
    if (option.group != group) out += fmt::format(".SS {}\n", escaped(option.group));
    group = option.group;
    std::vector<std::string> names;
    names.reserve(option.names.size());
    for (const std::string& name : option.names) names.push_back(bold(name));
    std::string left = fmt::format("{}", fmt::join(names, ", "));
    if (!option.value.empty()) {
      const std::string value = value_text(option.value);
      left += option.is_value_optional ? fmt::format(" [{}]", value) : " " + value;
    }
    out += fmt::format(".TP\n{}\n", left);
    const std::string conflicts = option.conflicts.empty() ? "" : "; " + option.conflicts;
    put_line(out, inline_text(sentence(option.help + conflicts)));
  }
  return out;
}

std::string synopsis_text(const CommandRow& command) {
  std::string text = bold(command.name);
  if (!command.commands.empty()) text += " " + italic("COMMAND");
  text += fmt::format(" [{}]...", italic("OPTION"));
  for (const OptionRow& option : command.options) {
    if (option.is_required)
      text += fmt::format(" {} {}", bold(option.names.front()), value_text(option.value));
  }
  for (const OptionRow& argument : command.arguments) {
    const std::string name = italic(argument.value);
    text += argument.is_required ? " " + name : fmt::format(" [{}]", name);
    if (argument.is_repeatable) text += "...";
  }
  return text + '\n';
}

std::string commands_text(const CommandRow& command) {
  std::string out;
  std::string_view group;
  for (const CommandRow& sub : command.commands) {
    if (sub.group != group) out += fmt::format(".SS {}\n", escaped(sub.group));
    group = sub.group;
    out += fmt::format(".TP\n{}\n", inline_text(page_name(sub) + "(1)"));
    put_line(out, inline_text(sentence(sub.summary)));
  }
  return out;
}

std::string exit_status_text() {
  std::string out;
  for (const ExitStatus& status : kExitStatus) {
    out += fmt::format(".TP\n\\fB{}\\fP\n", status.code);
    std::string meaning(status.meaning);
    meaning.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(meaning.front())));
    put_line(out, inline_text(sentence(meaning)));
  }
  return out;
}

/// The pages of the program, of the command that this one belongs to and of its own commands, and
/// those that the text names.
std::string see_also(const CommandRow& command, const std::string& more) {
  std::vector<std::string> pages;
  const std::string name = page_name(command);
  for (std::size_t end = name.find('-'); end != std::string::npos; end = name.find('-', end + 1))
    pages.push_back(inline_text(name.substr(0, end) + "(1)"));
  for (const CommandRow& sub : command.commands)
    pages.push_back(inline_text(page_name(sub) + "(1)"));
  std::string out = fmt::format("{}", fmt::join(pages, ",\n"));
  if (!more.empty()) out += (out.empty() ? "" : ",\n") + more;
  return out.ends_with('\n') ? out : out + '\n';
}

}  // namespace

std::string page_name(const CommandRow& command) {
  std::string name = command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const CommandRow& command, const std::string& text,
                     const PageContext& context) {
  std::vector<Section> texts = TextReader(text).read();
  const auto take = [&](std::string_view heading) {
    std::string body;
    const auto found = std::ranges::find(texts, heading, &Section::heading);
    if (found != texts.end()) {
      body = std::move(found->body);
      texts.erase(found);
    }
    return body;
  };
  std::string title = page_name(command);
  std::ranges::transform(title, title.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string summary = command.summary;
  summary.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(summary.front())));
  std::string page = fmt::format(".TH \"{}\" 1 {} \"Waymark {}\" \"Waymark manual\"\n", title,
                                 context.date, context.version);
  const auto put = [&](std::string_view heading, const std::string& body) {
    if (!body.empty()) page += fmt::format(".SH \"{}\"\n{}", heading, body);
  };
  put("NAME", fmt::format("{} \\- {}\n", escaped(page_name(command)), inline_text(summary)));
  put("SYNOPSIS", synopsis_text(command));
  const std::string description = take("DESCRIPTION");
  if (description.empty())
    throw std::runtime_error(page_name(command) + ".txt has no section DESCRIPTION.");
  put("DESCRIPTION", description);
  put("COMMANDS", commands_text(command));
  put("OPTIONS", options_text(command));

  std::vector<Section> last;
  for (const std::string_view heading : kLastSections)
    last.push_back({std::string(heading), take(heading)});
  for (const Section& section : texts) put(section.heading, section.body);
  for (Section& section : last) {
    if (section.heading == "EXIT STATUS" && section.body.empty()) section.body = exit_status_text();
    if (section.heading == "EXAMPLES" && !command.examples.empty()) {
      put_verbatim(section.body, command.examples);
      if (section.body.starts_with(".PP\n")) section.body.erase(0, 4);
    }
    if (section.heading == "SEE ALSO") section.body = see_also(command, section.body);
    put(section.heading, section.body);
  }
  return page;
}

}  // namespace waymark::cli
