// Decodes stretches of a trace with a program at one place.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "waymark/inputs/code_memory.h"
#include "waymark/inputs/image_check.h"
#include "waymark/locate/locate.h"

namespace waymark::locate {

/// A stretch of memory with code.
struct CodeRange {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

class Trials {
 public:
  /// Only these elements count.
  using IsOurs = std::function<bool(const Element& element)>;

  /// `stop` is asked before each stretch.  `is_ours`, which may be empty: all are.
  Trials(inputs::Capture& capture, const std::function<bool()>& stop, IsOurs is_ours = {});

  /// Gives each address without code in the image as it is now.
  void read_missing(const std::function<void(const Element& element)>& take);

  /// The addresses without code in the image as it is now, the most frequent first; each once.
  std::vector<std::uint64_t> read_addresses();
  /// How often they occur.
  [[nodiscard]] std::uint64_t stated() const { return stated_; }

  /// A short trial, which ends early where the image is contradicted.
  Evidence try_briefly(const std::vector<CodeRange>& code);
  /// With all stretches.
  Evidence try_all(const std::vector<CodeRange>& code);

  /// Asks `stop`.
  bool asks_to_stop();
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  [[nodiscard]] bool is_ours(const Element& element) const {
    return !is_ours_ || is_ours_(element);
  }
  /// The memory has changed since the last window.
  void refresh();
  void decode(inputs::TraceWindow window, const std::vector<CodeRange>& code, bool briefly,
              Evidence& evidence);

  inputs::Capture& capture_;
  DecodeTree& tree_;
  inputs::CodeMemory memory_;
  const std::function<bool()>& stop_;
  IsOurs is_ours_;
  std::vector<inputs::TraceWindow> windows_;
  std::vector<inputs::TraceWindow> brief_;  ///< The beginnings of some of them.
  std::uint64_t stated_ = 0;
  bool stopped_ = false;
};

}  // namespace waymark::locate
