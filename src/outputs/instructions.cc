#include "waymark/outputs/instructions.h"

#include <algorithm>
#include <utility>

#include "waymark/base/text_buffer.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {
namespace {

constexpr std::size_t kMostNames = 65536;
constexpr std::size_t kMostSources = 65536;

bool is_listed(isa::Isa isa) {
  return isa == isa::Isa::kA64 || isa == isa::Isa::kA32 || isa == isa::Isa::kT32 ||
         isa == isa::Isa::kThumbEE;
}

}  // namespace

Instructions::Instructions(InstructionOptions options)
    : options_(std::move(options)), disassembler_(options_.llvm) {}

void Instructions::begin(const Element& element) {
  element_ = element;
  next_ = element.start;
  code_.bytes = {};
  const bool range = element.kind == ElementKind::kInstrRange && is_listed(element.isa);
  if (!range) element_.end = next_;
  profile_ = options_.profile ? options_.profile(element.trace_id) : isa::Profile::kUnknown;
  block_ = range && element.isa == isa::Isa::kT32 ? block_before() : program::ThumbBlock();
}

program::ThumbBlock Instructions::block_before() {
  for (std::size_t size = program::ThumbBlock::kLookBack; size != 0; size -= 2) {
    if (size > element_.start) continue;
    const Bytes before = options_.read(element_, element_.start - size, code_.scratch);
    if (before.size() >= size) return program::ThumbBlock::before(before.first(size));
  }
  return {};
}

bool Instructions::fetch(std::uint32_t& opcode) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(element_.end - next_, 4));
  std::uint64_t at = next_ - code_.start;
  if (code_.bytes.size() < wanted || at > code_.bytes.size() - wanted) {
    code_.bytes = options_.read(element_, next_, code_.scratch);
    code_.start = next_;
    at = 0;
  }
  std::array<std::uint8_t, 4> bytes{};
  std::size_t size = 0;
  for (; size < wanted && at + size < code_.bytes.size(); ++size)
    bytes[size] = code_.bytes[in_memory(at + size)];
  if (size < wanted && size != 0) {
    // The rest is in the next region.
    code_.bytes = options_.read(element_, next_ + size, code_.scratch);
    code_.start = next_ + size;
    for (std::size_t i = 0; size < wanted && i < code_.bytes.size(); ++i)
      bytes[size++] = code_.bytes[i];
  }
  opcode = 0;
  for (unsigned i = 0; i < 4; ++i) opcode |= std::uint32_t{bytes[i]} << (8 * i);
  return size >= 2 &&
         size >= std::min<std::size_t>(program::instruction_size(element_.isa, opcode), wanted);
}

bool Instructions::next() {
  if (next_ >= element_.end) return false;
  std::uint32_t opcode = 0;
  if (!fetch(opcode)) return false;
  address_ = next_;
  text_ = disassembler_.disassemble(element_.isa, address_, opcode, block_, profile_);
  if (element_.isa == isa::Isa::kT32) block_.pass(opcode, profile_);
  opcode_ = program::written_opcode(element_.isa, opcode);
  next_ += text_.size;
  name_target();
  if (options_.lines) find_source();
  return true;
}

void Instructions::find_source() {
  const program::Frame before = lines_.source;
  lines_.source = {};
  const program::Place place =
      options_.places ? options_.places(element_, address_) : program::Place();
  if (place.program != nullptr) {
    if (lines_.known.size() > kMostSources) lines_.known.clear();
    const auto [known, added] = lines_.known.try_emplace({place.program, place.address});
    if (added) {
      place.program->frames(place.address, lines_.frames);
      if (!lines_.frames.empty()) known->second = lines_.frames.front();
    }
    lines_.source = known->second;
  }
  lines_.changes = address_ != element_.start &&
                   (lines_.source.file != before.file || lines_.source.line != before.line);
}

void Instructions::name_target() {
  target_name_.clear();
  if (text_.target == kNoAddress || !options_.places) return;
  const program::Place place = options_.places(element_, text_.target);
  if (place.program == nullptr) return;
  const program::Function* const function = place.program->function(place.address);
  if (function == nullptr) return;
  if (names_.size() > kMostNames) names_.clear();
  const auto [name, added] = names_.try_emplace(function);
  if (added) name->second = readable_name(function->name);
  target_name_ = name->second;
  if (place.address == function->start) return;
  char digits[16];
  target_name_ += "+0x";
  target_name_.append(digits, write_hex(digits, place.address - function->start));
}

std::string_view Instructions::mnemonic() const {
  return text_.text.substr(0, text_.text.find(' '));
}

std::string_view Instructions::operands() const {
  const std::size_t blank = text_.text.find(' ');
  return blank == std::string_view::npos ? std::string_view() : text_.text.substr(blank + 1);
}

std::string_view Instructions::outcome() const {
  if (next_ < element_.end || (element_.flags & kElementConditional) == 0) return {};
  return (element_.flags & kElementExecuted) != 0 ? "taken" : "not taken";
}

std::string_view Instructions::text() {
  whole_ = text_.text;
  if (!text_.note.empty()) (whole_ += " ; ") += text_.note;
  if (!target_name_.empty()) ((whole_ += " <") += target_name_) += '>';
  return whole_;
}

std::unique_ptr<Instructions> InstructionPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto taken = std::move(free_.back());
      free_.pop_back();
      return taken;
    }
  }
  return std::make_unique<Instructions>(options_);
}

void InstructionPool::give_back(std::unique_ptr<Instructions> instructions) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(instructions));
}

}  // namespace waymark::outputs
