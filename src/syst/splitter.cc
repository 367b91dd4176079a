#include "waymark/syst/splitter.h"

#include <algorithm>
#include <array>

#include "waymark/base/bits.h"
#include "waymark/syst/parser.h"

namespace waymark::syst {
namespace {

/// The weight of a chain of messages that shows where a stream continues.  A short message weighs
/// 1, as every eighth word looks like one; other messages weigh kStrong.
constexpr unsigned kEnough = 8;
constexpr unsigned kStrong = 2;
/// The longest chain that is examined, including messages without weight.
constexpr unsigned kLinks = 12;
/// The first size of a search; each further one is twice as large.
constexpr std::size_t kFirstSearch = 64;

/// Whether a legal header can look like this.
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

bool is_short_header(std::uint32_t header) {
  const auto type = static_cast<Type>(header & 0xF);
  return type == Type::kShort32 || type == Type::kShort64 ||
         (type == Type::kBuild && (header >> 24 & 0x3F) < 2);
}

/// The facts that the header and the length of a message state.
struct Outline {
  enum class Kind : std::uint8_t { kCut, kNone, kOpen, kKnown };
  Kind kind = Kind::kNone;
  bool is_short = false;
  /// For kKnown, its bytes; for kCut, the bytes that are needed; for kOpen, its minimum of bytes.
  std::size_t size = 0;
};

Outline outline(Bytes bytes) {
  using enum Outline::Kind;
  if (bytes.size() < 4) return {kCut, false, 4};
  const auto header = load_le<std::uint32_t>(bytes.data());
  if (!is_plausible_header(header)) return {kNone};
  const bool is_short = is_short_header(header);
  const Extent extent = message_extent(bytes);
  if (extent.kind == Extent::Kind::kOpen) return {kOpen, is_short, extent.size};
  const bool is_cut = extent.kind == Extent::Kind::kNeedMore || extent.size > bytes.size();
  return {is_cut ? kCut : kKnown, is_short, extent.size};
}

bool is_printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || c == '\t' || c == '\n' || c == '\r';
  });
}

/// How much the bytes of a message make sense.
struct Look {
  enum class Kind : std::uint8_t {
    kBad,
    kPadded,  ///< More than NULs after a text: they are ignored, or they are the next messages and
              ///< the length is wrong.
    kGood,
  };
  Kind kind = Kind::kBad;
  unsigned weight = 0;    ///< Its weight in a chain.
  std::size_t least = 0;  ///< The bytes before the payload.
};

Look look_at(Bytes bytes) {
  const Message message = parse_message(bytes, {.mode = Mode::kStrict, .quirks = {}});
  const std::size_t least = message.has_length() ? bytes.size() - message.length : 0;
  if (message.defect == Defect::kTextUnterminated) {
    // Some senders write no NUL.  Headers are not printable, so a printable text contains no
    // message.
    const bool good = message.type == Type::kString && is_printable(message.text);
    return {good ? Look::Kind::kGood : Look::Kind::kBad, good ? kStrong : 0, least};
  }
  if (!message.ok()) return {Look::Kind::kBad, 0, least};
  if (message.is_short) {
    // Filler bytes look like short messages and compact builds.
    const bool is_filling =
        message.type == Type::kBuild ||
        std::ranges::all_of(bytes.first(4), [&](std::uint8_t byte) { return byte == bytes[0]; });
    return {Look::Kind::kGood, is_filling ? 0U : 1U, least};
  }
  if (message.type == Type::kString && !message.is_printf() && !message.unterminated) {
    const Bytes rest = message.payload.subspan(message.text.size() + 1);
    if (std::ranges::any_of(rest, [](std::uint8_t byte) { return byte != 0; })) {
      return {Look::Kind::kPadded, is_printable(message.text) ? kStrong : 0, least};
    }
  }
  return {Look::Kind::kGood, kStrong, least};
}

enum class Verdict : std::uint8_t { kNo, kYes, kLater, kSpent };

/// Whether messages follow where a doubtful one says that it ends.  `is_final`: nothing will follow
/// `view`.  Otherwise, with kLater, `view` needs `wanted` bytes.
Verdict follow(Bytes view, std::size_t at, bool is_final, SearchCredit& credit,
               std::size_t& wanted) {
  unsigned bad = 0;
  unsigned weight = 0;
  for (unsigned i = 0; i < kLinks; ++i) {
    const Outline next = outline(view.subspan(at));
    if (next.kind == Outline::Kind::kCut) {
      wanted = at + next.size;
      return is_final ? Verdict::kNo : Verdict::kLater;
    }
    if (next.kind != Outline::Kind::kKnown) return Verdict::kNo;
    if (!credit.spend(next.size)) return Verdict::kSpent;
    const Look look = look_at(view.subspan(at, next.size));
    // A second damaged message is not evidence against the first one's length.
    if (look.kind == Look::Kind::kBad && ++bad == 2) return Verdict::kYes;
    if (look.kind == Look::Kind::kGood && look.weight == 0) return Verdict::kNo;
    weight += look.weight;
    if ((look.weight == kStrong && !next.is_short) || weight >= kEnough) return Verdict::kYes;
    at += next.size;
  }
  return Verdict::kNo;
}

