// One prepared statement of SQLite.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "waymark/base/types.h"

namespace waymark::index {

/// 64-bit numbers are stored as SQLite's signed ones.  Values are bound, and columns of a row read,
/// from left to right.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] bool prepared() const { return statement_ != nullptr; }

  void bind(std::uint64_t value) {
    (void)sqlite3_bind_int64(statement_.get(), ++bound_, static_cast<sqlite3_int64>(value));
  }
  void bind_null() { (void)sqlite3_bind_null(statement_.get(), ++bound_); }
  /// `absent` is stored as NULL.
  void bind_unless(std::uint64_t value, std::uint64_t absent) {
    if (value == absent) {
      bind_null();
    } else {
      bind(value);
    }
  }
  void bind(std::string_view text) {
    (void)sqlite3_bind_text(statement_.get(), ++bound_, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT);
  }
  void bind(Bytes blob) {
    if (blob.empty()) {
      (void)sqlite3_bind_zeroblob(statement_.get(), ++bound_, 0);
    } else {
      (void)sqlite3_bind_blob64(statement_.get(), ++bound_, blob.data(), blob.size(),
                                SQLITE_TRANSIENT);
    }
  }
  int step() {
    column_ = 0;
    return sqlite3_step(statement_.get());
  }
  /// Prepares it for another binding and run.
  void reset() {
    (void)sqlite3_reset(statement_.get());
    bound_ = column_ = 0;
  }

  /// The next column of the present row.
  std::uint64_t number(std::uint64_t absent = 0) {
    const int column = column_++;
    if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER) return absent;
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
  }
  std::string text() {
    const int column = column_++;
    const auto* at = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return at == nullptr ? std::string() : std::string(at, static_cast<std::size_t>(size));
  }
  Bytes blob() {
    const int column = column_++;
    const auto* at =
        static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return at == nullptr ? Bytes{} : Bytes(at, static_cast<std::size_t>(size));
  }

 private:
  struct Closer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  std::unique_ptr<sqlite3_stmt, Closer> statement_;
  int bound_ = 0;
  int column_ = 0;
};

}  // namespace waymark::index
