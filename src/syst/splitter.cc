#include "waymark/syst/splitter.h"

#include <algorithm>

#include "waymark/base/bits.h"
#include "waymark/syst/parser.h"

namespace waymark::syst {
namespace {

/// Messages in a row that show where a stream goes on.
constexpr unsigned kChain = 4;
/// Bytes that one search parses at most, so that no input makes it long.
constexpr std::size_t kSearchWork = std::size_t{8} << 20;

/// What a legal header can be.
bool is_plausible_header(std::uint32_t header) {
  const auto type = static_cast<Type>(header & 0xF);
  const auto subtype = static_cast<std::uint8_t>(header >> 24 & 0x3F);
  switch (type) {
    case Type::kShort32:
    case Type::kShort64:
      return true;
    case Type::kBuild:
      if (subtype < 2) return true;
      [[fallthrough]];
    case Type::kString:
    case Type::kCatalog:
    case Type::kClock:
      return (header & kHeaderReserved) == 0 && subtype_name(type, subtype) != "??";
    case Type::kRaw:
      return (header & kHeaderReserved) == 0;
    case Type::kSbd:
      return (header & kHeaderReserved) == 0 && subtype <= 0xF;
    default:
      return false;
  }
}

/// The message at the beginning of `bytes`, as far as it can be told without those after it.
struct Look {
  enum class Kind : std::uint8_t {
    kCut,
    kNone,
    kOpen,
    kBad,
    kNoNul,  ///< A text without its NUL: so are those of some senders, and those cut by a length.
    kGood,
  };
  Kind kind = Kind::kNone;
  bool strong = false;
  std::size_t size = 0;
  std::size_t least = 0;  ///< What stands before the payload.
};

bool is_printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || c == '\t' || c == '\n' || c == '\r';
  });
}

Look::Kind judge(const Message& message) {
  // Bytes behind the end of a text may be the next messages, and the length wrong.
  const bool has_rest = message.type == Type::kString && !message.is_printf() &&
                        message.text.size() + 1 < message.payload.size();
  if (message.ok()) return has_rest ? Look::Kind::kBad : Look::Kind::kGood;
  return message.defect == Defect::kTextUnterminated ? Look::Kind::kNoNul : Look::Kind::kBad;
}

Look look_at(Bytes bytes) {
  using enum Look::Kind;
  if (bytes.size() < 4) return {kCut};
  if (!is_plausible_header(load_le<std::uint32_t>(bytes.data()))) return {kNone};
  const Extent extent = message_extent(bytes);
  if (extent.kind == Extent::Kind::kOpen) return {kOpen};
  if (extent.kind == Extent::Kind::kNeedMore || extent.size > bytes.size()) {
    return {kCut, false, extent.size};
  }
  const Message message =
      parse_message(bytes.first(extent.size), {.mode = Mode::kStrict, .quirks = {}});
  const Look::Kind kind = judge(message);
  const bool strong =
      (kind == kGood && !message.is_short) || (kind == kNoNul && is_printable(message.text));
  return {kind, strong, extent.size, message.has_length() ? extent.size - message.length : 0};
}

/// Messages that make sense follow each other from the beginning of `bytes` on.  `strictly`: one of
/// them must have more to it than a low nibble of 1 or 7, as short ones have.  `work` runs out.
bool goes_on(Bytes bytes, bool strictly, std::size_t& work) {
  bool strong = !strictly;
  for (unsigned i = 0; i < kChain; ++i) {
    if (bytes.empty()) return strong;
    const Look look = look_at(bytes);
    work -= std::min(work, look.size + 4);
    if (work == 0) return false;
    switch (look.kind) {
      case Look::Kind::kNone:
      case Look::Kind::kBad:
        return false;
      case Look::Kind::kCut:
      case Look::Kind::kOpen:
        // Nothing more can be told; what came before it must do.
        return strong;
      case Look::Kind::kNoNul:
      case Look::Kind::kGood:
        break;
    }
    strong |= look.strong;
    bytes = bytes.subspan(look.size);
  }
  return strong;
}

/// Of a message whose type or subtype is not known, but whose length leads to one that makes sense,
/// or to the end; else 0.
std::size_t size_of_unknown(Bytes view) {
  const auto header = load_le<std::uint32_t>(view.data());
  if ((header & kHeaderReserved) != 0 || (header & kHeaderLength) == 0) return 0;
  const Extent extent = message_extent(view);
  if (extent.kind != Extent::Kind::kKnown || extent.size > view.size()) return 0;
  std::size_t work = kSearchWork;
  const bool leads_on =
      extent.size == view.size() || goes_on(view.subspan(extent.size), true, work);
  return leads_on ? extent.size : 0;
}

}  // namespace

