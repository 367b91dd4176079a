#include "waymark/logic/pins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "waymark/base/escape.h"
#include "waymark/logic/session.h"
#include "waymark/logic/trace_port.h"

namespace waymark::logic {
namespace {

constexpr std::size_t kMostPorts = 4;
constexpr std::size_t kFlush = std::size_t{1} << 18;

/// The bit of each pin in a sample.
struct Wiring {
  std::optional<unsigned> swo;
  std::optional<unsigned> clock;
  std::vector<unsigned> data;
};

std::uint64_t sample_at(Bytes samples, std::size_t at, std::size_t unit) {
  std::uint64_t value = 0;
  for (std::size_t i = unit; i != 0; --i) value = value << 8 | samples[at + i - 1];
  return value;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

/// The pin that a channel of this name is; empty: it is not known.
std::string pin_of(std::string_view channel) {
  const std::string name = lower(channel);
  if (name == "swo" || name == "traceswo" || name == "trace_swo") return "swo";
  if (name == "traceclk" || name == "trace_clk" || name == "traceclkout") return "clk";
  for (const std::string_view prefix : {"tracedata", "tracedata_", "traced", "trace_d"}) {
    if (name.size() == prefix.size() + 1 && name.starts_with(prefix) && name.back() >= '0' &&
        name.back() <= '3')
      return std::string("d") + name.back();
  }
  return {};
}

std::string names_of(const std::vector<Channel>& channels) {
  std::vector<std::string> names;
  names.reserve(channels.size());
  for (const Channel& channel : channels) names.push_back(escaped(channel.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<unsigned> channel_bit(const Session& session, std::string_view pin, std::string_view name) {
  const auto found = std::ranges::find(session.channels(), name, &Channel::name);
  if (found != session.channels().end()) return found->bit;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--pin {}={}: the session has no channel of this name; it has {}.", pin,
                          escaped(name), names_of(session.channels())));
}

/// Takes the pins to be those of these names; false: they make neither an SWO nor a port.
Result<bool> wire(const Session& session,
                  const std::vector<std::pair<std::string, std::string>>& pins, Wiring& wiring) {
  std::array<std::optional<unsigned>, kMostPorts> data;
  for (const auto& [pin, name] : pins) {
    const auto bit = channel_bit(session, pin, name);
    if (!bit) return std::unexpected(bit.error());
    if (pin == "swo") {
      wiring.swo = *bit;
    } else if (pin == "clk") {
      wiring.clock = *bit;
    } else if (pin.size() == 2 && pin[0] == 'd' && pin[1] >= '0' && pin[1] <= '3') {
      data[static_cast<std::size_t>(pin[1] - '0')] = *bit;
    } else {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--pin {}={}: there is no such pin; use swo, or clk and d0 to d3.",
                              escaped(pin), escaped(name)));
    }
  }
  for (const auto& bit : data) {
    if (!bit) break;
    wiring.data.push_back(*bit);
  }
  const auto given = static_cast<std::size_t>(
      std::ranges::count_if(data, [](const auto& bit) { return bit.has_value(); }));
  const bool port = wiring.clock && wiring.data.size() == given &&
                    (given == 1 || given == 2 || given == kMostPorts);
  return wiring.swo ? !wiring.clock && given == 0 : port;
}

/// Which bits of the samples ever change.
Result<std::uint64_t> changing_bits(const Session& session) {
  constexpr std::uint64_t kLooked = std::uint64_t{1} << 24;
  std::uint64_t changes = 0;
  std::uint64_t seen = 0;
  std::optional<std::uint64_t> first;
  WAYMARK_TRY(session.read([&](Bytes samples) {
    for (std::size_t at = 0; at < samples.size(); at += session.unit(), ++seen) {
      const std::uint64_t value = sample_at(samples, at, session.unit());
      if (!first) first = value;
      changes |= value ^ *first;
    }
    return seen < kLooked;
  }));
  return changes;
}

/// The options, else the names of channels, else the only channel that changes.
Result<Wiring> find_wiring(const Session& session, const PinOptions& options) {
  Wiring wiring;
  if (!options.pins.empty()) {
    const auto good = wire(session, options.pins, wiring);
    if (!good) return std::unexpected(good.error());
    if (*good) return wiring;
    return fail(ErrorCode::kInvalidArgument,
                "--pin: give either swo, or clk with d0, with d0 and d1, or with d0 to d3.");
  }
  std::vector<std::pair<std::string, std::string>> named;
  for (const Channel& channel : session.channels())
    if (std::string pin = pin_of(channel.name); !pin.empty())
      named.emplace_back(std::move(pin), channel.name);
  const auto good = wire(session, named, wiring);
  if (!good) return std::unexpected(good.error());
  if (*good) return wiring;
  const auto changes = changing_bits(session);
  if (!changes) return std::unexpected(changes.error());
  std::vector<Channel> active;
  for (const Channel& channel : session.channels())
    if ((*changes >> channel.bit & 1) != 0) active.push_back(channel);
  if (active.size() == 1) return Wiring{.swo = active.front().bit, .clock = {}, .data = {}};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "The names of the channels ({}) do not show which of them carry trace; state the "
          "channel of each pin (swo, or clk, d0 and so on) with --pin, such as --pin swo={}.",
          names_of(session.channels()), escaped(session.channels().front().name)));
}

