// Which exceptions are being handled, and for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::count {

/// The exceptions of one source, as its trace says that they begin and end.  A value.
///
/// The trace may begin inside of handlers and may lose some of what happened.  What is not known to
/// be left when something below it goes on, is left then.
class ExceptionStack {
 public:
  /// Deeper exceptions than these are not kept.
  static constexpr std::size_t kMostDepth = 1024;

  /// When something happened, and its place in the trace.
  struct Moment {
    std::uint64_t time = 0;
    TraceIndex index = 0;
  };
  struct Handled {
    std::uint32_t number = 0;
    Moment begin{};
    std::uint64_t preempted = 0;  ///< The time for which others interrupted it.
    unsigned depth = 0;           ///< The number of exceptions that it interrupted.
    bool whole = true;            ///< False: its beginning or its end was not traced.
  };
  /// Called for each exception that ends, the innermost first.
  using Left = std::function<void(const Handled& handled, const Moment& end)>;

  void enter(std::uint32_t number, const Moment& now) { add(number, now, true); }
  /// The innermost one ends.
  void exit(const Moment& now, const Left& left);
  void exit(std::uint32_t number, const Moment& now, const Left& left);
  /// The handler of this exception goes on; 0: none is handled any more.
  void return_to(std::uint32_t number, const Moment& now, const Left& left);
  /// Trace was lost: it is unknown which of them ended.
  void lose(const Moment& now, const Left& left);

  /// The number of the innermost one; nothing: none is being handled, or it is unknown.
  [[nodiscard]] std::optional<std::uint32_t> current() const {
    return stack_.empty() ? std::nullopt : std::optional(stack_.back().number);
  }
  [[nodiscard]] const std::vector<Handled>& open() const { return stack_; }

 private:
  void add(std::uint32_t number, const Moment& now, bool whole);
  void leave(const Moment& now, const Left& left);
  bool leave_down_to(std::uint32_t number, bool with_it, const Moment& now, const Left& left);

  std::vector<Handled> stack_;
  std::uint64_t dropped_ = 0;  ///< Exceptions above kMostDepth.
};

}  // namespace waymark::count
