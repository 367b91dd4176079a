#include "waymark/outputs/examination.h"

#include <fmt/format.h>

#include <algorithm>

#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/base/shell_word.h"
#include "waymark/inputs/input_file.h"
#include "waymark/outputs/json.h"

namespace waymark::outputs {
namespace {

using doctor::Examination;
using doctor::KnownField;
using doctor::StreamFound;
using doctor::Trial;
using doctor::Verdict;
using inputs::Framing;

std::string_view framing_words(Framing framing) {
  switch (framing) {
    case Framing::kNone:
      return "one stream without frames";
    case Framing::kMemoryAligned:
    case Framing::kPieces:
      return "CoreSight frames without syncs, as an ETB or ETR stores them";
    case Framing::kFsync:
      return "CoreSight frames with frame syncs, as a TPIU sends them";
    case Framing::kHsync:
      return "CoreSight frames with frame and half syncs, as a TPIU sends them";
    case Framing::kDstream:
      return "CoreSight frames with frame syncs, in the records of a DSTREAM";
  }
  return "";
}

struct ProtocolWords {
  std::string_view protocol;
  std::string_view words;
};
constexpr ProtocolWords kProtocols[] = {{"etmv4", "ETMv4"},       {"ete", "ETE"}, {"ptm", "PTM"},
                                        {"etmv3", "ETMv3"},       {"stm", "STM"}, {"itm", "ITM"},
                                        {"etmv4d", "ETMv4 data"}, {"mtb", "MTB"}};

std::string_view protocol_words(const Verdict& verdict) {
  if (verdict.protocol.empty()) return "unknown";
  if (verdict.ete_or_etm) return "ETMv4 or ETE";
  return std::ranges::find(kProtocols, verdict.protocol, &ProtocolWords::protocol)->words;
}

/// Registers that the protocol's decoder must be given.
bool is_needed(const Verdict& verdict, std::string_view name) {
  if (name == "TRCIDR1") return doctor::value_of(verdict.registers, "TRCIDR2") >> 10 & 0x1E;
  if (name == "TRCDEVARCH")
    return verdict.trial.has(doctor::Witness::kMarker) ||
           verdict.trial.has(doctor::Witness::kInstrumentation);
  return true;
}

double percent(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

bool needs_program(std::string_view protocol) {
  return protocol == "etmv4" || protocol == "ete" || protocol == "ptm" || protocol == "etmv3" ||
         protocol == "mtb";
}

std::string interval_text(const Trial& trial) {
  if (trial.syncs < 2) return "-";
  return fmt::format("{}", (trial.size - trial.leading) / trial.syncs);
}

std::string id_text(const StreamFound& stream, bool framed) {
  return framed ? fmt::format("0x{:02x}", stream.id) : "-";
}

void write_losses(TextBuffer& out, const Examination& found, bool framed) {
  out.put("\nloss\n");
  std::size_t lines = 0;
  const auto line = [&](const std::string& text) {
    out.put(fmt::format("  - {}\n", text));
    ++lines;
  };
  if (found.framing.header != 0)
    line(fmt::format("{} at the beginning are not part of a frame.",
                     counted(found.framing.header, "byte")));
  if (found.framing.skipped != 0)
    line(fmt::format(
        "{} ({:.2f} %) were skipped to find the next frame: bytes were lost, inserted "
        "or changed there.",
        counted(found.framing.skipped, "byte"), percent(found.framing.skipped, found.examined)));
  if (found.tail != 0)
    line(fmt::format("{} at the end do not complete a frame.", counted(found.tail, "byte")));
  if (found.stray != 0)
    line(
        fmt::format("{} ({:.2f} %) belong to trace IDs with so few bytes that they are probably "
                    "damage.",
                    counted(found.stray, "byte"), percent(found.stray, found.examined)));
  for (const StreamFound& stream : found.streams) {
    const Trial& trial = stream.verdict.trial;
    if (stream.verdict.protocol.empty()) continue;
    const std::string id = framed ? fmt::format("0x{:02x}: ", stream.id) : std::string();
    if (trial.leading != 0 && trial.leading < trial.size)
      line(fmt::format("{}{} ({:.2f} %) come before the first synchronisation.", id,
                       counted(trial.leading, "byte"), percent(trial.leading, trial.size)));
    if (trial.bad != 0)
      line(fmt::format("{}{} {} bad ({:.2f} %): bytes were lost or changed.", id,
                       counted(trial.bad, "packet"), one_or(trial.bad, "is", "are"),
                       percent(trial.bad, trial.bad + trial.packets)));
    if (trial.overflows != 0)
      line(fmt::format("{}the source lost trace {}: its buffer overflowed.", id,
                       counted(trial.overflows, "time")));
    if (trial.discards != 0)
      line(fmt::format("{}the source discarded trace that it had not sent, {}.", id,
                       counted(trial.discards, "time")));
    if (trial.cut) line(fmt::format("{}the last packet is cut.", id));
  }
  if (lines == 0) out.put("  nothing\n");
}

void write_registers(TextBuffer& out, const StreamFound& stream, bool framed, bool explain) {
  const Verdict& verdict = stream.verdict;
  if (verdict.known.empty() && verdict.least.empty() && verdict.open.empty() &&
      !(explain && !verdict.unknown.empty()))
    return;
  out.put(fmt::format("\n{}registers\n", framed ? fmt::format("0x{:02x} ", stream.id) : ""));
  for (const KnownField& field : verdict.known) {
    out.put(fmt::format("  {}.{} is {}{}\n", field.register_name, field.field, field.number(),
                        explain ? fmt::format(": {}", field.why) : std::string()));
  }
  for (const doctor::LeastField& field : verdict.least) {
    out.put(fmt::format("  {}.{} is at least {}{}\n", field.register_name, field.field, field.least,
                        explain ? fmt::format(": {}", field.why) : std::string()));
  }
  for (const doctor::OpenField& field : verdict.open) {
    out.put(fmt::format("  {}{}{} must be given: {}\n", field.register_name,
                        field.field.empty() ? "" : ".", field.field, field.why));
  }
  if (!explain) return;
  for (const doctor::UnknownField& field : verdict.unknown) {
    out.put(
        fmt::format("  {}.{} cannot be known: {}\n", field.register_name, field.field, field.why));
  }
}

std::string_view score_reason(const Verdict& verdict) {
  if (verdict.starts_in_sync)
    return "there is no synchronisation, so its first byte was taken to begin a packet";
  if (verdict.trial.syncs == 0) return "there is no synchronisation";
  return "";
}

void write_reasons(TextBuffer& out, const Examination& found, bool framed) {
  out.put("\nwhy\n");
  out.put(fmt::format("  - Read as {}, {:.0f} % of the bytes are good packets.\n",
                      framing_words(found.framing.framing), 100 * found.framing.score));
  if (found.framing.syncs != 0)
    out.put(fmt::format("  - There are {}.\n", counted(found.framing.syncs, "frame sync")));
  for (const doctor::FramingFound& other : found.others)
    out.put(fmt::format("  - Read as {}, it would be {:.0f} %.\n", framing_words(other.framing),
                        100 * other.score));
  for (const StreamFound& stream : found.streams) {
    const Verdict& verdict = stream.verdict;
    const std::string id = framed ? fmt::format("0x{:02x}: ", stream.id) : std::string();
    if (verdict.candidates.empty()) {
      out.put(fmt::format("  - {}no protocol's synchronisation was found.\n", id));
      continue;
    }
    out.put(fmt::format("  - {}", id));
    std::string_view comma;
    for (const doctor::Candidate& candidate : verdict.candidates) {
      out.put(fmt::format("{}{} {:.0f} %", comma, candidate.protocol, 100 * candidate.score));
      comma = ", ";
    }
    const Trial& trial = verdict.trial;
    out.put(fmt::format("; {} of {} followed by what the protocol requires, {} bad.\n",
                        trial.followed, counted(trial.syncs, "synchronisation"),
                        counted(trial.bad, "packet")));
    if (const std::string_view reason = score_reason(verdict); !reason.empty())
      out.put(fmt::format("  - {}{}.\n", id, reason));
    if (verdict.ete_or_etm)
      out.put(fmt::format(
          "  - {}no packet occurs that only an ETMv4 or only an ETE has; both read it alike.\n",
          id));
  }
}

}  // namespace

std::string source_option(const StreamFound& stream, bool framed) {
  const Verdict& verdict = stream.verdict;
  if (verdict.protocol.empty()) return {};
  std::string text = framed ? fmt::format("0x{:02x}={}", stream.id, verdict.protocol)
                            : std::string(verdict.protocol);
  for (const auto& [name, value] : verdict.registers)
    if (is_needed(verdict, name)) text += fmt::format(",{}=0x{:x}", name, value);
  return text;
}

std::string next_command(std::string_view path, const Examination& found) {
  const bool framed = found.framing.framing != Framing::kNone;
  std::string sources;
  bool decodes = false;
  bool in_sync = false;
  for (const StreamFound& stream : found.streams) {
    const std::string option = source_option(stream, framed);
    if (option.empty()) continue;
    sources += fmt::format(" --source {}", option);
    decodes = decodes || stream.verdict.protocol != "etmv4d";
    in_sync = in_sync || stream.verdict.starts_in_sync;
  }
  if (sources.empty()) return {};
  return fmt::format("waymark {} {} --framing {}{}{}", decodes ? "decode" : "packets",
                     shell_word(path), inputs::framing_name(found.framing.framing), sources,
                     in_sync ? " --assume-sync" : "");
}

void write_examination(TextBuffer& out, std::string_view path, const Examination& found,
                       bool explain) {
  const bool framed = found.framing.framing != Framing::kNone;
  out.put(fmt::format("input     {} ({})\n", escaped(inputs::input_name(std::string(path))),
                      found.wrapping == doctor::Wrapping::kText
                          ? fmt::format("text that shows {}", counted(found.size, "byte"))
                          : counted(found.size, "byte")));
  if (found.examined < found.size)
    out.put(fmt::format("          the first {} were examined\n", counted(found.examined, "byte")));
  if (found.framing.confidence == doctor::Confidence::kNone) {
    out.put("framing   unknown\n");
  } else {
    out.put(fmt::format("framing   {} ({})\n", framing_words(found.framing.framing),
                        confidence_name(found.framing.confidence)));
  }
  for (const doctor::FramingFound& other : found.others)
    if (found.framing.confidence != doctor::Confidence::kSure)
      out.put(fmt::format("          or {} ({})\n", framing_words(other.framing),
                          confidence_name(other.confidence)));
  if (found.framing.pieces.size() > 1)
    out.put(fmt::format("          in {}, between which bytes are missing or surplus\n",
                        counted(found.framing.pieces.size(), "piece")));
  constexpr std::string_view kRow = "  {:<5} {:<14} {:<8} {:>12} {:>10} {:>7} {:>11} {:>11}\n";
  out.put("\nsources\n");
  out.put(fmt::format(kRow, "id", "protocol", "", "bytes", "packets", "syncs", "mean gap",
                      "longest gap"));
  for (const StreamFound& stream : found.streams) {
    const Trial& trial = stream.verdict.trial;
    out.put(fmt::format(kRow, id_text(stream, framed), protocol_words(stream.verdict),
                        confidence_name(stream.verdict.confidence), stream.bytes, trial.packets,
                        trial.syncs, interval_text(trial),
                        trial.syncs == 0 ? "-" : fmt::format("{}", trial.longest_gap)));
  }
  if (found.streams.empty()) out.put("  none\n");
  if (found.padding != 0)
    out.put(fmt::format("  and {} of padding\n", counted(found.padding, "byte")));
  for (const StreamFound& stream : found.streams) write_registers(out, stream, framed, explain);
  write_losses(out, found, framed);
  if (explain) write_reasons(out, found, framed);
  out.put("\nnext\n");
  const std::string command = next_command(path, found);
  if (command.empty()) {
    out.put(
        "  No protocol fits. If you know how the trace was made, state it with --framing and\n"
        "  --source; otherwise capture more, with frequent synchronisation.\n");
  } else {
    out.put(fmt::format("  {}\n", escaped(command)));
    const bool program = std::ranges::any_of(found.streams, [](const StreamFound& stream) {
      return needs_program(stream.verdict.protocol);
    });
    if (program)
      out.put(
          "\nTo see instructions, name the program that ran with --elf; `waymark info` finds it\n"
          "among several with --programs.\n");
  }
}

namespace {

void put_string(TextBuffer& out, std::string_view name, std::string_view value) {
  out.put(fmt::format(R"("{}":)", name));
  write_json_string(out, value);
}

void put_framing(TextBuffer& out, const doctor::FramingFound& framing) {
  out.put(fmt::format(R"({{"framing":"{}","confidence":"{}","score":{:.3f},"header":{},)"
                      R"("skipped":{},"frame_syncs":{},"pieces":[)",
                      inputs::framing_name(framing.framing), confidence_name(framing.confidence),
                      framing.score, framing.header, framing.skipped, framing.syncs));
  std::string_view comma;
  for (const frames::FramePiece& piece : framing.pieces) {
    out.put(fmt::format(R"({}{{"offset":{},"bytes":{}}})", comma, piece.offset, piece.size));
    comma = ",";
  }
  out.put("]}");
}

/// `put_rest` writes what a kind of field has besides its name and the evidence.
template <class Field, class PutRest>
void put_fields(TextBuffer& out, std::string_view name, const std::vector<Field>& fields,
                PutRest put_rest) {
  out.put(fmt::format(R"("{}":[)", name));
  std::string_view comma;
  for (const Field& field : fields) {
    out.put(fmt::format(R"({}{{"register":"{}","field":"{}",)", comma, field.register_name,
                        field.field));
    comma = ",";
    put_rest(field);
    put_string(out, "why", field.why);
    out.put('}');
  }
  out.put(']');
}

void put_registers(TextBuffer& out, const Verdict& verdict) {
  const auto nothing = [](const auto& /*field*/) {};
  put_fields(out, "known", verdict.known, [&](const KnownField& field) {
    out.put(fmt::format(R"("mask":"0x{:x}","value":"0x{:x}",)", field.mask, field.value));
  });
  out.put(',');
  put_fields(out, "at_least", verdict.least, [&](const doctor::LeastField& field) {
    out.put(fmt::format(R"("least":{},)", field.least));
  });
  out.put(',');
  put_fields(out, "must_be_given", verdict.open, nothing);
  out.put(',');
  put_fields(out, "cannot_be_known", verdict.unknown, nothing);
}

void put_stream(TextBuffer& out, const StreamFound& stream, bool framed) {
  const Verdict& verdict = stream.verdict;
  const Trial& trial = verdict.trial;
  out.put(fmt::format(R"({{"id":{},"bytes":{},"protocol":"{}","ete_or_etmv4":{},)"
                      R"("confidence":"{}","packets":{},"bad_packets":{},"sync_points":{},)"
                      R"("longest_gap":{},"leading_bytes":{},"overflows":{},"discards":{},)"
                      R"("cut":{},"candidates":[)",
                      stream.id, stream.bytes, verdict.protocol, verdict.ete_or_etm,
                      confidence_name(verdict.confidence), trial.packets, trial.bad, trial.syncs,
                      trial.longest_gap, trial.leading, trial.overflows, trial.discards,
                      trial.cut));
  std::string_view comma;
  for (const doctor::Candidate& candidate : verdict.candidates) {
    out.put(fmt::format(R"({}{{"protocol":"{}","score":{:.3f}}})", comma, candidate.protocol,
                        candidate.score));
    comma = ",";
  }
  out.put("],");
  put_registers(out, verdict);
  out.put(',');
  put_string(out, "source", source_option(stream, framed));
  out.put('}');
}

}  // namespace

void write_json(TextBuffer& out, std::string_view path, const Examination& found) {
  out.put(R"({"type":"examination",)");
  put_string(out, "input", path);
  out.put(fmt::format(R"(,"bytes":{},"examined_bytes":{},"text":{},"tail":{},"padding":{},)"
                      R"("stray_bytes":{},"framing":)",
                      found.size, found.examined, found.wrapping == doctor::Wrapping::kText,
                      found.tail, found.padding, found.stray));
  put_framing(out, found.framing);
  out.put(R"(,"other_framings":[)");
  std::string_view comma;
  for (const doctor::FramingFound& other : found.others) {
    out.put(comma);
    put_framing(out, other);
    comma = ",";
  }
  out.put(R"(],"streams":[)");
  comma = "";
  for (const StreamFound& stream : found.streams) {
    out.put(comma);
    put_stream(out, stream, found.framing.framing != Framing::kNone);
    comma = ",";
  }
  out.put("],");
  put_string(out, "next", next_command(path, found));
  out.put("}\n");
}

}  // namespace waymark::outputs