/// Gives the runs of one bit, the last one at the end.
class RunMaker {
 public:
  RunMaker(unsigned bit, std::size_t unit) : bit_(bit), unit_(unit) {}

  template <class Give>
  void take(Bytes samples, Give&& give) {
    for (std::size_t at = 0; at < samples.size(); at += unit_) {
      const bool high = (samples[at + bit_ / 8] >> (bit_ % 8) & 1) != 0;
      if (run_.samples != 0 && high != run_.high) {
        give(run_);
        run_.samples = 0;
      }
      run_.high = high;
      ++run_.samples;
    }
  }
  [[nodiscard]] Run last() const { return run_; }

 private:
  unsigned bit_;
  std::size_t unit_;
  Run run_;
};

class PinReader {
 public:
  PinReader(const Session& session, const PinOptions& options, const TakeTrace& take,
            const std::function<bool()>& stop)
      : session_(session), options_(options), take_(take), stop_(stop) {}

  Result<PinTrace> read(const Wiring& wiring) {
    trace_.sample_rate = options_.sample_rate.value_or(session_.rate());
    trace_.samples = session_.samples();
    name(wiring);
    WAYMARK_TRY(wiring.swo ? read_swo(*wiring.swo) : read_port(wiring));
    return trace_;
  }

 private:
  void name(const Wiring& wiring) {
    std::vector<unsigned> bits = wiring.data;
    bits.insert(bits.begin(), wiring.swo ? *wiring.swo : *wiring.clock);
    std::vector<std::string> names;
    for (const unsigned bit : bits) {
      const auto found = std::ranges::find(session_.channels(), bit, &Channel::bit);
      if (found != session_.channels().end()) names.push_back(escaped(found->name));
    }
    trace_.channels = fmt::format("{}", fmt::join(names, ", "));
  }

  /// Passes on what was decoded; false: reading ends.
  bool give(bool all) {
    if (bytes_.empty() || (!all && bytes_.size() < kFlush)) return true;
    status_ = take_(bytes_);
    bytes_.clear();
    return status_.has_value();
  }

  bool go_on() {
    if (!stop_ || !stop_()) return true;
    status_ = fail(ErrorCode::kIo, "Reading the session was interrupted.");
    return false;
  }

  template <class Piece>
  Result<void> each(Piece&& piece) {
    WAYMARK_TRY(session_.read([&](Bytes samples) {
      piece(samples);
      return give(false) && go_on();
    }));
    return status_;
  }

