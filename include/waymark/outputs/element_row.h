// The fields of an element as the columns of a table: those of CSV.  docs/output-formats.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"

namespace waymark::outputs {

enum class FieldForm : std::uint8_t {
  kNumber,
  kHex,
  kWord,  ///< Absent if it is empty.
  kFlag,
  kMark,       ///< A flag that is absent if it is false.
  kTimestamp,  ///< A number, and again as text for JSON.
};

/// The columns of an element in CSV after its kind, in their order.
enum class Column : std::uint8_t {
  kStart,
  kEnd,
  kCount,
  kIsa,
  kLast,
  kSubtype,
  kTaken,
  kConditional,
  kEl,
  kSecurity,
  kBits,
  kContextId,
  kVmid,
  kNumber,
  kReason,
  kValue,
  kTimestamp,
  kCycles,
  kMaster,
  kChannel,
  kMessage,
  kNone,
};
inline constexpr std::size_t kColumnCount = static_cast<std::size_t>(Column::kNone);

struct ColumnRow {
  std::string_view name;
  FieldForm form;
};
/// In the order of Column.
inline constexpr std::array<ColumnRow, kColumnCount> kColumns = {{
    {"start", FieldForm::kHex},        {"end", FieldForm::kHex},
    {"count", FieldForm::kNumber},     {"isa", FieldForm::kWord},
    {"last", FieldForm::kWord},        {"subtype", FieldForm::kWord},
    {"taken", FieldForm::kFlag},       {"conditional", FieldForm::kFlag},
    {"el", FieldForm::kNumber},        {"security", FieldForm::kWord},
    {"bits", FieldForm::kNumber},      {"context_id", FieldForm::kHex},
    {"vmid", FieldForm::kHex},         {"number", FieldForm::kNumber},
    {"reason", FieldForm::kWord},      {"value", FieldForm::kHex},
    {"timestamp", FieldForm::kNumber}, {"cycles", FieldForm::kNumber},
    {"master", FieldForm::kNumber},    {"channel", FieldForm::kNumber},
    {"message", FieldForm::kWord},
}};

/// A field that has a value.
struct ColumnValue {
  Column column = Column::kNone;
  std::uint64_t number = 0;  ///< As the form of its column says; not for words.
  std::string_view word{};
};

/// The fields of one element or record of damage that have a value, in the order of the columns.
class ElementRow {
 public:
  void assign(const Element& element);
  /// The words live as long as the program.
  void assign(const Diagnostic& record);

  [[nodiscard]] std::span<const ColumnValue> values() const {
    return std::span(values_).first(size_);
  }

 private:
  void put(const ColumnValue& value) { values_[size_++] = value; }

  std::array<ColumnValue, kColumnCount> values_{};
  std::size_t size_ = 0;
};

}  // namespace waymark::outputs
