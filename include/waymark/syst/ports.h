// Messages out of the stimulus ports of an ITM.  Each port is a stream of bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "waymark/element/element.h"
#include "waymark/syst/byte_reader.h"

namespace waymark::syst {

/// Takes frames in order; their bytes are valid during the call.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void on_frame(const Frame& frame) = 0;
};

/// Joins the bytes written to each port, as in a file.  A port carries plain messages, or text that
/// contains them (ByteReader).  The splitter handles what an overflow loses.  One owner; not thread
/// safe.
class PortReader {
 public:
  explicit PortReader(FrameSink& sink) : sink_(sink) {}

  /// Kinds other than kItmTrace are ignored.
  void add(const Element& element);
  void finish();

 private:
  struct Port {
    ByteReader reader;
    std::uint64_t size = 0;
    /// Where the bytes came from: offset in the port's stream, index in the capture, time.
    struct Origin {
      std::uint64_t offset;
      TraceIndex index;
      std::uint64_t time;
      bool has_time;
      bool is_partial;
    };
    std::deque<Origin> origins;
  };

  /// Removes the origins before the one of `offset`.
  static void forget(Port& port, std::uint64_t offset);
  void give(std::uint16_t key, Port& port, Frame& frame);

  FrameSink& sink_;
  std::map<std::uint16_t, Port> ports_;  ///< By trace ID and port.
  struct Time {
    std::uint64_t time = 0;
    bool is_partial = false;
  };
  std::map<TraceId, Time> times_;
};

}  // namespace waymark::syst
