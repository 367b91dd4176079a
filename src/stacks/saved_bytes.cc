// A saved state of an engine as bytes, and back.
#include <algorithm>

#include "saved_state.h"
#include "waymark/base/cursor.h"

namespace waymark::stacks {
namespace {

constexpr std::size_t kMostSources = 256;
constexpr unsigned kLongest = 10;  ///< Bytes of a number.

class Writer {
 public:
  explicit Writer(std::vector<std::uint8_t>& out) : out_(out) {}

  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<std::uint8_t>(value | 0x80));
    out_.push_back(static_cast<std::uint8_t>(value));
  }
  /// Near the last address.
  void address(std::uint64_t value) {
    const std::uint64_t distance = value - last_;
    number(distance << 1 ^ (distance >> 63 != 0 ? ~std::uint64_t{0} : 0));
    last_ = value;
  }
  void maybe(const std::optional<std::uint64_t>& value) {
    number(value ? 1 : 0);
    if (value) number(*value);
  }

 private:
  std::vector<std::uint8_t>& out_;
  std::uint64_t last_ = 0;
};

class Reader {
 public:
  explicit Reader(Bytes bytes) : cursor_(bytes) {}

  std::uint64_t number() { return cursor_.continued(kLongest); }
  /// Up to `most`.
  std::uint64_t number(std::uint64_t most) {
    const std::uint64_t value = number();
    if (value <= most) return value;
    good_ = false;
    return 0;
  }
  /// The size of a list whose entries have at least one byte.
  std::size_t size() { return static_cast<std::size_t>(number(cursor_.remaining())); }
  template <class T>
  T one_of(T last) {
    return static_cast<T>(number(static_cast<std::uint64_t>(last)));
  }
  bool flag() { return number(1) != 0; }
  std::uint64_t address() {
    const std::uint64_t folded = number();
    const std::uint64_t distance = folded >> 1 ^ ((folded & 1) != 0 ? ~std::uint64_t{0} : 0);
    last_ += distance;
    return last_;
  }
  std::optional<std::uint64_t> maybe() {
    if (!flag()) return std::nullopt;
    return number();
  }
  void require(bool condition) { good_ = good_ && condition; }
  [[nodiscard]] bool good() const { return good_ && !cursor_.overrun(); }
  [[nodiscard]] bool at_end() const { return cursor_.at_end(); }

 private:
  Cursor cursor_;
  std::uint64_t last_ = 0;
  bool good_ = true;
};

void write(Writer& out, const Bounds& bounds) {
  out.address(bounds.first);
  out.number(bounds.span);
}

Bounds read_bounds(Reader& in) {
  Bounds bounds;
  bounds.first = in.address();
  bounds.span = in.number();
  return bounds;
}

// What Options::direct_target needs of a range.
void write(Writer& out, const Element& range) {
  out.number(range.index);
  out.address(range.end);
  out.number(static_cast<std::uint64_t>(range.isa));
  out.number(range.last_size);
  out.number(range.flags);
  out.number(range.context_id);
  out.number(range.vmid);
  out.number(range.exception_level);
  out.number(static_cast<std::uint64_t>(range.security));
}

