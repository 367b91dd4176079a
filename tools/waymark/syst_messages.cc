#include "syst_messages.h"

#include <fmt/format.h>

#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "waymark/inputs/input_file.h"

namespace waymark::cli {
namespace {

std::string catalog_messages(std::uint64_t count) {
  return count == 1 ? "1 catalog message has" : fmt::format("{} catalog messages have", count);
}

}  // namespace

Messages::Messages(const syst::Collateral& collateral, const MessageFilter& filter, Output& output,
                   const SystOptions& options, const outputs::MessageWriter::Columns& columns)
    : interpreter_(
          collateral,
          {.mode = options.strict ? syst::Mode::kStrict : syst::Mode::kTolerant, .quirks = {}}),
      filter_(filter),
      output_(output),
      format_(options.format),
      is_strict_(options.strict),
      is_sorted_(options.sort),
      writer_(options.sort ? line_ : output.text(), columns) {
  if (format_ == Format::kCsv) outputs::MessageWriter::csv_header(output.text());
}

void Messages::on_frame(const syst::Frame& frame) {
  const syst::Record record = interpreter_.interpret(frame);
  ++counts_.all;
  const bool bad = !record.good();
  counts_.bad += bad ? 1 : 0;
  if (bad && !counts_.first_bad) counts_.first_bad = frame.index;
  counts_.guessed += frame.end == syst::FrameEnd::kGuessed ? 1 : 0;
  counts_.missing += !bad && record.status == syst::Status::kMissingCollateral ? 1 : 0;
  const bool is_unlisted = !bad && record.client != nullptr && record.entry == nullptr &&
                           record.message.type == syst::Type::kCatalog;
  counts_.unlisted += is_unlisted ? 1 : 0;
  counts_.untimed += filter_.is_untimed(record) ? 1 : 0;
  if (!filter_.wants(record)) return;
  ++counts_.shown;
  const std::uint64_t time = order_.add(record);
  switch (format_) {
    case Format::kText:
      writer_.text(record);
      break;
    case Format::kJson:
      writer_.json(record);
      break;
    case Format::kCsv:
      writer_.csv(record);
      break;
  }
  if (is_sorted_) {
    keep(time);
  } else {
    output_.settle();
  }
}

int Messages::finish(int code) {
  if (!is_sorted_) return code;
  if (error_.empty()) {
    const auto written = sorter_.finish([&](std::string_view text) {
      output_.text().put(text);
      return output_.settle();
    });
    if (!written) error_ = written.error().detail;
  }
  return error_.empty() ? code : complain(error_, kOutput);
}

bool Messages::is_stopped() const {
  return (is_strict_ && counts_.first_bad.has_value()) || interrupted() || !error_.empty();
}

void Messages::keep(std::uint64_t time) {
  const auto added = sorter_.add(time, line_.view());
  if (!added) error_ = added.error().detail;
  line_.clear();
}

std::string message_csv_header() {
  TextBuffer header;
  outputs::MessageWriter::csv_header(header);
  return std::string(header.view());
}

int judge_messages(const SystOptions& options, const Messages& messages, int code) {
  const MessageCounts& counts = messages.counts();
  if (counts.guessed != 0) {
    complain(
        fmt::format("note: {} no length field, so its end in plain bytes is a guess: the start of "
                    "the next message that makes sense.",
                    counts.guessed == 1 ? "1 message has"
                                        : fmt::format("each of {} messages has", counts.guessed)),
        kOk);
  }
  if (counts.missing != 0) {
    complain(fmt::format("note: {} no text; name the sender's XML with --collateral.",
                         catalog_messages(counts.missing)),
             kOk);
  }
  if (counts.unlisted != 0) {
    complain(fmt::format("note: {} an ID that is not in the sender's collateral; the collateral "
                         "may belong to another build.",
                         catalog_messages(counts.unlisted)),
             kOk);
  }
  if (counts.untimed != 0) {
    complain(fmt::format("note: {} no time to compare with --from and --to, and {} not shown.",
                         counts.untimed == 1 ? "1 message has"
                                             : fmt::format("{} messages have", counts.untimed),
                         counts.untimed == 1 ? "is" : "are"),
             kOk);
  }
  const syst::MessageOrder& order = messages.order();
  if (!options.sort && order.backwards() != 0) {
    note(fmt::format(
        "{} earlier than a message before {}, first at byte {}: each source has its "
        "own order in time. --sort sorts all messages by time.",
        order.backwards() == 1 ? "1 message is" : fmt::format("{} messages are", order.backwards()),
        order.backwards() == 1 ? "it" : "them", *order.first_backwards()));
  }
  if (options.statistics) {
    complain(fmt::format("{} messages, {} bad, {} shown", counts.all, counts.bad, counts.shown),
             kOk);
  }
  if (options.strict && counts.first_bad && (code == kOk || code == kDamaged)) {
    return complain(fmt::format("--strict: the message at byte {} is damaged.", *counts.first_bad),
                    kDamaged);
  }
  if (code == kOk && counts.all == 0) {
    return complain(fmt::format("{}: no SyS-T message was found. If the file contains messages, "
                                "state their form with --as lines, --as plain or --as trace.",
                                inputs::input_name(options.input.path)),
                    kDamaged);
  }
  return code;
}

}  // namespace waymark::cli
