// Messages out of the stimulus ports of an ITM, each a stream of bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "waymark/element/element.h"
#include "waymark/syst/byte_reader.h"

namespace waymark::syst {

/// Takes frames as they come; their bytes are valid during the call.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void on_frame(const Frame& frame) = 0;
};

/// The bytes written to a port follow each other as in a file; a port carries plain messages or
/// text with them (ByteReader).  What is lost in an overflow is the splitter's matter.  One owner;
/// not thread safe.
class PortReader {
 public:
  explicit PortReader(FrameSink& sink) : sink_(sink) {}

  /// Kinds other than kItmTrace are passed over.
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
    };
    std::deque<Origin> origins;
  };

  /// The origins before the one of `offset`.
  static void forget(Port& port, std::uint64_t offset);
  void give(std::uint16_t key, Port& port, Frame& frame);

  FrameSink& sink_;
  std::map<std::uint16_t, Port> ports_;  ///< By trace ID and port.
  std::map<TraceId, std::uint64_t> times_;
};

}  // namespace waymark::syst
