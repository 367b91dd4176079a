#include "message_unit.h"

#include "waymark/base/bits.h"
#include "waymark/itm/encoder.h"
#include "waymark/itm/source.h"
#include "waymark/stm/source.h"

namespace waymark::synth {

MessageUnit::MessageUnit(const UnitOptions& options, bool keep_truth)
    : TraceUnit(options, {}, keep_truth),
      random_(Random(options.seed).fork()),
      schedule_({options.timestamp_mean, options.overflow_mean}, random_) {}

void MessageUnit::record_message(std::uint64_t from, std::uint32_t width, std::uint64_t payload) {
  TruthEvent event{.kind = EventKind::kMessage};
  event.number = from;
  event.count = width;
  event.start = payload;
  truth_.add(event);
}

bool MessageUnit::timestamp_due() { return schedule_.tick() && schedule_.take(0, random_); }

void MessageUnit::run(std::vector<std::uint8_t>& out, std::size_t bytes) {
  out_ = &out;
  const std::size_t start = out.size();
  while (out.size() < start + bytes) {
    const std::uint64_t at = written_ + out.size() - start;
    if (!started_ || at - synced_at_ >= options_.sync_period) {
      started_ = true;
      synced_at_ = at;
      synchronise();
    }
    time_ += random_.about(50);
    message();
  }
  end_of_run();
  written_ += out.size() - start;
}

// -- STM ------------------------------------------------------------------------------------------

StmUnit::StmUnit(const UnitOptions& options, bool keep_truth) : MessageUnit(options, keep_truth) {
  config_.stmtcsr = std::uint32_t{options.trace_id} << 16 | 3;
}

std::vector<UnitRegister> StmUnit::registers() const { return {{"STMTCSR", config_.stmtcsr}}; }

std::unique_ptr<Source> StmUnit::make_source(const image::Image& /*image*/) const {
  auto source = stm::make_source(config_, {});
  return source ? std::move(*source) : nullptr;
}

void StmUnit::put(stm::PacketType type, std::uint64_t payload, unsigned width) {
  stm::Packet packet;
  packet.type = type;
  packet.payload = payload;
  packet.payload_bits = static_cast<std::uint8_t>(width);
  note(encoder_.encode(packet, *out_));
}

// A VERSION packet sets master and channel to 0.
void StmUnit::synchronise() {
  put(stm::PacketType::kAsync, 0, 0);
  put(stm::PacketType::kVersion, 3, 4);
  master_ = channel_ = 0;
}

void StmUnit::message() {
  using enum stm::PacketType;
  if (random_.one_in(8)) {
    master_ = random_.below(128);
    channel_ = 0;  // stm-itm.md 2: a new master begins with channel 0.
    put(kM8, master_, 8);
  }
  if (random_.one_in(4)) {
    const bool wide = random_.one_in(4);
    channel_ = random_.below(wide ? 0x10000 : 0x100) | (wide ? 0 : channel_ & 0xFF00);
    put(wide ? kC16 : kC8, wide ? channel_ : channel_ & 0xFF, wide ? 16 : 8);
  }
  struct Size {
    stm::PacketType type;
    unsigned bits;
  };
  constexpr Size kSizes[] = {{kD4, 4}, {kD8, 8}, {kD16, 16}, {kD32, 32}, {kD64, 64}};
  const Size size = kSizes[random_.below(5)];
  stm::Packet packet;
  packet.type = size.type;
  packet.payload = random_.next() & low_mask(size.bits);
  packet.payload_bits = static_cast<std::uint8_t>(size.bits);
  packet.marker = random_.one_in(8);
  packet.has_timestamp = timestamp_due();
  packet.timestamp = time_;
  packet.timestamp_bits = stm::Encoder::kFewestBits;
  note(encoder_.encode(packet, *out_));
  record_message(master_ << 16 | channel_, size.bits, packet.payload);
}

// -- ITM ------------------------------------------------------------------------------------------

ItmUnit::ItmUnit(const UnitOptions& options, bool keep_truth) : MessageUnit(options, keep_truth) {
  config_.itm_tcr = std::uint32_t{options.trace_id} << 16 | 0xF;
}

std::vector<UnitRegister> ItmUnit::registers() const { return {{"ITMTCR", config_.itm_tcr}}; }

std::unique_ptr<Source> ItmUnit::make_source(const image::Image& /*image*/) const {
  auto source = itm::make_source(config_, {});
  return source ? std::move(*source) : nullptr;
}

void ItmUnit::synchronise() {
  itm::Packet packet;
  packet.type = itm::PacketType::kAsync;
  note(itm::encode(packet, *out_));
}

void ItmUnit::message() {
  itm::Packet packet;
  constexpr std::uint8_t kSizes[] = {1, 2, 4};
  // Event counter packets occur among the writes of software.
  const bool hardware = random_.one_in(8);
  packet.type = hardware ? itm::PacketType::kHardware : itm::PacketType::kSoftware;
  packet.source = hardware ? 0 : static_cast<std::uint8_t>(random_.below(32));
  packet.size = hardware ? 1 : kSizes[random_.below(3)];
  packet.value = random_.next() & low_mask(hardware ? 6 : 8U * packet.size);
  note(itm::encode(packet, *out_));
  record_message(packet.source | (hardware ? 0x100U : 0U), packet.size * 8U, packet.value);
  if (!timestamp_due()) return;
  const std::uint64_t delta = std::min<std::uint64_t>(time_ - stamped_, low_mask(28));
  stamped_ = time_;
  packet = {};
  packet.type = itm::PacketType::kLocalTimestamp;
  packet.value = delta;
  packet.size = delta >= 1 && delta <= 6 ? 0 : itm::least_size(packet);
  if (packet.size == 0 && delta == 0) packet.size = 1;
  note(itm::encode(packet, *out_));
}

}  // namespace waymark::synth
