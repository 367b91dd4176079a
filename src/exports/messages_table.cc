#include <algorithm>

#include "table_rows.h"
#include "waymark/exports/tables.h"
#include "waymark/outputs/messages.h"

namespace waymark::exports {
namespace {

using enum ParquetType;

/// In the order and with the names of outputs::message_columns().
constexpr std::array kMessage = {
    nullable("index", kUint64, "the byte of the trace at which the message begins"),
    nullable("id", kUint8, "the trace ID of its source"),
    nullable("master", kUint16, "the STP master"),
    nullable("channel", kUint32, "the STP channel, or the port of an ITM"),
    nullable("time", kUint64, "its time, in ticks of the clock of the transport"),
    nullable("nanoseconds", kUint64, "the same in nanoseconds, if the frequency is known"),
    nullable("time_is", kText, "`of_message`, `of_transport` or `partial`"),
    nullable("status", kText, "`ok`, or why the message could not be read"),
    nullable("kind", kText, "the type of message"),
    nullable("severity", kText, "its severity"),
    nullable("client", kText, "the name of the client, from the collateral"),
    nullable("module", kText, "the name of the module, from the collateral"),
    nullable("guid", kText, "the GUID of the client"),
    nullable("origin", kUint8, "the number of the module, without a GUID"),
    nullable("unit", kUint16, "the number of the unit"),
    nullable("timestamp", kUint64, "the timestamp that the message carries"),
    nullable("text", kText, "the text of the message"),
    nullable("location", kText, "the file and line, or the address, that sent it"),
    nullable("size", kUint32, "its size in bytes"),
    nullable("checksum", kUint32, "the checksum that it carries"),
    nullable("problem", kText, "what is wrong with it"),
    nullable("bytes", kText, "the bytes of a message that could not be read"),
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
