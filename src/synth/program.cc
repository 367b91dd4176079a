#include "waymark/synth/program.h"

#include <fmt/core.h>

#include <algorithm>

namespace waymark::synth {
namespace {

// Each segment is inserted in order, and becomes a file of a snapshot.
constexpr std::size_t kMostSegments = 4096;

}  // namespace

Result<void> Program::add_segment(std::uint64_t address, std::vector<std::uint8_t> bytes,
                                  Origin origin) {
  if (segments_.size() >= kMostSegments)
    return fail(ErrorCode::kLimit,
                fmt::format("The program has more than {} separate segments of code; put them "
                            "closer together.",
                            kMostSegments));
  if (bytes.empty() || address + (bytes.size() - 1) < address)
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("The segment at {:#x} is empty or reaches beyond the address space.", address));
  const auto at = std::ranges::lower_bound(segments_, address, {}, &Segment::address);
  const std::uint64_t last = address + (bytes.size() - 1);
  const bool hits_next = at != segments_.end() && at->address <= last;
  const bool hits_previous =
      at != segments_.begin() && (at - 1)->address + ((at - 1)->bytes.size() - 1) >= address;
  if (hits_next || hits_previous)
    return fail(ErrorCode::kConflict,
                fmt::format("The segment {:#x} to {:#x} overlaps another one.", address, last));
  segments_.insert(at, {address, std::move(bytes), std::move(origin)});
  return {};
}

std::string Program::file() const {
  const auto at = std::ranges::find_if(
      segments_, [](const Segment& segment) { return !segment.origin.file.empty(); });
  return at == segments_.end() ? std::string() : at->origin.file;
}

void Program::add_entry(Place place) {
  note_isa(place.isa);
  entries_.push_back(place);
}

void Program::set_log(Log log) {
  entries_ = {log.places.front()};
  log_ = std::move(log);
}

void Program::set_recorded(Place first) {
  entries_.clear();
  add_entry(first);
  recorded_ = true;
}

void Program::add_function(Place place) {
  note_isa(place.isa);
  functions_.push_back(place);
}

void Program::add_handler(Place place, std::uint32_t vector) {
  note_isa(place.isa);
  handlers_.push_back(place);
  vectors_.push_back(vector);
}

std::optional<Place> Program::handler_of_vector(std::uint32_t number) const {
  const auto at = std::ranges::find(vectors_, number);
  if (number == 0 || at == vectors_.end()) return std::nullopt;
  return handlers_[static_cast<std::size_t>(at - vectors_.begin())];
}

const Segment* Program::segment_at(std::uint64_t address) const {
  auto at = std::ranges::upper_bound(segments_, address, {}, &Segment::address);
  if (at == segments_.begin()) return nullptr;
  --at;
  return address - at->address < at->bytes.size() ? &*at : nullptr;
}

const Behaviour* Program::behaviour_at(std::uint64_t address) const {
  const auto at = behaviours_.find(address);
  return at == behaviours_.end() ? nullptr : &at->second;
}

bool Program::fetch(const isa::Options& options, Place at, std::uint8_t& it_remaining,
                    isa::Instruction& out) const {
  const Segment* segment = segment_at(at.address);
  if (segment == nullptr) return false;
  const std::size_t offset = in_memory(at.address - segment->address);
  if (segment->bytes.size() - offset < 4) return false;
  std::uint32_t opcode = 0;
  for (unsigned i = 0; i < 4; ++i) opcode |= std::uint32_t{segment->bytes[offset + i]} << (8 * i);
  return isa::classify(options, at.isa, at.address, opcode, it_remaining, out) == isa::Outcome::kOk;
}

bool Program::calls_supervisor(std::uint64_t address) const {
  constexpr std::uint8_t kSvc = 0xDF;
  const Segment* segment = segment_at(address + 1);
  return segment != nullptr && segment->bytes[in_memory(address + 1 - segment->address)] == kSvc;
}

std::unique_ptr<image::Image> Program::image() const {
  auto image = std::make_unique<image::Image>();
  for (const Segment& segment : segments_) (void)image->add_buffer(segment.address, segment.bytes);
  return image;
}

/// Below the first segment if there is room, otherwise after the last one.
Result<std::uint64_t> Program::room_for_handlers(std::uint64_t size) const {
  const std::uint64_t first = segments_.empty() ? 0x10000 : segments_.front().address;
  std::uint64_t at = first >= 0x10000 ? (first - 0x1000) & ~std::uint64_t{0xFFF} : 0;
  if (at == 0) {
    const std::uint64_t last = segments_.back().address + (segments_.back().bytes.size() - 1);
    if (last <= ~std::uint64_t{0x2FFF}) at = (last + 0x2000) & ~std::uint64_t{0xFFF};
  }
  if (at == 0)
    return fail(ErrorCode::kLimit,
                "There is no room for exception handlers before the first or after the last "
                "segment; leave 12 KiB free, or write handlers.");
  if (at + size > 0xFFFFFFFF && !uses(isa::Isa::kA64))
    return fail(ErrorCode::kLimit, "There is no room for exception handlers below 4 GiB.");
  return at;
}