Element read_range(Reader& in) {
  Element range;
  range.kind = ElementKind::kInstrRange;
  range.index = in.number();
  range.end = in.address();
  range.isa = in.one_of(isa::Isa::kUnknown);
  range.last_size = static_cast<std::uint8_t>(in.number(0xFF));
  range.flags = static_cast<std::uint16_t>(in.number(0xFFFF));
  range.context_id = static_cast<std::uint32_t>(in.number(0xFFFF'FFFF));
  range.vmid = static_cast<std::uint32_t>(in.number(0xFFFF'FFFF));
  range.exception_level = static_cast<std::uint8_t>(in.number(0xFF));
  range.security = in.one_of(Security::kRealm);
  return range;
}

void write(Writer& out, const Exit& exit) {
  out.number(static_cast<std::uint64_t>(exit.action));
  out.address(exit.end);
  out.address(exit.preferred);
}

Exit read_exit(Reader& in) {
  Exit exit;
  exit.action = in.one_of(Action::kGap);
  exit.end = in.address();
  exit.preferred = in.address();
  return exit;
}

void write(Writer& out, const Owner& owner) {
  out.number(owner.thread);
  out.number(static_cast<std::uint32_t>(owner.space.thread));
  out.number(owner.space.moment);
}

Owner read_owner(Reader& in) {
  Owner owner;
  owner.thread = in.number();
  owner.space.thread = static_cast<std::int32_t>(in.number(~std::uint32_t{0}));
  owner.space.moment = static_cast<std::uint32_t>(in.number(~std::uint32_t{0}));
  return owner;
}

}  // namespace

/// Reads and writes the parts of a state.
struct Engine::SavedBytes {
  static void write_thread(Writer& out, const SavedThread& thread);
  static SavedThread read_thread(Reader& in, std::size_t codes);
  static void write_source(Writer& out, const SavedSource& source);
  static SavedSource read_source(Reader& in, std::size_t codes);
  static bool is_sound(const SavedThread& thread);
  static bool is_sound(const SavedSource& source);
};

void Engine::SavedBytes::write_thread(Writer& out, const SavedThread& thread) {
  out.number(thread.key);
  out.number(thread.track);
  out.number(thread.suspects);
  out.number(thread.barrier);
  out.number(thread.away ? 1 : 0);
  out.number(thread.folded);
  out.number(thread.transaction);
  out.number(thread.root_is_lost ? 1 : 0);
  write(out, thread.exit);
  out.number(thread.frames.size());
  for (const SavedFrame& each : thread.frames) {
    const Frame& frame = each.frame;
    out.number(frame.code);
    out.number(frame.flags);
    out.number(static_cast<std::uint64_t>(frame.opening) |
               static_cast<std::uint64_t>(each.below) << 3 |
               static_cast<std::uint64_t>(frame.action) << 5);
    out.address(frame.from);
    out.address(frame.ret);
    write(out, frame.bounds);
    out.number(each.site);
    if ((frame.flags & kFrameBarrier) != 0) out.number(frame.below);
  }
}

/// A barrier is a frame, and what is below it comes before it.
bool Engine::SavedBytes::is_sound(const SavedThread& thread) {
  if (thread.suspects > thread.frames.size()) return false;
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < thread.frames.size(); ++i) {
    const Frame& frame = thread.frames[i].frame;
    if ((frame.flags & kFrameBarrier) == 0) continue;
    if (frame.below > last) return false;
    last = static_cast<std::uint32_t>(i + 1);
  }
  if (thread.barrier == 0) return true;
  return thread.barrier <= thread.frames.size() &&
         (thread.frames[thread.barrier - 1].frame.flags & kFrameBarrier) != 0;
}

/// One of the threads runs; while it has no name, there is no other one.
bool Engine::SavedBytes::is_sound(const SavedSource& source) {
  if (!source.thread) return source.threads.empty();
  std::vector<std::uint64_t> keys;
  keys.reserve(source.threads.size());
  for (const auto& thread : source.threads) keys.push_back(thread->key);
  if (!source.context.known && (keys.size() != 1 || keys[0] != source.context.owner.thread))
    return false;
  std::ranges::sort(keys);
  return *source.thread < keys.size() && std::ranges::adjacent_find(keys) == keys.end();
}

Engine::SavedThread Engine::SavedBytes::read_thread(Reader& in, std::size_t codes) {
  constexpr std::uint64_t kAny = ~std::uint32_t{0};
  SavedThread thread;
  thread.key = in.number();
  thread.track = static_cast<TrackId>(in.number(kAny));
  thread.suspects = static_cast<std::size_t>(in.number());
  thread.barrier = static_cast<std::uint32_t>(in.number(kAny));
  thread.away = in.flag();
  thread.folded = in.number();
  thread.transaction = static_cast<std::uint32_t>(in.number(kAny));
  thread.root_is_lost = in.flag();
  thread.exit = read_exit(in);
  const std::size_t size = in.size();
  for (std::size_t i = 0; i < size && in.good(); ++i) {
    SavedFrame& each = thread.frames.emplace_back();
    Frame& frame = each.frame;
    frame.code = static_cast<CodeId>(in.number(codes - 1));
    frame.flags = static_cast<std::uint8_t>(in.number(0xFF));
    const std::uint64_t kinds = in.number(0xFF);
    frame.opening = static_cast<Opening>(kinds & 7);
    each.below = static_cast<Below>(kinds >> 3 & 3);
    frame.action = static_cast<Action>(kinds >> 5);
    in.require(frame.opening <= Opening::kHandler && each.below <= Below::kLostCallers &&
               frame.action <= Action::kGap);
    frame.from = in.address();
    frame.ret = in.address();
    frame.bounds = read_bounds(in);
    each.site = in.number();
    if ((frame.flags & kFrameBarrier) != 0)
      frame.below = static_cast<std::uint32_t>(in.number(kAny));
  }
  in.require(is_sound(thread));
  return thread;
}

void Engine::SavedBytes::write_source(Writer& out, const SavedSource& source) {
  out.number(source.id);
  write(out, source.running.bounds);
  out.number(source.running.named ? 1 : 0);
  write(out, source.exit);
  out.number(source.last_size);
  write(out, source.last);
  out.number(static_cast<std::uint64_t>(source.gap.kind));
  out.number(static_cast<std::uint64_t>(source.gap.action));
  out.maybe(source.gap.time);
  out.number(source.gap.cycles);
  out.number(source.context.known ? 1 : 0);
  write(out, source.context.owner);
  out.number(source.context.next ? 1 : 0);
  if (source.context.next) write(out, *source.context.next);
  out.number(source.veneer.inside ? 1 : 0);
  out.number(source.veneer.called ? 1 : 0);
  out.address(source.veneer.ret);
  out.number(source.veneer.site);
  out.address(source.veneer.from);
  out.number(source.counted ? 1 : 0);
  out.number(source.position);
  out.number(source.thread ? *source.thread + 1 : 0);
  out.number(source.threads.size());
  for (const auto& thread : source.threads) write_thread(out, *thread);
}

Engine::SavedSource Engine::SavedBytes::read_source(Reader& in, std::size_t codes) {
  SavedSource source;
  source.id = static_cast<TraceId>(in.number(0xFF));
  source.running.bounds = read_bounds(in);
  source.running.named = in.flag();
  source.exit = read_exit(in);
  source.last_size = static_cast<std::uint8_t>(in.number(0xFF));
  source.last = read_range(in);
  source.last.trace_id = source.id;
  source.gap.kind = in.one_of(GapKind::kSwitch);
  source.gap.action = in.one_of(Action::kGap);
  source.gap.time = in.maybe();
  source.gap.cycles = in.number();
  source.context.known = in.flag();
  source.context.owner = read_owner(in);
  if (in.flag()) source.context.next = read_owner(in);
  source.veneer.inside = in.flag();
  source.veneer.called = in.flag();
  source.veneer.ret = in.address();
  source.veneer.site = in.number();
  source.veneer.from = in.address();
  source.counted = in.flag();
  source.position = in.number();
  const std::uint64_t thread = in.number();
  const std::size_t size = in.size();
  in.require(thread <= size);
  if (thread != 0) source.thread = static_cast<std::size_t>(thread - 1);
  for (std::size_t i = 0; i < size && in.good(); ++i)
    source.threads.push_back(std::make_shared<const SavedThread>(read_thread(in, codes)));
  in.require(is_sound(source));
  return source;
}

void Engine::State::write(std::vector<std::uint8_t>& out) const {
  Writer writer(out);
  const Saved none;
  const Saved& saved = saved_ == nullptr ? none : *saved_;
  writer.number(saved.tracks);
  writer.number(saved.search_credit);
  writer.number(saved.lacks_contexts ? 1 : 0);
  writer.number(saved.sources.size());
  for (const SavedSource& source : saved.sources) SavedBytes::write_source(writer, source);
}

Result<Engine::State> Engine::State::read(Bytes bytes, std::size_t codes) {
  const auto bad = [] { return fail(ErrorCode::kBadData, "The stored call stacks are damaged."); };
  if (codes == 0) return bad();
  Reader reader(bytes);
  auto saved = std::make_shared<Saved>();
  saved->tracks = static_cast<TrackId>(reader.number(~std::uint32_t{0}));
  saved->search_credit = reader.number();
  saved->lacks_contexts = reader.flag();
  const auto sources = static_cast<std::size_t>(reader.number(kMostSources));
  for (std::size_t i = 0; i < sources && reader.good(); ++i)
    saved->sources.push_back(SavedBytes::read_source(reader, codes));
  if (!reader.good() || !reader.at_end()) return bad();
  // Every track, and every source, once.
  std::vector<TrackId> tracks;
  std::array<bool, kMostSources> known{};
  for (const SavedSource& source : saved->sources) {
    if (std::exchange(known[source.id], true)) return bad();
    for (const auto& thread : source.threads) tracks.push_back(thread->track);
  }
  std::ranges::sort(tracks);
  if (std::ranges::adjacent_find(tracks) != tracks.end() ||
      (!tracks.empty() && tracks.back() >= saved->tracks))
    return bad();
  State state;
  state.saved_ = std::move(saved);
  return state;
}

}  // namespace waymark::stacks
