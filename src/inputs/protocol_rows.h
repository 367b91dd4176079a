// One function or table per protocol.  src/inputs/protocols/ defines them, and protocols.cc lists
// them.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "packet_assembler.h"
#include "waymark/inputs/protocols.h"

namespace waymark::inputs {

std::span<const ProtocolRow> etmv3_rows();
std::span<const ProtocolRow> etmv4_rows();
std::span<const ProtocolRow> itm_rows();
std::span<const ProtocolRow> etmv4data_rows();
std::span<const ProtocolRow> mtb_rows();
std::span<const ProtocolRow> ptm_rows();
std::span<const ProtocolRow> stm_rows();

/// Packets by keyword and fields, from the field tables of a protocol.  `P` has the types Config
/// and Packet and the static functions
///   Result<Packet> packet_of_keyword(std::string_view keyword);
///   std::span<const BasicField<Packet>> fields_of(const Packet&);
///   std::string_view keyword_of(const Packet&);
///   Result<bool> assemble_special(keyword, fields, const Config&, out);  // true: it was one
///   void complete(Packet&, std::span<const ScriptField>);  // what the fields left open
///   Result<void> encode(const Packet&, const Config&, std::vector<std::uint8_t>& out);
/// and, if words stand for some values of fields, which its configuration decides,
///   std::optional<std::uint32_t> named_value(const Config&, std::string_view field,
///                                            std::string_view word);
template <class P>
class TableAssembler final : public PacketAssembler {
 public:
  using Config = typename P::Config;
  using Packet = typename P::Packet;

  explicit TableAssembler(const Config& config) : config_(config) {}

  Result<void> assemble(std::string_view keyword, std::span<const ScriptField> fields,
                        std::vector<std::uint8_t>& out) const override {
    const Result<bool> special = P::assemble_special(keyword, fields, config_, out);
    if (!special) return std::unexpected(special.error());
    if (*special) return {};
    Result<Packet> packet = P::packet_of_keyword(keyword);
    if (!packet) return std::unexpected(std::move(packet).error());
    for (const ScriptField& field : fields) {
      std::string_view name = field.name;
      if (name.empty()) {
        const Result<std::string_view> lone = lone_field(*packet);
        if (!lone) return std::unexpected(lone.error());
        name = *lone;
      }
      std::string_view text = field.text;
      std::string number;
      if constexpr (requires { P::named_value(config_, name, text); }) {
        if (const auto value = P::named_value(config_, name, text)) {
          number = fmt::format("{}", *value);
          text = number;
        }
      }
      WAYMARK_TRY(set_field<Packet>(P::fields_of(*packet), keyword, *packet, name, text));
    }
    P::complete(*packet, fields);
    return P::encode(*packet, config_, out);
  }

  [[nodiscard]] TraceId trace_id() const override { return config_.trace_id(); }

 private:
  /// The field that a lone value sets: the atoms, or the only field that can be set.
  static Result<std::string_view> lone_field(const Packet& packet) {
    std::string_view only;
    unsigned count = 0;
    for (const BasicField<Packet>& field : P::fields_of(packet)) {
      if (field.kind == FieldKind::kAtoms) return field.name;
      if (field.set == nullptr) continue;
      only = field.name;
      ++count;
    }
    if (count == 1) return only;
    return fail(ErrorCode::kParse,
                fmt::format("The fields of {} need names: name=value.", P::keyword_of(packet)));
  }

  Config config_;
};

}  // namespace waymark::inputs
