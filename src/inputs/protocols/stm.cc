// STM: its registers, and its packets in trace scripts.
#include "../protocol_rows.h"
#include "waymark/stm/encoder.h"
#include "waymark/stm/fields.h"
#include "waymark/stm/source.h"

namespace waymark::inputs {
namespace {

stm::Config read_stm(const RegisterReader& registers) {
  stm::Config config;
  config.order = stm::NibbleOrder::kAuto;
  config.stmtcsr = registers("STMTCSR").value_or(config.stmtcsr);
  config.stmdevid = registers("STMDEVID").value_or(config.stmdevid);
  config.stmspfeat3r = registers("STMSPFEAT3R").value_or(config.stmspfeat3r);
  return config;
}

Result<std::unique_ptr<Source>> make(const RegisterReader& registers, isa::Core /*core*/,
                                     const image::Image* /*image*/, const SourceOptions& options) {
  return stm::make_source(read_stm(registers), options);
}

constexpr RegisterRule kRegisters[] = {{"STMTCSR", true}};
/// Decoding does not need them, but the trace is checked against the values that are given.
constexpr std::string_view kOtherRegisters[] = {"STMDEVID", "STMSPFEAT3R"};

/// Packets may begin and end in the middle of a byte: the last nibble of such a packet waits for
/// the next packet.
class StmAssembler final : public PacketAssembler {
 public:
  explicit StmAssembler(TraceId trace_id) : trace_id_(trace_id) {}

  Result<void> assemble(std::string_view keyword, std::span<const ScriptField> fields,
                        std::vector<std::uint8_t>& out) const override {
    if (keyword == "nibbles") return assemble_nibbles(fields, out);
    if (keyword == "least_first" || keyword == "most_first") {
      if (!fields.empty())
        return fail(ErrorCode::kParse, fmt::format("'{}' has no fields.", keyword));
      finish(out);
      encoder_ = stm::Encoder(keyword == "least_first" ? stm::NibbleOrder::kLeastFirst
                                                       : stm::NibbleOrder::kMostFirst);
      return {};
    }
    Result<stm::Packet> packet = stm::packet_of_keyword(keyword);
    if (!packet) return std::unexpected(std::move(packet).error());
    for (const ScriptField& field : fields) {
      std::string_view name = field.name;
      if (name.empty()) {
        const std::span<const stm::Field> all = stm::fields_of(*packet);
        if (all.empty() || all.front().set == nullptr || !all.front().present(*packet))
          return fail(ErrorCode::kParse, fmt::format("'{}' has no fields.", keyword));
        name = all.front().name;
      }
      WAYMARK_TRY(stm::set_field(*packet, name, field.text));
    }
    if (auto done = encoder_.encode(*packet, pending_); !done) return done;
    give(out);
    return {};
  }

  void finish(std::vector<std::uint8_t>& out) const override {
    encoder_.align();
    give(out);
  }

  void restart() const override { encoder_ = stm::Encoder(); }

  [[nodiscard]] TraceId trace_id() const override { return trace_id_; }

 private:
  /// "nibbles F02 5…": the given nibbles.
  Result<void> assemble_nibbles(std::span<const ScriptField> fields,
                                std::vector<std::uint8_t>& out) const {
    if (fields.empty()) return fail(ErrorCode::kParse, "Nibbles are missing.");
    for (const ScriptField& field : fields) {
      for (const char c : field.text) {
        const bool digit = c >= '0' && c <= '9';
        const bool upper = c >= 'A' && c <= 'F';
        const bool lower = c >= 'a' && c <= 'f';
        if (!field.name.empty() || (!digit && !upper && !lower))
          return fail(ErrorCode::kParse,
                      fmt::format("'{}' is not made of hexadecimal digits.", field.text));
      }
    }
    for (const ScriptField& field : fields)
      for (const char c : field.text)
        encoder_.raw_nibble(static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10),
                            pending_);
    give(out);
    return {};
  }

  void give(std::vector<std::uint8_t>& out) const {
    if (pending_.empty()) return;
    const std::uint8_t last = pending_.back();
    const std::size_t whole = pending_.size() - (encoder_.half() ? 1 : 0);
    out.insert(out.end(), pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(whole));
    pending_.clear();
    if (encoder_.half()) pending_.push_back(last);
  }

  TraceId trace_id_;
  mutable stm::Encoder encoder_;
  mutable std::vector<std::uint8_t> pending_;
};

std::unique_ptr<PacketAssembler> make_assembler(const RegisterReader& registers,
                                                isa::Core /*core*/) {
  return std::make_unique<StmAssembler>(read_stm(registers).trace_id());
}

constexpr ProtocolRow kRows[] = {
    {.type = "STM",
     .protocol = Protocol::kStm,
     .registers = kRegisters,
     .other_registers = kOtherRegisters,
     .where_registers = "on Linux, STMTCSR is /sys/bus/coresight/devices/stm0/mgmt/tcsr",
     .make = make,
     .make_assembler = make_assembler}};

}  // namespace

std::span<const ProtocolRow> stm_rows() { return kRows; }

}  // namespace waymark::inputs