struct Proof {
  Verdict verdict = Verdict::kNo;
  std::size_t words_end = 0;  ///< The end of the short messages of four bytes with which it begins.
  std::size_t end = 0;  ///< Where it is complete; past the view if the available bytes decide.
};

/// Whether a chain may begin at `at`: no impossible header is in its way.  Cheap, as it reads no
/// message.
bool is_possible(Bytes view, std::size_t at) {
  for (unsigned i = 0; i < kEnough / kStrong; ++i) {
    const Outline next = outline(view.subspan(at));
    if (next.kind == Outline::Kind::kNone) return false;
    if (next.kind != Outline::Kind::kKnown) return true;
    at += next.size;
  }
  return true;
}

/// Whether a chain of messages that make sense begins at `at`.
Proof prove(Bytes view, std::size_t at, bool is_final, SearchCredit& credit) {
  unsigned weight = 0;
  bool is_strong = false;
  bool has_only_words = true;
  Proof no;
  // Words of a text look like short messages; they need a message of another kind after them, or
  // the end.
  for (unsigned i = 0; i < kLinks;) {
    const Outline next = outline(view.subspan(at));
    switch (next.kind) {
      case Outline::Kind::kNone:
        return no;
      case Outline::Kind::kCut:
        // The view ends here, so that what came before must decide.
        if (!is_final || !(is_strong || weight >= kEnough)) return no;
        return {Verdict::kYes, 0, view.size() + (at == view.size() ? 0 : 1)};
      case Outline::Kind::kOpen:
        if (is_strong && (is_final || weight >= kEnough / 2)) return {Verdict::kYes, 0, at + 4};
        return no;
      case Outline::Kind::kKnown:
        break;
    }
    if (!credit.spend(next.size)) return {Verdict::kSpent};
    const Look look = look_at(view.subspan(at, next.size));
    if (weight == 0 && look.weight == 0) return no;
    weight += look.weight;
    is_strong |= look.weight == kStrong;
    at += next.size;
    has_only_words &= next.is_short && next.size == 4;
    if (has_only_words) no.words_end = at;
    if (is_strong && weight >= kEnough) return {Verdict::kYes, 0, at};
    if (look.weight != 1) ++i;
  }
  return no;
}

/// The size of a message of unknown type or subtype, if its length is possible; else 0.
std::size_t size_of_unknown(Bytes view) {
  if (view.size() < 4) return 0;
  const auto header = load_le<std::uint32_t>(view.data());
  if ((header & kHeaderReserved) != 0 || (header & kHeaderLength) == 0) return 0;
  const Extent extent = message_extent(view);
  return extent.kind == Extent::Kind::kKnown ? extent.size : 0;
}

}  // namespace

void StreamSplitter::feed(Bytes block) {
  if (rest_.empty()) {
    rest_ = block;
    carried_ = false;
    return;
  }
  // next() has left the rest at the end of carry_.  It is moved to the front only if that costs no
  // more than the bytes that were split since.
  const std::size_t used = carry_.size() - rest_.size();
  const std::size_t moved = used >= rest_.size() ? used : 0;
  carry_.erase(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(moved));
  carry_.insert(carry_.end(), block.begin(), block.end());
  rest_ = Bytes(carry_).subspan(used - moved);
}

void StreamSplitter::take(Frame& frame, std::size_t size, FrameEnd end) {
  frame = {};
  frame.bytes = rest_.first(size);
  frame.index = index_;
  frame.end = end;
  rest_ = rest_.subspan(size);
  index_ += size;
  wanted_ = 0;
  uncertain_.reset();
  credit_.earn(size);
}

StreamSplitter::Place StreamSplitter::look_for_next(Bytes view, bool is_final) {
  Place place;
  std::size_t best = view.size() + 2;
  std::array<std::size_t, 4> words_end{};  // By the alignment of the words.
  for (std::size_t at = uncertain_->from; at + 4 <= view.size() && at + 4 < best; ++at) {
    if (!credit_.spend(1)) return {.is_spent = true};
    if (!is_plausible_header(load_le<std::uint32_t>(view.data() + at))) continue;
    const Bytes part = view.first(std::min(view.size(), best - 1));
    if (!credit_.spend(kEnough) || part.size() < at + 4) return {.is_spent = true};
    if (at < words_end[at % 4] || !is_possible(part, at)) continue;
    // If the header is right, its fields end at `least`, and what looks like a short message before
    // that is probably part of them.
    if (at < uncertain_->least && is_short_header(load_le<std::uint32_t>(view.data() + at)))
      continue;
    const Proof proof = prove(part, at, is_final && part.size() == view.size(), credit_);
    if (proof.verdict == Verdict::kSpent) return {.is_spent = true};
    // If the first of several words does not begin a chain, the second one does not either.
    if (proof.verdict == Verdict::kNo) words_end[at % 4] = proof.words_end;
    if (proof.verdict != Verdict::kYes || proof.end >= best) continue;
    place.at = at;
    best = proof.end;
  }
  return place;
}

