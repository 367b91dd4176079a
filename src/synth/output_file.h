// A file of a capture while it is written.
#pragma once

#include <fmt/core.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::synth {

/// A file that is written in large pieces.  kIo: the system refused.
class OutputFile {
 public:
  static Result<OutputFile> open(const std::filesystem::path& path) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return refused(path.string());
    // Without success the file is only slower.
    static_cast<void>(std::setvbuf(file, nullptr, _IONBF, 0));
    return OutputFile(file, path.string());
  }
  Result<void> write(Bytes bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
      return refused(path_);
    size_ += bytes.size();
    return {};
  }
  /// The number of bytes so far.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  Result<void> close() {
    if (std::fclose(file_.release()) != 0) return refused(path_);
    return {};
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  OutputFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  static std::unexpected<Error> refused(const std::string& path) {
    return fail(ErrorCode::kIo, fmt::format("Cannot write '{}': {}.", path,
                                            std::generic_category().message(errno)));
  }

  std::unique_ptr<std::FILE, Closer> file_;
  std::string path_;
  std::uint64_t size_ = 0;
};

}  // namespace waymark::synth
