#include "element_array.h"

#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "element_fields.h"
#include "waymark/outputs/json.h"

namespace waymark::python {
namespace {

/// A member of Element.
struct Member {
  const char* name;
  std::size_t offset;
  std::size_t size;
};

template <class T>
constexpr std::size_t size_of(T Element::* /*member*/) {
  return sizeof(T);
}

// Fields that JSON and CSV show have the same names; src/outputs/element_fields.h.
#define WAYMARK_MEMBER(name, member) \
  Member { name, offsetof(Element, member), size_of(&Element::member) }
constexpr std::array kMembers = {
    WAYMARK_MEMBER("index", index),
    WAYMARK_MEMBER("start", start),
    WAYMARK_MEMBER("end", end),
    WAYMARK_MEMBER("timestamp", timestamp),
    WAYMARK_MEMBER("value", value),
    WAYMARK_MEMBER("count", count),
    WAYMARK_MEMBER("number", number),
    Member{"master", offsetof(Element, sw_id.master), sizeof(std::uint16_t)},
    Member{"channel", offsetof(Element, sw_id.channel), sizeof(std::uint16_t)},
    WAYMARK_MEMBER("cycles", cycle_count),
    WAYMARK_MEMBER("context_id", context_id),
    WAYMARK_MEMBER("vmid", vmid),
    WAYMARK_MEMBER("kind", kind),
    WAYMARK_MEMBER("id", trace_id),
    WAYMARK_MEMBER("flags", flags),
    WAYMARK_MEMBER("isa", isa),
    WAYMARK_MEMBER("last", last_type),
    WAYMARK_MEMBER("subtype", last_subtype),
    WAYMARK_MEMBER("last_size", last_size),
    WAYMARK_MEMBER("el", exception_level),
    WAYMARK_MEMBER("security", security),
    WAYMARK_MEMBER("reason", reason),
    WAYMARK_MEMBER("extra", extra),
    WAYMARK_MEMBER("extra_value", extra_value),
};
#undef WAYMARK_MEMBER

/// Every byte of an element belongs to a member.
constexpr bool members_cover_element() {
  std::array<bool, sizeof(Element)> covered{};
  for (const Member& member : kMembers)
    for (std::size_t i = 0; i < member.size; ++i) covered[member.offset + i] = true;
  for (const bool byte : covered)
    if (!byte) return false;
  return true;
}
static_assert(members_cover_element());

/// Names of words, by the order in which they are met.
class Words {
 public:
  /// The number of a word; -1 for none.
  std::int16_t code(std::string_view word) {
    if (word.empty()) return -1;
    const auto [at, added] = codes_.try_emplace(word, static_cast<std::int16_t>(names_.size()));
    if (added) names_.push_back(word);
    return at->second;
  }
  [[nodiscard]] py::list names() const {
    py::list list;
    for (const std::string_view name : names_) list.append(text_of(name));
    return list;
  }

 private:
  std::map<std::string_view, std::int16_t> codes_;
  std::vector<std::string_view> names_;
};

/// A column of CSV for all elements.
struct ColumnValues {
  std::vector<std::uint64_t> values;
  std::vector<std::uint8_t> absent;  ///< 1: the element has no such field.
  std::vector<std::int16_t> codes;
  Words words;
};

using Columns = std::array<ColumnValues, outputs::kColumnCount>;

Columns columns_of(std::span<const Element> elements) {
  using outputs::FieldForm;
  Columns columns;
  for (std::size_t at = 0; at < columns.size(); ++at) {
    if (outputs::kColumns[at].form == FieldForm::kWord) {
      columns[at].codes.assign(elements.size(), -1);
    } else {
      columns[at].values.assign(elements.size(), 0);
      columns[at].absent.assign(elements.size(), 1);
    }
  }
  for (std::size_t row = 0; row < elements.size(); ++row) {
    const Element& element = elements[row];
    outputs::with_fields(element, [&]<const auto & kFields>() {
      for (const outputs::ElementField& field : kFields) {
        if (field.column == outputs::Column::kNone || !field.present(element)) continue;
        ColumnValues& column = columns[static_cast<std::size_t>(field.column)];
        if (field.form == FieldForm::kWord) {
          column.codes[row] = column.words.code(field.word(element));
        } else {
          column.values[row] = field.value(element);
          column.absent[row] = 0;
        }
      }
    });
  }
  return columns;
}

template <class T>
py::array array_from(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace

ElementPool::Buffer ElementPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      Buffer buffer = std::move(free_.back());
      free_.pop_back();
      return buffer;
    }
  }
  return std::make_unique<std::vector<Element>>(size_);
}

void ElementPool::give_back(Buffer buffer) {
  const std::lock_guard lock(mutex_);
  if (free_.size() < kMostKept) free_.push_back(std::move(buffer));
}

namespace {
py::dtype make_dtype() {
  py::list names;
  py::list formats;
  py::list offsets;
  for (const Member& member : kMembers) {
    names.append(member.name);
    formats.append("u" + std::to_string(member.size));
    offsets.append(member.offset);
  }
  py::dict fields;
  fields["names"] = names;
  fields["formats"] = formats;
  fields["offsets"] = offsets;
  fields["itemsize"] = sizeof(Element);
  return py::dtype::from_args(fields);
}
}  // namespace

py::dtype element_dtype() {
  // Made when the module is loaded; it lives as long as the process.
  static const py::dtype* const made = new py::dtype(make_dtype());
  return *made;
}

py::array array_of(const std::shared_ptr<ElementPool>& pool, ElementPool::Buffer buffer,
                   std::size_t count) {
  struct Lease {
    std::shared_ptr<ElementPool> pool;
    ElementPool::Buffer buffer;
  };
  const Element* const data = buffer->data();
  auto lease = std::make_unique<Lease>(Lease{pool, std::move(buffer)});
  const py::capsule owner(lease.get(), [](void* held) {
    const std::unique_ptr<Lease> last(static_cast<Lease*>(held));
    last->pool->give_back(std::move(last->buffer));
  });
  static_cast<void>(lease.release());
  return {element_dtype(), static_cast<py::ssize_t>(count), data, owner};
}

std::span<const Element> elements_of(const py::array& array) {
  if (!array.dtype().equal(element_dtype()))
    throw py::type_error("expected an array of elements, with the dtype waymark.ELEMENT");
  if (array.ndim() != 1 || (array.flags() & py::array::c_style) == 0)
    throw py::type_error("expected an array of elements with one dimension and no gaps");
  return {static_cast<const Element*>(array.data()), static_cast<std::size_t>(array.size())};
}

py::dict element_columns(const py::array& array) {
  const std::span<const Element> elements = elements_of(array);
  Columns columns;
  {
    const py::gil_scoped_release free;
    columns = columns_of(elements);
  }
  py::dict result;
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const outputs::ColumnRow& row = outputs::kColumns[at];
    const ColumnValues& column = columns[at];
    const py::str name(row.name.data(), row.name.size());
    if (row.form == outputs::FieldForm::kWord) {
      result[name] = py::make_tuple("word", array_from(column.codes), column.words.names());
    } else {
      const bool flag = row.form == outputs::FieldForm::kFlag;
      result[name] = py::make_tuple(flag ? "flag" : "number", array_from(column.values),
                                    array_from(column.absent));
    }
  }
  return result;
}

py::bytes element_json(const py::array& array) {
  const std::span<const Element> elements = elements_of(array);
  TextBuffer text;
  {
    const py::gil_scoped_release free;
    for (const Element& element : elements) outputs::write_json(text, element);
  }
  return {text.view().data(), text.view().size()};
}

}  // namespace waymark::python