std::optional<std::size_t> StreamSplitter::search(bool all_is_there) {
  while (true) {
    const std::size_t size =
        uncertain_->searched == 0 ? kFirstSearch : std::min(2 * uncertain_->searched, kLookAhead);
    if (rest_.size() < size && !all_is_there) {
      wanted_ = size;
      return std::nullopt;
    }
    const Bytes view = rest_.first(std::min(size, rest_.size()));
    const bool is_all = all_is_there && view.size() == rest_.size();
    const bool is_final = is_all || view.size() == kLookAhead;
    const Place place = look_for_next(view, is_final);
    const std::size_t claimed = uncertain_->claimed;
    if (place.at != 0) {
      // Bytes after a damaged message belong to it, unless they can be a message.
      return claimed != 0 && place.at > claimed && uncertain_->leads_on ? claimed : place.at;
    }
    if (place.is_spent || is_final) {
      if (claimed != 0) return claimed;
      // A chain that begins in the second half may end past the window.
      return is_all || place.is_spent ? view.size() : kMaxMessage;
    }
    uncertain_->searched = size;
  }
}

bool StreamSplitter::split(Frame& frame, bool all_is_there) {
  if (rest_.empty() || (rest_.size() < wanted_ && !all_is_there)) return false;
  const Bytes view = rest_.first(std::min(rest_.size(), kLookAhead));
  const bool is_final = all_is_there || view.size() == kLookAhead;
  const Outline first = outline(view);
  if (!uncertain_) {
    const bool states_size =
        first.kind == Outline::Kind::kCut || first.kind == Outline::Kind::kOpen;
    if (states_size && view.size() < first.size && !all_is_there) {
      wanted_ = first.size;
      return false;
    }
    UncertainStart uncertain{.kind = FrameEnd::kWhole, .from = 1};
    switch (first.kind) {
      case Outline::Kind::kNone:
        uncertain.kind = FrameEnd::kNoMessage;
        break;
      case Outline::Kind::kCut:
        uncertain.kind = FrameEnd::kEndOfInput;
        break;
      case Outline::Kind::kOpen:
        uncertain.kind = FrameEnd::kGuessed;
        uncertain.from = std::min(first.size, view.size());
        break;
      case Outline::Kind::kKnown: {
        // If the budget is spent, the length is believed, so that the stream continues.
        if (!credit_.spend(first.size)) {
          take(frame, first.size, FrameEnd::kWhole);
          return true;
        }
        const Look look = look_at(view.first(first.size));
        if (look.kind == Look::Kind::kGood) {
          take(frame, first.size, FrameEnd::kWhole);
          return true;
        }
        uncertain.least = look.least;
        uncertain.claimed = first.size;
        break;
      }
    }
    uncertain_ = uncertain;
  }
  if (uncertain_->claimed != 0 && !uncertain_->is_followed) {
    // Most damage does not affect the length.  An attempt that must be repeated costs nothing, so
    // that chunks make no difference.
    const std::size_t claimed = uncertain_->claimed;
    SearchCredit credit = credit_;
    const Verdict verdict = follow(view, claimed, is_final, credit, wanted_);
    if (verdict == Verdict::kLater) return false;
    credit_ = credit;
    if (verdict != Verdict::kNo) {
      ++doubtful_;
      take(frame, claimed, FrameEnd::kWhole);
      return true;
    }
    uncertain_->is_followed = true;
    const Outline next = outline(view.subspan(claimed));
    uncertain_->leads_on =
        next.kind != Outline::Kind::kNone && !next.is_short && view.size() >= claimed + 4;
  }
  const std::optional<std::size_t> size = search(all_is_there);
  if (!size) return false;
  ++doubtful_;
  FrameEnd end = uncertain_->kind;
  if (end == FrameEnd::kEndOfInput && *size != rest_.size()) end = FrameEnd::kWhole;
  if (end == FrameEnd::kNoMessage && size_of_unknown(view) == *size) end = FrameEnd::kWhole;
  take(frame, *size, end);
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
    // Zeros look like compact builds, and are evidence neither for messages nor against them.
    if (message.is_short && message.type == Type::kBuild && message.header == 0) return;
    const bool is_text = message.type == Type::kString && is_printable(message.text);
    const bool is_whole = frame.end == FrameEnd::kWhole;
    const bool no_nul = message.defect == Defect::kTextUnterminated && is_text;
    const bool good = is_whole && (message.ok() || no_nul);
    // A text that ends exactly at the end of the input is not chance either.
    const bool ends_well = frame.end == FrameEnd::kGuessed && message.ok() && is_text;
    facts.messages += good ? 1 : 0;
    facts.strong += (good && !message.is_short) || ends_well ? 1 : 0;
    // The end of a capture cuts its last message; after some messages that is not a reason for
    // doubt.
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
