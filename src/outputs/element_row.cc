#include "waymark/outputs/element_row.h"

#include <utility>

#include "element_fields.h"
#include "waymark/element/text.h"

namespace waymark::outputs {

void ElementRow::assign(const Element& element) {
  size_ = 0;
  with_fields(element, [&]<const auto & kFields>() {
    // All fields of one column are equal, so the first that is present counts.
    [&]<std::size_t... kColumn>(std::index_sequence<kColumn...>) {
      const auto take = [&]<std::size_t kAt>() {
        constexpr std::size_t kField = field_in<kFields>(static_cast<Column>(kAt));
        if constexpr (kField != kFields.size()) {
          constexpr const ElementField& kRow = kFields[kField];
          if (!kRow.present(element)) return;
          ColumnValue value{.column = static_cast<Column>(kAt)};
          if constexpr (kColumns[kAt].form == FieldForm::kWord) {
            value.word = kRow.word(element);
            if (value.word.empty()) return;
          } else {
            value.number = kRow.value(element);
          }
          put(value);
        }
      };
      (take.template operator()<kColumn>(), ...);
    }(std::make_index_sequence<kColumnCount>());
  });
}

void ElementRow::assign(const Diagnostic& record) {
  size_ = 0;
  if (record.address != kNoAddress) put({.column = Column::kStart, .number = record.address});
  put({.column = Column::kReason, .word = severity_word(record.severity)});
  put({.column = Column::kMessage, .word = describe(record)});
}

}  // namespace waymark::outputs