  Result<void> read_swo(unsigned bit) {
    WAYMARK_TRY(find_swo(bit));
    SwoDecoder decoder(trace_.coding, trace_.bit);
    RunMaker runs(bit, session_.unit());
    WAYMARK_TRY(each(
        [&](Bytes samples) { runs.take(samples, [&](Run run) { decoder.take(run, bytes_); }); }));
    decoder.take(runs.last(), bytes_);
    decoder.finish(bytes_);
    give(true);
    trace_.errors = decoder.errors();
    trace_.first_error = decoder.first_error();
    return status_;
  }

  /// The coding and the rate, by the beginning of the capture.
  Result<void> find_swo(unsigned bit) {
    constexpr std::size_t kLooked = std::size_t{1} << 19;
    std::optional<double> known;
    if (options_.bit_rate) {
      if (trace_.sample_rate == 0)
        return fail(ErrorCode::kInvalidArgument,
                    "--swo-rate: the session does not state its sample rate; add "
                    "--sample-rate, such as --sample-rate 24M.");
      known = trace_.sample_rate / *options_.bit_rate;
    }
    std::vector<Run> seen;
    RunMaker runs(bit, session_.unit());
    WAYMARK_TRY(session_.read([&](Bytes samples) {
      runs.take(samples, [&](Run run) { seen.push_back(run); });
      return seen.size() < kLooked && go_on();
    }));
    WAYMARK_TRY(status_);
    seen.push_back(runs.last());
    const auto facts = find_coding(seen, options_.coding, known);
    if (!facts)
      return fail(ErrorCode::kBadData,
                  fmt::format("The channel {} shows no SWO{}; check the channel (--pin swo=NAME), "
                              "and that it was sampled at least three times per bit, or state "
                              "--swo-rate and --swo-coding.",
                              trace_.channels, known ? " at this rate" : ""));
    trace_.coding = facts->coding;
    trace_.bit = facts->bit;
    return {};
  }

  Result<void> read_port(const Wiring& wiring) {
    trace_.width = static_cast<unsigned>(wiring.data.size());
    TracePortDecoder decoder(trace_.width);
    const std::size_t unit = session_.unit();
    WAYMARK_TRY(each([&](Bytes samples) {
      for (std::size_t at = 0; at < samples.size(); at += unit) {
        const std::uint64_t sample = sample_at(samples, at, unit);
        unsigned data = 0;
        for (std::size_t pin = 0; pin != wiring.data.size(); ++pin)
          data |= static_cast<unsigned>(sample >> wiring.data[pin] & 1) << pin;
        decoder.take((sample >> *wiring.clock & 1) != 0, data, bytes_);
      }
    }));
    give(true);
    if (!decoder.synchronised())
      return fail(ErrorCode::kBadData,
                  fmt::format("The trace port ({}) has no frame sync; check the channels (--pin "
                              "clk=NAME --pin d0=NAME), that the formatter is on, and that it was "
                              "sampled at least four times per clock cycle.",
                              trace_.channels));
    trace_.errors = decoder.slips();
    trace_.skipped_bits = decoder.skipped();
    return status_;
  }

  const Session& session_;
  const PinOptions& options_;
  const TakeTrace& take_;
  const std::function<bool()>& stop_;
  PinTrace trace_;
  std::vector<std::uint8_t> bytes_;
  Result<void> status_;
};

}  // namespace

Result<PinTrace> decode_pins(Bytes session, const PinOptions& options, const TakeTrace& take,
                             const std::function<bool()>& stop) {
  const auto opened = Session::open(session);
  if (!opened) return std::unexpected(opened.error());
  const auto wiring = find_wiring(*opened, options);
  if (!wiring) return std::unexpected(wiring.error());
  return PinReader(*opened, options, take, stop).read(*wiring);
}

}  // namespace waymark::logic
