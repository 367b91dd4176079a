// Samples of a logic analyser: a session of sigrok.
#include <fmt/format.h>

#include "capture_builder.h"
#include "temporary_file.h"
#include "waymark/base/plural.h"

namespace waymark::inputs {
namespace {

/// "2.000 Mbit/s", or "12.5 samples per bit" if the rate of the samples is not known.
std::string rate_text(const logic::PinTrace& pins) {
  if (pins.sample_rate == 0) return fmt::format("{:.1f} samples per bit", pins.bit);
  const double rate = pins.sample_rate / pins.bit;
  constexpr double kMega = 1e6;
  constexpr double kKilo = 1e3;
  return rate >= kMega ? fmt::format("{:.3f} Mbit/s", rate / kMega)
                       : fmt::format("{:.1f} kbit/s", rate / kKilo);
}

std::string place_of(std::uint64_t sample, double rate) {
  if (rate == 0) return fmt::format("sample {}", sample);
  return fmt::format("{:.6f} s", static_cast<double>(sample) / rate);
}

}  // namespace

Result<Detection> CaptureBuilder::read_logic_session() {
  auto file = TemporaryFile::create(fmt::format("Cannot write the trace of {}", name_));
  if (!file) return std::unexpected(file.error());
  const auto pins = logic::decode_pins(
      capture_.trace_.bytes(), options_.pins, [&](Bytes bytes) { return file->write(bytes); },
      options_.stop);
  if (!pins) return fail(pins.error().code, fmt::format("{}: {}", name_, pins.error().detail));
  auto trace = file->map(capture_.trace_.path());
  if (!trace) return std::unexpected(std::move(trace).error());
  note_pins(*pins, trace->size());
  capture_.trace_ = *std::move(trace);
  if (capture_.trace_.size() == 0)
    return fail(ErrorCode::kBadData,
                fmt::format("{}: {} carries less than one byte of trace; capture longer.", name_,
                            pins->channels));
  Detection detection = detect(capture_.trace_.bytes());
  // A port sends half syncs wherever it has nothing to send, and short captures of it are frames
  // too.
  if (pins->width != 0) {
    detection.kind = InputKind::kTpiuFrames;
    if (!options_.framing) options_.framing = Framing::kHsync;
  }
  return detection;
}

void CaptureBuilder::note_pins(const logic::PinTrace& pins, std::uint64_t bytes) {
  if (pins.width != 0) {
    note(fmt::format("{}: {} were read from a trace port of {} ({}).", name_,
                     counted(bytes, "byte"), counted(pins.width, "pin"), pins.channels),
         Severity::kInfo);
    if (pins.skipped_bits != 0)
      note(fmt::format("{}: the {} before the first frame sync were left out.", name_,
                       counted(pins.skipped_bits, "bit")),
           Severity::kInfo);
    if (pins.errors != 0)
      note_loss(
          fmt::format("{}: {} show that bits of the trace port were lost; sample faster, or check "
                      "the wires.",
                      name_, counted(pins.errors, "frame sync")));
    return;
  }
  const bool uart = pins.coding == logic::Coding::kUart;
  note(fmt::format("{}: {} were read from {} in {} coding at {}.", name_, counted(bytes, "byte"),
                   pins.channels, uart ? "UART" : "Manchester", rate_text(pins)),
       Severity::kInfo);
  if (pins.errors != 0)
    note(
        fmt::format("{}: {} on {} {} broken, the first at {}; check the rate (--swo-rate) and the "
                    "wires.",
                    name_, counted(pins.errors, uart ? "byte" : "packet"), pins.channels,
                    pins.errors == 1 ? "is" : "are", place_of(pins.first_error, pins.sample_rate)));
}

}  // namespace waymark::inputs
