// Inputs that may come through a pipe: standard input, FIFOs, process substitution.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "waymark/base/mapped_file.h"
#include "waymark/base/result.h"

namespace waymark::inputs {

class TemporaryFile;

/// True for "-", which is standard input, and for a pipe or socket: it can be read only once.
bool is_stream(const std::string& path);

/// The name of the input in a sentence: "standard input" for "-", otherwise the path.
std::string input_name(const std::string& path);

/// Called several times a second while an input is read.  True: reading ends with an error.
using StopReading = std::function<bool()>;

/// Reads an input from its beginning to its end, once.  Move-only.
class InputStream {
 public:
  /// Does not wait for a writer.  kNotFound, kIo: the system refuses, or the input is a terminal, a
  /// folder or a device, whose content might not end.  /dev/null is empty.
  static Result<InputStream> open(const std::string& path, StopReading stop = {});

  /// Waits for bytes and returns how many were read; 0: the end.  kIo: the system refuses, or
  /// reading was stopped.
  Result<std::size_t> read(std::span<std::uint8_t> out);

  /// Waits at most `patience`.  True: read() will not wait, because there are bytes or it is the
  /// end. kIo: waiting was stopped.
  Result<bool> wait(std::chrono::milliseconds patience);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Descriptor;

  InputStream(std::string path, std::shared_ptr<Descriptor> descriptor, StopReading stop);

  std::string path_;
  std::shared_ptr<Descriptor> descriptor_;
  StopReading stop_;
};

/// Opens inputs as memory.  Inputs that can be read only once are copied to a temporary file, which
/// has no name and disappears with the opener; opening them again gives the same bytes.
class InputOpener {
 public:
  /// `note` is called with a sentence before an input is copied.
  explicit InputOpener(StopReading stop = {}, std::function<void(const std::string&)> note = {})
      : stop_(std::move(stop)), note_(std::move(note)) {}

  /// Errors as for MappedFile::open() and InputStream::open(); kIo: no room in $TMPDIR.
  Result<MappedFile> open(const std::string& path);

  /// The same for a stream of which `head` was already read.
  Result<MappedFile> open(InputStream& stream, Bytes head);

 private:
  StopReading stop_;
  std::function<void(const std::string&)> note_;
  std::map<std::string, std::shared_ptr<TemporaryFile>> copies_;  ///< By path.
};

}  // namespace waymark::inputs