Result<void> Program::add_default_handlers(isa::Isa isa) {
  constexpr std::uint64_t kSize = 0x100;
  const auto room = room_for_handlers(kSize);
  if (!room) return std::unexpected(room.error());
  const std::uint64_t at = *room;
  std::vector<std::uint8_t> bytes;
  const auto word = [&](std::uint32_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  };
  const bool a64 = isa == isa::Isa::kA64;
  const std::uint32_t plain = a64 ? 0xD503201FU : 0xE320F000U;    // NOP
  const std::uint32_t back = a64 ? 0xD69F03E0U : 0xE25EF004U;     // ERET; SUBS PC, LR, #4
  const std::uint32_t loop = a64 ? 0x54FFFFC1U : 0x1AFFFFFCU;     // B.NE, two words back
  const std::uint32_t barrier = a64 ? 0xD5033FDFU : 0xF57FF06FU;  // ISB
  if (at + kSize > 0xFFFFFFFF && !a64)
    return fail(ErrorCode::kLimit, "There is no room for exception handlers below 4 GiB.");
  for (unsigned handler = 0; handler < 4; ++handler) {
    add_handler({at + bytes.size(), a64 ? isa::Isa::kA64 : isa::Isa::kA32});
    for (unsigned i = 0; i < 3 + handler; ++i) word(plain);
    if (handler % 2 != 0) {
      set_behaviour(at + bytes.size(), {.kind = Behaviour::Kind::kLoop, .from = 1, .to = 6});
      word(loop);
    } else {
      word(barrier);
    }
    word(plain);
    set_behaviour(at + bytes.size(), {.kind = Behaviour::Kind::kExceptionReturn});
    word(back);
  }
  bytes.resize(kSize);
  return add_segment(at, std::move(bytes));
}

std::vector<std::uint32_t> Program::usual_vectors(MCode m_code) {
  // HardFault, SVCall, SysTick and IRQ0.
  if (m_code == MCode::kAny) return {3, 11, 15, 16};
  // All but Reset, and interrupts with numbers of each form in a trace.
  std::vector<std::uint32_t> all = {2, 3, 4, 5, 6, 11, 12, 14, 15, 16, 17, 23, 24, 56, 255};
  constexpr std::uint32_t kSecureFault = 7;
  if (m_code != MCode::kV7) all.push_back(kSecureFault);
  return all;
}

Result<void> Program::add_vectors(MCode m_code) {
  const bool any = m_code == MCode::kAny;
  const std::uint64_t size = any ? 0x200 : 0x800;
  const std::size_t vectors = any ? 16 + 32 : kVectors;
  constexpr std::uint32_t kStack = 0x2000'4000;
  const auto room = room_for_handlers(size);
  if (!room) return std::unexpected(room.error());
  m_code_ = m_code;
  vector_table_ = *room;
  std::vector<std::uint8_t> bytes(4 * vectors);
  const auto half = [&](std::uint32_t value) {
    bytes.push_back(static_cast<std::uint8_t>(value));
    bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  };
  const auto set_vector = [&](std::size_t number, std::uint64_t value) {
    for (unsigned i = 0; i < 4; ++i)
      bytes[4 * number + i] = static_cast<std::uint8_t>(value >> (8 * i));
  };
  // All vectors without a handler of their own share one, which never runs: B to itself.
  const std::uint64_t unexpected = *room + bytes.size();
  half(0xE7FE);
  for (std::size_t number = 1; number < vectors; ++number) set_vector(number, unexpected | 1);
  set_vector(0, kStack);
  if (!entries_.empty()) set_vector(1, entries_.front().address | 1);
  for (std::size_t i = 0; i < handlers_.size(); ++i)
    if (vectors_[i] < vectors) set_vector(vectors_[i], handlers_[i].address | 1);
  const std::vector<std::uint32_t> added =
      handlers_.empty() ? usual_vectors(m_code) : std::vector<std::uint32_t>{};
  for (unsigned handler = 0; handler < added.size(); ++handler) {
    const std::uint64_t begin = *room + bytes.size();
    add_handler({begin, isa::Isa::kT32}, added[handler]);
    set_vector(added[handler], begin | 1);
    for (unsigned i = 0; i < 3 + handler; ++i) half(0xBF00);  // NOP
    if (handler % 2 != 0) {
      set_behaviour(*room + bytes.size(), {.kind = Behaviour::Kind::kLoop, .from = 1, .to = 6});
      half(0xD1FC);  // BNE, two instructions back
    } else {
      half(0xF3BF);  // ISB
      half(0x8F6F);
    }
    half(0xBF00);
    set_behaviour(*room + bytes.size(), {.kind = Behaviour::Kind::kExceptionReturn});
    half(handler % 4 < 2 ? 0x4770 : 0xBD10);  // BX LR; POP {r4, pc}
  }
  bytes.resize(in_memory(size));
  return add_segment(*room, std::move(bytes));
}

}  // namespace waymark::synth
