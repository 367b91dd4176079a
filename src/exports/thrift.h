// Writes structs in the compact protocol of Apache Thrift, as far as Parquet needs it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace waymark::exports {

/// The fields of a struct, in ascending order of their numbers.  Structs nest.
class ThriftStruct {
 public:
  void i8(int field, std::int8_t value) {
    begin(field, kByte);
    bytes_ += static_cast<char>(value);
  }
  void i32(int field, std::int32_t value) { number(field, kI32, value); }
  void i64(int field, std::int64_t value) { number(field, kI64, value); }
  void flag(int field, bool value) { begin(field, value ? kTrue : kFalse); }
  void text(int field, std::string_view value) {
    begin(field, kBinary);
    put_text(value);
  }

  void open(int field) {
    begin(field, kStruct);
    last_.push_back(0);
  }
  void close() {
    last_.pop_back();
    bytes_ += '\0';
  }

  void list_of_numbers(int field, const std::vector<std::int32_t>& values) {
    open_list(field, kI32, values.size());
    for (const std::int32_t value : values) put_signed(value);
  }
  void list_of_texts(int field, const std::vector<std::string_view>& values) {
    open_list(field, kBinary, values.size());
    for (const std::string_view value : values) put_text(value);
  }
  /// Then open_element() and close() for each of them.
  void list_of_structs(int field, std::size_t size) { open_list(field, kStruct, size); }
  void open_element() { last_.push_back(0); }
  /// An element, or the struct of a field, that is complete.
  void put_struct(std::string_view bytes) { bytes_ += bytes; }

  /// The whole struct.
  [[nodiscard]] std::string take() {
    bytes_ += '\0';
    last_.assign(1, 0);
    return std::move(bytes_);
  }

 private:
  enum Type : std::uint8_t {
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kI32 = 5,
    kI64 = 6,
    kBinary = 8,
    kList = 9,
    kStruct = 12,
  };

  /// The number of a field is the distance from the one before it, which is at most 15 in all
  /// structs of Parquet.
  void begin(int field, Type type) {
    bytes_ += static_cast<char>((field - last_.back()) << 4 | type);
    last_.back() = field;
  }
  void number(int field, Type type, std::int64_t value) {
    begin(field, type);
    put_signed(value);
  }
  void open_list(int field, Type type, std::size_t size) {
    constexpr std::size_t kLong = 15;
    begin(field, kList);
    bytes_ += static_cast<char>((size < kLong ? size : kLong) << 4 | type);
    if (size >= kLong) put_unsigned(size);
  }
  void put_text(std::string_view value) {
    put_unsigned(value.size());
    bytes_ += value;
  }
  void put_unsigned(std::uint64_t value);
  void put_signed(std::int64_t value);

  std::string bytes_;
  std::vector<int> last_{0};
};

}  // namespace waymark::exports