void StreamSplitter::feed(Bytes block) {
  if (rest_.empty()) {
    rest_ = block;
    carried_ = false;
    return;
  }
  // next() has left the rest at the end of carry_.
  carry_.erase(carry_.begin(), carry_.end() - static_cast<std::ptrdiff_t>(rest_.size()));
  carry_.insert(carry_.end(), block.begin(), block.end());
  rest_ = carry_;
}

void StreamSplitter::take(Frame& frame, std::size_t size, FrameEnd end) {
  frame = {};
  frame.bytes = rest_.first(size);
  frame.index = index_;
  frame.end = end;
  rest_ = rest_.subspan(size);
  index_ += size;
  wanted_ = 0;
}

std::size_t StreamSplitter::search(Bytes view, std::size_t from, std::size_t least,
                                   std::size_t claimed) {
  std::size_t work = kSearchWork;
  const bool has_claim = claimed != 0 && claimed <= view.size();
  // Most damage leaves the length alone.
  if (has_claim && goes_on(view.subspan(claimed), true, work)) return claimed;
  const std::size_t end = has_claim ? claimed : view.size();
  for (std::size_t at = from; at < end; ++at) {
    // If the header can be believed, its fields reach to `least`: what looks like a short message
    // there is likely to be part of them.
    const Bytes rest = view.subspan(at);
    if ((at >= least || look_at(rest).strong) && goes_on(rest, true, work)) return at;
  }
  if (!has_claim || goes_on(view.subspan(claimed), false, work)) return end;
  for (std::size_t at = claimed + 1; at < view.size(); ++at)
    if (goes_on(view.subspan(at), true, work)) return at;
  return claimed;
}

bool StreamSplitter::split(Frame& frame, bool all_is_there) {
  if (rest_.empty() || (rest_.size() < wanted_ && !all_is_there)) return false;
  const Look look = look_at(rest_);
  if (look.kind == Look::Kind::kGood) {
    take(frame, look.size, FrameEnd::kWhole);
    return true;
  }
  // The answer must not depend on how the stream comes in blocks.
  const bool is_cut = look.kind == Look::Kind::kCut;
  if (!all_is_there && (is_cut || rest_.size() < kLookAhead)) {
    wanted_ = is_cut ? std::max<std::size_t>(look.size, 4) : kLookAhead;
    return false;
  }
  const Bytes view = rest_.first(std::min(rest_.size(), kLookAhead));
  ++doubtful_;
  if (look.kind == Look::Kind::kNone) {
    if (const std::size_t size = size_of_unknown(view); size != 0) {
      take(frame, size, FrameEnd::kWhole);
      return true;
    }
  }
  FrameEnd end = FrameEnd::kWhole;
  std::size_t from = 1;
  if (look.kind == Look::Kind::kNone) end = FrameEnd::kNoMessage;
  if (look.kind == Look::Kind::kOpen) {
    end = FrameEnd::kGuessed;
    from = std::max<std::size_t>(view.size() - parse_message(view).payload.size(), 4);
  }
  const std::size_t size = search(view, from, look.least, look.size);
  if (is_cut && size == rest_.size()) end = FrameEnd::kEndOfInput;
  take(frame, size, end);
  return true;
}

bool StreamSplitter::next(Frame& frame) {
  if (split(frame, false)) return true;
  if (!rest_.empty() && !carried_) {
    carry_.assign(rest_.begin(), rest_.end());
    rest_ = carry_;
    carried_ = true;
  }
  return false;
}

bool StreamSplitter::finish(Frame& frame) { return split(frame, true); }

PlainFacts plain_facts(Bytes content, std::size_t window) {
  PlainFacts facts;
  StreamSplitter splitter;
  Frame frame;
  const auto count = [&] {
    const Message message = parse_message(frame.bytes, {.mode = Mode::kStrict, .quirks = {}});
    const bool is_text = message.type == Type::kString && is_printable(message.text);
    const bool is_whole = frame.end == FrameEnd::kWhole;
    const bool no_nul = message.defect == Defect::kTextUnterminated && is_text;
    const bool good = is_whole && (message.ok() || no_nul);
    // A text that ends where the input does is no chance, either.
    const bool ends_well = frame.end == FrameEnd::kGuessed && message.ok() && is_text;
    facts.messages += good ? 1 : 0;
    facts.strong += (good && !message.is_short) || ends_well ? 1 : 0;
    // A capture ends where it does; after a few messages that is no reason for doubt.
    const bool is_cut = frame.end == FrameEnd::kEndOfInput && facts.strong >= 2;
    facts.doubtful += good || ends_well || is_cut ? 0 : 1;
    facts.values += good && message.is_short && message.value != 0 ? 1 : 0;
  };
  splitter.feed(content.first(std::min(content.size(), window)));
  while (splitter.next(frame)) count();
  if (content.size() > window) return facts;
  while (splitter.finish(frame)) count();
  return facts;
}

}  // namespace waymark::syst
