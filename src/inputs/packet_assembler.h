// The part of a protocol in trace scripts: it turns a packet's name and fields into bytes.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/inputs/trace_script.h"

namespace waymark::inputs {

/// "name=text", or a lone "text" with an empty name.
struct ScriptField {
  std::string_view name;
  std::string_view text;
};

class PacketAssembler {
 public:
  virtual ~PacketAssembler() = default;

  /// Appends the bytes of one packet.  The error's detail is a sentence without a place.
  virtual Result<void> assemble(std::string_view keyword, std::span<const ScriptField> fields,
                                std::vector<std::uint8_t>& out) const = 0;

  /// Appends what was held back because it is not a whole byte yet; the next packet begins a new
  /// byte.
  virtual void finish(std::vector<std::uint8_t>& /*out*/) const {}

  /// A new buffer begins, whose decoder does not know earlier packets.
  virtual void restart() const {}

  [[nodiscard]] virtual TraceId trace_id() const = 0;
};

/// The assembler of the device's protocol.  kUnsupported: a protocol that scripts do not know.
Result<std::unique_ptr<PacketAssembler>> make_packet_assembler(const ScriptDevice& device);

}  // namespace waymark::inputs
