// SyS-T messages as text for people, JSON Lines and CSV.  Fields: docs/output-formats.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/syst/interpreter.h"

namespace waymark::outputs {

enum class MessageForm : std::uint8_t {
  kNumber,
  kHex,  ///< A number that CSV writes with eight hexadecimal digits.
  kText,
};

/// A column of CSV, and of other tables of messages.
struct MessageColumn {
  std::string_view name{};
  MessageForm form = MessageForm::kText;
  /// For a text nullptr, as `text` is for a number.
  std::optional<std::uint64_t> (*number)(const syst::Record& record) = nullptr;
  void (*text)(TextBuffer& out, const syst::Record& record) = nullptr;
};

std::span<const MessageColumn> message_columns();

/// Writes one line for each record.  One owner; not thread safe.
class MessageWriter {
 public:
  /// The first columns of a line of text.
  struct Columns {
    bool time = true;
    bool trace_id = false;
    bool place = true;  ///< Master and channel, or port.
  };

  explicit MessageWriter(TextBuffer& out) : out_(out) {}
  MessageWriter(TextBuffer& out, const Columns& columns) : out_(out), columns_(columns) {}

  void text(const syst::Record& record);
  void json(const syst::Record& record);
  static void csv_header(TextBuffer& out);
  void csv(const syst::Record& record);

  /// "INFO demo:5 the text [src/main.c:12]": the line of text without its first columns and
  /// newline.
  void sentence(const syst::Record& record);

 private:
  /// Writes the text of the message to scratch_; for a bad message, its bytes.
  void payload(const syst::Record& record);
  void put_trace_id(const syst::Record& record);
  void put_time(const syst::Record& record);
  void put_place(const syst::Record& record);
  void put_type(const syst::Record& record);
  /// Writes scratch_ with trailing blanks.
  void put_padded(std::size_t width);

  TextBuffer& out_;
  Columns columns_;
  TextBuffer scratch_;
};

/// Why a record is not good(), in words; "" for a good record that ended as it should.
void write_problem(TextBuffer& out, const syst::Record& record);

/// The origin or GUID: "demo", "{494e…}", "module 3", with the unit.
void write_origin(TextBuffer& out, const syst::Record& record);

}  // namespace waymark::outputs
