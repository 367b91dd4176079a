// The listeners of one trace ID of a tree: a decoder, and the monitors or sinks of its packets.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "element_struct.h"
#include "logger.h"
#include "memory.h"
#include "opencsd/c_api/ocsd_c_api_types.h"
#include "response.h"
#include "waymark/base/types.h"

namespace waymark::compat {

/// The receiver of the elements of a tree.
struct ElementOutput {
  FnTraceElemIn function = nullptr;
  const void* context = nullptr;
  Printer printer;
  [[nodiscard]] bool exists() const { return function != nullptr || printer; }
};

/// State that the channels of a tree share.
struct Surroundings {
  ElementOutput output;
  Memory memory;
  bool formatted = false;
  bool empty_segment_fails = true;  ///< frames::Quirks.
  Bytes segment_memory;             ///< That of the segment that is being delivered.
  /// Counts the calls of the client: between two calls, the answers of its memory functions may
  /// have changed.
  std::uint64_t calls = 0;
  TraceIndex reset_index = 0;  ///< Where the FSYNCs that reset the channels begin, or 0.
};

/// The receiver of packets: functions of the client, or printers.
struct PacketClient {
  FnDefPktDataIn sink = nullptr;
  const void* sink_context = nullptr;
  FnDefPktDataMon monitor = nullptr;
  const void* monitor_context = nullptr;
  Printer sink_printer;
  Printer monitor_printer;
  TraceId printer_id = 0;
  [[nodiscard]] bool has_sink() const { return sink != nullptr || sink_printer; }
  [[nodiscard]] bool has_monitor() const { return monitor != nullptr || monitor_printer; }
};

/// "DCD_ETMV4" and "_0016".
std::string component_name(std::string_view prefix, TraceId id);

class Channel {
 public:
  virtual ~Channel() = default;
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Decodes a block, which must live until the channel asks for more, is reset, or `withdraw()`.
  virtual Response data(TraceIndex index, Bytes block) = 0;
  /// Many frames without ID bytes may come at once: they are unpacked to run_room(), then
  /// data_run().
  [[nodiscard]] virtual bool takes_runs() const { return false; }
  virtual std::span<std::uint8_t> run_room() { return {}; }
  /// The same as data() for each frame.  `used`: the number of frames for which data() would have
  /// been called; the client gives the others again.
  virtual Response data_run(TraceIndex /*index*/, std::size_t /*frames*/, std::size_t& /*used*/) {
    return OCSD_RESP_FATAL_INVALID_OP;
  }

  /// After a WAIT: continues with the held elements and the rest of the block.
  virtual Response flush() = 0;
  virtual Response end_of_trace() = 0;
  virtual Response reset() = 0;
  /// Elements are held: flush() must come before data().
  [[nodiscard]] virtual bool holds() const = 0;
  /// Drops the rest of the block; returns how much of it was used.
  virtual std::size_t withdraw() = 0;

  virtual ErrorNumber attach_sink(FnDefPktDataIn function, const void* context) = 0;
  virtual ErrorNumber attach_monitor(FnDefPktDataMon function, const void* context) = 0;
  virtual ErrorNumber attach_printer(TraceId shown_id, bool monitor) = 0;

  /// kNotInit: the channel does not count; kInvalidParamVal: nor could it.  The block lives as long
  /// as the channel.
  virtual ErrorNumber statistics(const ocsd_demux_stats_t& frames, ocsd_decode_stats_t*& out) = 0;
  /// False: the channel could not count.
  virtual bool reset_statistics() = 0;
};

}  // namespace waymark::compat
