// Code that a kernel changes in memory: static keys and alternatives.  The file has one form of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/program/kernel.h"

namespace waymark::program {

/// One place of code with two forms, as instructions.
struct CodeSite {
  std::uint64_t file_offset = 0;
  std::vector<std::uint32_t> off{};
  std::vector<std::uint32_t> on{};  ///< As many as `off`.
};

/// The switch that changes all of its sites together.
struct CodeSwitch {
  enum class Kind : std::uint8_t {
    kStaticKey,   ///< On: the key is true.
    kCapability,  ///< On: the CPU has the feature, so that the alternative replaces the code.
  };
  Kind kind = Kind::kStaticKey;
  std::string name{};  ///< The symbol of the key, or else its address; the number of a capability.
  std::vector<CodeSite> sites{};  ///< Ascending.
};

/// The switches of an AArch64 kernel (vmlinux), or of the section .text of a module: what
/// __jump_table and .altinstructions say.  Entries that cannot be right are left out.
std::vector<CodeSwitch> code_switches(Bytes elf_file);

/// A copy of the code of a kernel or module, in which switches can be set.  Several threads may
/// read it while none is being set.
class SwitchedCode {
 public:
  /// As in the file: not all sites of a switch need to have the same form there.
  enum class Setting : std::uint8_t { kAsInFile, kOff, kOn };

  /// nullptr: the file has no switches.
  static std::unique_ptr<SwitchedCode> make(Bytes elf_file);

  [[nodiscard]] const std::vector<CodeSwitch>& switches() const { return switches_; }
  [[nodiscard]] Setting setting(std::size_t number) const { return settings_[number]; }
  void set(std::size_t number, Setting setting);
  /// Whether set() would change any instruction.
  [[nodiscard]] bool would_change(std::size_t number, Setting setting) const;

  /// The bytes of the file from an offset on, up to the end of the code there; empty: no code.
  /// They stay at their place.
  [[nodiscard]] Bytes from(std::uint64_t file_offset) const;
  /// Adds the numbers of the switches with sites that overlap `size` bytes; some come repeatedly.
  void switches_in(std::uint64_t file_offset, std::uint64_t size,
                   std::vector<std::size_t>& out) const;

 private:
  struct Part {
    std::uint64_t file_offset = 0;
    std::vector<std::uint8_t> bytes{};
  };
  /// A site that is in a part.
  struct Place {
    std::uint64_t file_offset = 0;
    std::uint64_t size = 0;
    std::size_t number = 0;  ///< The number of the switch.
    std::size_t site = 0;
    std::size_t part = 0;
    std::vector<std::uint32_t> in_file{};
  };
  SwitchedCode() = default;
  [[nodiscard]] const std::vector<std::uint32_t>& form(const Place& place, Setting setting) const;
  [[nodiscard]] const Part* part_of(std::uint64_t file_offset, std::uint64_t size) const;

  std::vector<Part> parts_;
  std::vector<CodeSwitch> switches_;
  std::vector<Setting> settings_;
  std::vector<Place> places_;  ///< Ascending.
  std::uint64_t longest_ = 0;
};

}  // namespace waymark::program
