// SyS-T messages: any bytes, native, strict and as the reference, with collateral whose formats
// come from the input too.  Invariants: views are within the message, nothing outside the buffer is
// ever read, the text is bounded, and a message of known extent is what it was when more bytes
// follow.
#include <cstdio>
#include <memory>
#include <string>

#include "require.h"
#include "waymark/outputs/messages.h"
#include "waymark/syst/interpreter.h"
#include "waymark/syst/payload_text.h"
#include "waymark/syst/printf_format.h"

namespace {

using namespace waymark;
using namespace waymark::syst;
using fuzz::require;

bool within(Bytes part, Bytes whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check(const Message& message) {
  require(within(message.payload, message.raw), "a payload outside its message");
  require(within(message.data, message.raw), "data outside its message");
  require(within({reinterpret_cast<const std::uint8_t*>(message.text.data()), message.text.size()},
                 message.raw),
          "a text outside its message");
}

/// One client for all, in whose lists every ID has the format.
std::string collateral_with(std::string_view format) {
  std::string text;
  for (const char c : format) {
    if (c == '&') {
      text += "&amp;";
    } else if (c == '<') {
      text += "&lt;";
    } else if (c != 0) {
      text += c;
    }
  }
  constexpr std::string_view kAny = "{00000000-0000-0000-0000-000000000000}";
  const std::string guid(kAny);
  std::string xml = "<Collateral><Client Name='c\n'><Guids><Guid ID='" + guid + "' Mask='" + guid +
                    "'>g</Guid></Guids><Modules><Module ID='0' Mask='0'>" + text +
                    "</Module></Modules><SourceFiles><File ID='0' Mask='0'>" + text +
                    "</File></SourceFiles>";
  for (const std::string list : {"Catalog32", "Catalog64", "Short32", "Short64"}) {
    xml += "<" + list + "><Format ID='0' Mask='0' File='1' Line='2'>";
    xml += text;
    xml += "</Format></" + list + ">";
  }
  return xml + "<Write><Protocol ID='0' Mask='0'>" + text +
         "</Protocol></Write></Client></Collateral>";
}

/// The record in every form.
void write(const Collateral& collateral, Bytes bytes, Mode mode) {
  Interpreter interpreter(collateral, {.mode = mode, .quirks = {}});
  if (!collateral.empty()) interpreter.set_short_client(Guid{});
  Frame frame;
  frame.bytes = bytes;
  const Record record = interpreter.interpret(frame);
  TextBuffer out;
  outputs::MessageWriter writer(out);
  writer.text(record);
  const std::string_view line = out.view();
  require(line.find('\n') == line.size() - 1, "not one line of text");
  require(line.find('\x1B') == std::string_view::npos, "an escape sequence in the text");
  out.clear();
  writer.json(record);
  require(out.view().find('\n') == out.size() - 1, "not one line of JSON");
  writer.csv(record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) return 0;
  const std::size_t format_size = data[0] % size;
  const std::string format(reinterpret_cast<const char*>(data + 1),
                           std::min<std::size_t>(format_size, size - 1));
  const Bytes rest(data + 1 + format.size(), size - 1 - format.size());
  // A buffer of exactly its size, so that the sanitizer detects every read beyond it.
  const auto exact = std::make_unique<std::uint8_t[]>(rest.size());
  std::ranges::copy(rest, exact.get());
  const Bytes bytes(exact.get(), rest.size());

  TextBuffer out;
  for (const Quirks& quirks : {Quirks{}, Quirks::reference()}) {
    for (const Mode mode : {Mode::kTolerant, Mode::kStrict}) {
      const Message message = parse_message(bytes, {.mode = mode, .quirks = quirks});
      check(message);
      out.clear();
      write_payload(out, message, nullptr, nullptr, quirks);
      write_type(out, message, nullptr);
      write_location(out, message, nullptr, nullptr, quirks);
    }
    out.clear();
    write_printf(out, format, {.bytes = bytes, .is_64bit = (data[0] & 1) != 0}, quirks);
    // Each conversion takes at least two characters of the format.
    const std::size_t conversions = (format.size() / 2 + 1) * (kMaxConversion + 64);
    require(out.size() <= 128 + 2 * format.size() +
                              (quirks.reference_wording
                                   ? conversions
                                   : std::min(conversions, kMaxText + kMaxConversion + 64)),
            "a text without bound");
  }
  const Extent extent = message_extent(bytes);
  if (extent.kind == Extent::Kind::kKnown && extent.size <= bytes.size()) {
    const Message message = parse_message(bytes.first(extent.size));
    require(message.defect != Defect::kPayloadShort && message.defect != Defect::kPayloadLong,
            "an extent that is not that of the length field");
  }

  Collateral collateral;
  write(collateral, bytes, Mode::kTolerant);
  write(collateral, bytes, Mode::kStrict);
  // Without pugixml there is none.
  if (collateral.add_text("f.xml", collateral_with(format)))
    write(collateral, bytes, Mode::kTolerant);
  return 0;
}
