// Finds the instruction that a data packet belongs to, and the address of the transfer.  See
// etmv3.md 7.1, 7.8 and 10.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "waymark/etmv3/config.h"
#include "waymark/etmv3/packet.h"
#include "waymark/isa/memory.h"

namespace waymark::etmv3 {

/// The instruction or event that caused a transfer.
struct Owner {
  enum class Kind : std::uint8_t { kUnknown, kInstruction, kStacking, kUnstacking, kAccess };
  Kind kind = Kind::kUnknown;
  std::uint32_t key = 0;  ///< The address of the instruction, or the number of the access.
  friend bool operator==(const Owner&, const Owner&) = default;
};

/// One transfer and its place.
struct Place {
  Owner owner;
  std::uint16_t number = 0;  ///< Its position among the transfers of its owner.
  Address address;           ///< valid_bits is 0 if it is not known.
  bool inferred = false;     ///< The address is that of the previous transfer plus 4.
  bool has_endianness = false;
  bool big_endian = false;
};

/// Follows the data packets of one source.  A value.
class Transfers {
 public:
  /// The most placeholders of one tag that wait for a value; a further one replaces the oldest.
  static constexpr unsigned kMaxPending = 16;

  explicit Transfers(const Config& config)
      : data_only_(config.data_only()), coprocessor_(config.coprocessor_transfers()) {}

  /// An instruction that transfers data was executed.
  void executed(std::uint32_t address, isa::DataAccess access) {
    if (access == isa::DataAccess::kCoprocessor && !coprocessor_) return;
    const Current next{{Owner::Kind::kInstruction, address}, 0, {}, false};
    if (access == isa::DataAccess::kMemory) {
      memory_ = next;
      in_coprocessor_ = false;
    } else {
      coprocessor_owner_ = next;
      in_coprocessor_ = true;
    }
  }

  /// The following transfers belong to something else, or to an unknown instruction.
  void begin(Owner::Kind kind) {
    memory_ = {{kind, 0}, 0, {}, false};
    in_coprocessor_ = false;
  }

  [[nodiscard]] Owner owner() const { return current().owner; }

  /// The transfer of a NORM_DATA, OOO_ADDR_PLC or VAL_NOT_TRACED packet.
  Place place(const Transfer& transfer);

  /// A suppressed transfer breaks the sequence of addresses.
  void suppressed() { memory_.chained = false; }

  void remember(unsigned tag, const Place& place);
  /// The oldest place that waits under this tag.
  std::optional<Place> resolve(unsigned tag);
  void forget_pending() { pending_ = {}; }

 private:
  struct Current {
    Owner owner;
    std::uint16_t next = 0;  ///< The number of the next transfer.
    Place last;              ///< The address of the next can be inferred from its address.
    bool chained = false;
  };
  struct Waiting {
    std::array<Place, kMaxPending> places;
    unsigned first = 0;
    unsigned count = 0;
  };

  [[nodiscard]] const Current& current() const {
    return in_coprocessor_ ? coprocessor_owner_ : memory_;
  }

  bool data_only_;
  bool coprocessor_;
  bool in_coprocessor_ = false;  ///< The last data instruction was a coprocessor move.
  std::uint32_t accesses_ = 0;
  Current memory_;
  Current coprocessor_owner_;
  std::array<Waiting, 4> pending_;  ///< By tag; tag 0 is none.
};

}  // namespace waymark::etmv3
