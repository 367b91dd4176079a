// waymark_reference: writes the man pages and the completions of waymark into a folder, arranged as
// below share/ of an installation.  It has the commands of the program, so that they agree with it.
//
//   waymark_reference TEXTS FOLDER DATE VERSION     TEXTS: the folder man/
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "command.h"
#include "commands.h"
#include "completion.h"
#include "man_page.h"

namespace {

using namespace waymark::cli;
namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("Cannot write {}.", path.string()));
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error(
        fmt::format("{} is missing: each command needs a text for its man page.", path.string()));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A line "@include NAME" stands for the text NAME.txt.
std::string with_includes(const std::string& text, const fs::path& texts) {
  constexpr std::string_view kInclude = "@include ";
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kInclude)) {
      result += with_includes(read(texts / (line.substr(kInclude.size()) + ".txt")), texts);
    } else {
      result += line + '\n';
    }
  }
  return result;
}

void write_pages(const CommandRow& command, const fs::path& texts, const fs::path& folder,
                 const PageContext& context) {
  const std::string name = page_name(command);
  const std::string text = with_includes(read(texts / (name + ".txt")), texts);
  write(folder / "man/man1" / (name + ".1"), man_page(command, text, context));
  for (const CommandRow& sub : command.commands) write_pages(sub, texts, folder, context);
}

int run(char** argv) {
  int exit_code = 0;
  const auto app = make_commands(exit_code);
  const CommandRow program = describe(*app);
  const fs::path folder = argv[2];
  write_pages(program, argv[1], folder, {.date = argv[3], .version = argv[4]});
  write(folder / "bash-completion/completions/waymark", bash_completion(program));
  write(folder / "zsh/site-functions/_waymark", zsh_completion(program));
  write(folder / "fish/vendor_completions.d/waymark.fish", fish_completion(program));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kArguments = 5;
  if (argc != kArguments) {
    (void)std::fputs("Usage: waymark_reference TEXTS FOLDER DATE VERSION\n", stderr);
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "waymark_reference: %s\n", error.what());
    return 1;
  }
}
