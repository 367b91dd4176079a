// Registers with values, in the order in which an enable writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace waymark::etm4x {

struct RegisterValue {
  std::string name{};  ///< With prefix and number: "TRCACVR0".
  std::uint64_t value = 0;
  bool wide = false;  ///< 64 bits.
  friend bool operator==(const RegisterValue&, const RegisterValue&) = default;
};

/// "0x004B0201", or with 16 digits if wide.
std::string register_text(const RegisterValue& value);

/// Names are unique; set() replaces.
class RegisterImage {
 public:
  void set(std::string_view name, std::uint64_t value, bool wide = false);
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const;
  /// 0 where there is no such register.
  [[nodiscard]] std::uint64_t value(std::string_view name) const { return find(name).value_or(0); }
  /// The same for register `number` of a row: value("TRCACVR", 3).
  [[nodiscard]] std::uint64_t value(std::string_view stem, unsigned number) const;
  [[nodiscard]] const std::vector<RegisterValue>& values() const { return values_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  friend bool operator==(const RegisterImage&, const RegisterImage&) = default;

 private:
  friend class ImageBuilder;
  std::vector<RegisterValue> values_;
};

}  // namespace waymark::etm4x
