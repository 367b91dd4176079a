#include <algorithm>

#include "table_rows.h"
#include "waymark/exports/tables.h"
#include "waymark/outputs/messages.h"

namespace waymark::exports {
namespace {

using enum ParquetType;

constexpr TableColumn given(std::string_view name, ParquetType type, std::string_view meaning) {
  return {.stored = {.name = name, .type = type, .nullable = true}, .meaning = meaning};
}

/// In the order and with the names of outputs::message_columns().
constexpr std::array kMessage = {
    given("index", kUint64, "the byte of the trace at which the message begins"),
    given("id", kUint8, "the trace ID of its source"),
    given("master", kUint16, "the STP master"),
    given("channel", kUint32, "the STP channel, or the port of an ITM"),
    given("time", kUint64, "its time, in ticks of the clock of the transport"),
    given("nanoseconds", kUint64, "the same in nanoseconds, if the frequency is known"),
    given("time_is", kText, "`of_message`, `of_transport` or `partial`"),
    given("status", kText, "`ok`, or why the message could not be read"),
    given("kind", kText, "the type of message"),
    given("severity", kText, "its severity"),
    given("client", kText, "the name of the client, from the collateral"),
    given("module", kText, "the name of the module, from the collateral"),
    given("guid", kText, "the GUID of the client"),
    given("origin", kUint8, "the number of the module, without a GUID"),
    given("unit", kUint16, "the number of the unit"),
    given("timestamp", kUint64, "the timestamp that the message carries"),
    given("text", kText, "the text of the message"),
    given("location", kText, "the file and line, or the address, that sent it"),
    given("size", kUint32, "its size in bytes"),
    given("checksum", kUint32, "the checksum that it carries"),
    given("problem", kText, "what is wrong with it"),
    given("bytes", kText, "the bytes of a message that could not be read"),
};

}  // namespace

std::span<const TableColumn> messages_columns() {
  static const auto kAll = [] {
    std::array<TableColumn, kCommonColumns.size() + kMessage.size()> all{};
    std::ranges::copy(kMessage, std::ranges::copy(kCommonColumns, all.begin()).out);
    return all;
  }();
  return kAll;
}

MessagesPart::MessagesPart(const TableInput& input, TextBuffer& out)
    : TablePart("messages", input, out) {}

void MessagesPart::add(const syst::Record& record) {
  begin_row();
  std::size_t at = kCommonColumns.size();
  for (const outputs::MessageColumn& column : outputs::message_columns()) {
    CellWriter cell(writer_, at++);
    if (column.text == nullptr) {
      cell.number(column.number(record));
      continue;
    }
    text_.clear();
    column.text(text_, record);
    cell.word(text_.view());
  }
  writer_.end_row();
}

}  // namespace waymark::exports
