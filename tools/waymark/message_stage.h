// SyS-T messages among the elements of a decode: in place of the STM packets that carry them, and
// after the writes to the port of an ITM.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/element/element.h"
#include "waymark/syst/interpreter.h"
#include "waymark/syst/trace_reader.h"

namespace waymark::cli {

/// Each message becomes an element of the kind kCustom with its time; its text is kept until it is
/// written.  Packets that belong to no message pass unchanged.  So do all packets of an ITM,
/// because it is known too late which of them belong to messages; these messages have the time of
/// the packets around them.
class MessageStage final : private syst::FrameSink {
 public:
  /// `collateral` must outlive it.  `frequency`: that of the transport in Hz, if the trace does not
  /// state it.
  MessageStage(const syst::Collateral& collateral, std::uint64_t frequency, bool as_json);

  void set_short_client(const syst::Guid& guid) { interpreter_.set_short_client(guid); }

  /// The elements with messages in place of their packets; valid until the next call.
  std::span<const Element> replace(std::span<const Element> elements);
  /// The messages that are incomplete at the end of the trace.
  std::span<const Element> finish();

  /// The text of the element, a sentence or a line of JSON; can be taken once.
  void write(TextBuffer& out, const Element& element);

 private:
  void on_frame(const syst::Frame& frame) override;
  /// Messages do not end in the order in which they begin, but the times of a source must not go
  /// back.
  void keep_order(Element& element);

  syst::Interpreter interpreter_;
  syst::TraceReader reader_;
  bool as_json_;
  std::vector<Element> out_;
  std::unordered_map<std::uint64_t, std::string> texts_;
  std::uint64_t count_ = 0;
  struct Times {
    std::uint64_t latest = 0;          ///< The latest time of an element that was given.
    std::optional<std::uint64_t> now;  ///< The time of the last packet that has one.
  };
  std::map<TraceId, Times> times_;
};

}  // namespace waymark::cli
