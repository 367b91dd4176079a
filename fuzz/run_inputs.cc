// Runs one of the fuzz targets on every file of a folder, without a fuzzer.  Prints the name of
// each file before it runs it, so that the last line names the one that ended the program.
//
//   run_inputs TARGET FOLDER
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "waymark/base/mapped_file.h"

// The targets are compiled with names of their own.
#define WAYMARK_TARGET(name) extern "C" int name(const std::uint8_t* data, std::size_t size);
#include "targets.inc"
#undef WAYMARK_TARGET

namespace {

namespace fs = std::filesystem;

struct Target {
  std::string_view name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

constexpr Target kTargets[] = {
#define WAYMARK_TARGET(name) {#name, name},
#include "targets.inc"
#undef WAYMARK_TARGET
};

int run(const Target& target, const char* folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    paths.push_back(entry.path());
  if (paths.empty()) {
    (void)std::fprintf(stderr, "run_inputs: there are no files in %s; make_corpus writes them.\n",
                       folder);
    return 1;
  }
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    const auto file = waymark::MappedFile::open(path.string());
    if (!file) {
      (void)std::fprintf(stderr, "run_inputs: %s\n", file.error().detail.c_str());
      return 1;
    }
    (void)std::puts(path.c_str());
    (void)std::fflush(stdout);
    // A buffer of exactly its size, so that the sanitizer detects every read beyond it.
    const std::vector<std::uint8_t> input(file->bytes().begin(), file->bytes().end());
    target.run(input.data(), input.size());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  if (argc != 3) {
    (void)std::fputs("usage: run_inputs TARGET FOLDER\n", stderr);
    return 2;
  }
  const Target* const found = std::ranges::find(kTargets, arguments[1], &Target::name);
  if (found == std::end(kTargets)) {
    (void)std::fprintf(stderr, "run_inputs: there is no target '%s'.\n", arguments[1]);
    return 2;
  }
  return run(*found, arguments[2]);
}
