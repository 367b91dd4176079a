// A capture of any bytes: a choice of framing, protocol and registers.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "waymark/inputs/capture.h"

namespace waymark::fuzz {

inline constexpr std::uint8_t kAnyFramings = 5;
inline constexpr std::uint8_t kAnyProtocols = 6;

/// Two sources of one protocol; without frames, one.
inline inputs::CaptureOptions any_capture(std::uint8_t choice) {
  constexpr inputs::Framing kFramings[kAnyFramings] = {
      inputs::Framing::kNone, inputs::Framing::kMemoryAligned, inputs::Framing::kFsync,
      inputs::Framing::kHsync, inputs::Framing::kDstream};
  using Registers = std::vector<std::pair<std::string, std::uint32_t>>;
  static const Registers kTrcRegisters = {{"TRCCONFIGR", 0x8C1},
                                          {"TRCIDR0", 0x28000EA1},
                                          {"TRCIDR1", 0x4100F403},
                                          {"TRCIDR2", 0x488},
                                          {"TRCTRACEIDR", 0x10}};
  static const Registers kEtmRegisters = {{"ETMCR", 0x1000D000},
                                          {"ETMIDR", 0x411CF300},
                                          {"ETMCCER", 0x34C01AC2},
                                          {"ETMTRACEIDR", 0x10}};
  static const std::pair<const char*, Registers> kProtocols[kAnyProtocols] = {
      {"etmv4", kTrcRegisters},           {"ptm", kEtmRegisters},         {"etmv3", kEtmRegisters},
      {"stm", {{"STMTCSR", 0x00100001}}}, {"itm", {{"ITMTCR", 0x10001}}}, {"ete", kTrcRegisters}};
  inputs::CaptureOptions options;
  // If it were detected, it could change as the capture grows.
  options.source.starts_in_sync = false;
  options.source.least_nibble_first = false;
  options.framing = kFramings[choice % kAnyFramings];
  std::tie(options.protocol, options.registers) = kProtocols[choice / kAnyFramings % kAnyProtocols];
  options.ids = {0x10, 0x11};
  if (*options.framing == inputs::Framing::kNone) options.ids.clear();
  return options;
}

}  // namespace waymark::fuzz
