// A table on its way to pandas: names of columns with NumPy arrays or lists of words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "element_array.h"

namespace waymark::python {

template <class Row>
class Table {
 public:
  explicit Table(std::span<const Row> rows) : rows_(rows) {}

  /// A column of whole numbers.
  template <class Get>
  Table& number(const char* name, const Get& get) {
    py::array_t<std::uint64_t> values(static_cast<py::ssize_t>(rows_.size()));
    std::uint64_t* at = values.mutable_data();
    for (const Row& row : rows_) *at++ = static_cast<std::uint64_t>(std::invoke(get, row));
    columns_[name] = values;
    return *this;
  }

  /// A column of texts; equal ones become one object.
  template <class Get>
  Table& text(const char* name, const Get& get) {
    std::unordered_map<std::string, py::str> known;
    py::list values;
    for (const Row& row : rows_) {
      std::string word(std::invoke(get, row));
      const auto at = known.find(word);
      if (at != known.end()) {
        values.append(at->second);
      } else {
        values.append(known.emplace(word, text_of(word)).first->second);
      }
    }
    columns_[name] = values;
    return *this;
  }

  [[nodiscard]] py::dict done() { return columns_; }

 private:
  std::span<const Row> rows_;
  py::dict columns_;
};

}  // namespace waymark::python
