// What the code of elements says about calls and branches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "waymark/element/element.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/code_memory.h"
#include "waymark/isa/instruction.h"

namespace waymark::inputs {

/// Reads instructions where elements of a capture are.  Copies share their memory; any number of
/// threads may use one.  The capture must outlive them.
class BranchCode {
 public:
  explicit BranchCode(const Capture& capture)
      : memory_(std::make_shared<const CodeMemory>(capture)) {}

  /// Whether the instruction before an address is a branch with link.
  [[nodiscard]] bool follows_call(const Element& element, std::uint64_t address) const;

  /// The target of the direct branch at the end of a range; kNoAddress: it is not one, or its code
  /// cannot be read.
  [[nodiscard]] std::uint64_t direct_target(const Element& range) const;
  /// The same as a function, which keeps the memory.
  [[nodiscard]] std::function<std::uint64_t(const Element& range)> direct_targets() const {
    return [code = *this](const Element& range) { return code.direct_target(range); };
  }

  /// T32 code at an address; nothing: it cannot be read.
  [[nodiscard]] std::optional<std::uint16_t> halfword(const Element& element,
                                                      std::uint64_t address) const;

 private:
  [[nodiscard]] std::optional<isa::Instruction> at(const Element& element, std::uint64_t address,
                                                   unsigned size) const;

  std::shared_ptr<const CodeMemory> memory_;
};

}  // namespace waymark::inputs
