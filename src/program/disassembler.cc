#include "waymark/program/disassembler.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "llvm.h"
#include "waymark/base/bits.h"
#include "waymark/base/number.h"
#include "waymark/base/text_buffer.h"

namespace waymark::program {
namespace {

using isa::InstrSubtype;
using isa::InstrType;
using isa::Isa;

// Later versions include these.
constexpr char kA64Features[] =
    "+v9.3a,+aes,+sha2,+sha3,+sm4,+fullfp16,+fp16fml,+sve2,+sve2-aes,+sve2-sha3,+sve2-sm4,"
    "+sve2-bitperm,+f32mm,+f64mm,+bf16,+i8mm,+mte,+tme,+ls64,+brbe,+ete,+trbe,+rand,+spe-eef,"
    "+hbc,+mops,+sme,+sme-f64,+sme-i64,+perfmon,+spe,+ras,+rme,+pauth,+ssbs,+predres,+ccdp";
// Features of A and R profile, without the instructions of M profile, which share encodings.
constexpr char kA32Features[] =
    "+v8.6a,+fp-armv8,+neon,+crypto,+aes,+sha2,+crc,+fullfp16,+fp16fml,+dotprod,+bf16,+i8mm,+sb,"
    "+ras,+mp,+trustzone,+virtualization,+hwdiv,+hwdiv-arm,+dsp,+perfmon";
constexpr char kT32MFeatures[] =
    "+v8.1m.main,+mve.fp,+fp-armv8d16,+fp64,+fullfp16,+dsp,+lob,+ras,+8msecext,+hwdiv";
constexpr char kPacbti[] = ",+pacbti";

constexpr std::uint32_t kNop = 0xBF00;
constexpr std::uint32_t kVpst = 0x0F4DFE71;   // VPST with one "then".
constexpr std::uint32_t kVpste = 0x8F4DFE71;  // VPSTE: one "then", one "else".

/// Whether the last operand is a distance from the instruction, which shows as an address.
bool ends_with_label(Isa isa, std::uint32_t opcode, bool direct_branch) {
  if (direct_branch) return true;
  if (isa != Isa::kA64) return false;
  return (opcode & 0x1F000000) == 0x10000000      // ADR, ADRP
         || (opcode & 0x3B000000) == 0x18000000   // LDR, LDRSW and PRFM of a literal
         || (opcode & 0xFFC0001F) == 0x5500001F   // RETAASPPC, RETABSPPC
         || (opcode & 0xFF80001F) == 0xF380001F;  // AUTIASPPC, AUTIBSPPC
}

void put_address(std::string& text, std::uint64_t address) {
  char digits[16];
  text += "0x";
  text.append(digits, write_hex(digits, address));
}

/// Replaces the distance at the end of the text by the address.
void write_label(std::string& text, Isa isa, std::uint64_t address, std::uint32_t opcode,
                 std::uint64_t target) {
  const std::size_t at = text.rfind('#');
  if (at == std::string::npos || text.find_first_of(" ,", at) != std::string::npos) return;
  if (target == kNoAddress) {
    std::string_view number = std::string_view(text).substr(at + 1);
    const bool negative = number.starts_with('-');
    if (negative) number.remove_prefix(1);
    const auto distance = parse_number(number);
    if (!distance) return;
    const bool page = isa == Isa::kA64 && (opcode & 0x9F000000) == 0x90000000;  // ADRP
    const std::uint64_t from = page ? address & ~std::uint64_t{0xFFF} : address;
    target = negative ? from - *distance : from + *distance;
  }
  text.resize(at);
  put_address(text, target);
}

std::string_view indirect_words(const isa::Instruction& instruction) {
  switch (instruction.subtype) {
    case InstrSubtype::kV8ExceptionReturn:
      return "exception return";
    case InstrSubtype::kV8Return:
    case InstrSubtype::kV7ImpliedReturn:
      return "return";
    case InstrSubtype::kBranchLink:
    case InstrSubtype::kNone:
      break;
  }
  return instruction.link ? "indirect call" : "indirect branch";
}

/// The facts that the classifier knows about an instruction.
std::string words(const isa::Instruction& instruction) {
  std::string text;
  switch (instruction.type) {
    case InstrType::kBranch:
      text = instruction.link ? "call" : "branch";
      break;
    case InstrType::kIndirectBranch:
      text = indirect_words(instruction);
      break;
    case InstrType::kIsb:
      text = "isb";
      break;
    case InstrType::kDsbDmb:
      text = "barrier";
      break;
    case InstrType::kWfiWfe:
      text = "wait for interrupt or event";
      break;
    case InstrType::kTstart:
      text = "transaction start";
      break;
    case InstrType::kOther:
      return {};
  }
  if (instruction.conditional) text.insert(0, "conditional ");
  if (instruction.type == InstrType::kBranch) {
    text += " to ";
    put_address(text, instruction.target);
  }
  return text;
}

/// One blank between mnemonic and operands, none around them.
void tidy(std::string& text) {
  std::ranges::replace(text, '\t', ' ');
  std::string_view rest = text;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  text = std::string(rest);
}

}  // namespace

struct Disassembler::Entry {
  Key key{};
  std::string text{};
  std::string note{};
  std::uint64_t target = kNoAddress;
  bool is_branch = false;
};

Disassembler::Disassembler(std::shared_ptr<const Llvm> llvm)
    : llvm_(std::move(llvm)), entries_(kKept) {}

Disassembler::~Disassembler() {
  for (void* const context : contexts_)
    if (context != nullptr) llvm_->functions_->dispose(context);
}

void* Disassembler::context(Kind kind) {
  if (llvm_ == nullptr || kind == kOther) return nullptr;
  if (tried_[kind]) return contexts_[kind];
  tried_[kind] = true;
  const Llvm::Functions& functions = *llvm_->functions_;
  std::string features;
  const char* triple = nullptr;
  switch (kind) {
    case kA64:
      triple = "aarch64-linux-gnu";
      features = functions.has_all_features ? "+all" : kA64Features;
      break;
    case kA32:
      triple = "armv8a-none-eabi";
      features = kA32Features;
      break;
    case kT32:
      triple = "thumbv8a-none-eabi";
      features = kA32Features;
      break;
    case kT32M:
      triple = "thumbv8.1m.main-none-eabi";
      features = kT32MFeatures;
      if (functions.has_all_features) features += kPacbti;
      break;
    case kOther:
      return nullptr;
  }
  void* const made = functions.create(triple, "", features.c_str(), nullptr, 0, nullptr, nullptr);
  if (made != nullptr) functions.set_options(made, Llvm::Functions::kPrintImmediatesInHex);
  return contexts_[kind] = made;
}

bool Disassembler::ask_llvm(Kind kind, const Key& key, unsigned size, std::string& text) {
  void* const made = context(kind);
  if (made == nullptr) return false;
  std::array<char, 256> out{};
  const auto ask = [&](std::uint64_t address, std::uint32_t opcode, unsigned bytes) {
    std::array<std::uint8_t, 4> code{};
    for (unsigned i = 0; i < 4; ++i) code[i] = static_cast<std::uint8_t>(opcode >> (8 * i));
    out[0] = '\0';
    return llvm_->functions_->disassemble(made, code.data(), bytes, address, out.data(),
                                          out.size());
  };
  // LLVM remembers IT and VPT instructions: those that matter come first, and what they left over
  // is used up by NOPs.
  const bool thumb = kind == kT32 || kind == kT32M;
  if (thumb && key.block == ThumbBlock::kThen) ask(key.address, kVpst, 4);
  if (thumb && key.block == ThumbBlock::kElse) {
    ask(key.address, kVpste, 4);
    ask(key.address, kNop, 2);
  }
  if (thumb && key.block != 0 && key.block <= 15)
    ask(key.address, 0xBF08U | static_cast<std::uint32_t>(key.block - 1) << 4, 2);
  const std::size_t used = ask(key.address, key.opcode, size);
  const bool known = used == size;
  if (known) text = out.data();
  if (thumb) {
    for (int i = 0; i < 5; ++i) ask(key.address, kNop, 2);
  }
  if (!known) return false;
  tidy(text);
  return !text.empty();
}

void Disassembler::write(const Key& key, Isa isa, Entry& entry) {
  entry.key = key;
  entry.text.clear();
  entry.note.clear();
  entry.target = kNoAddress;
  const unsigned size = instruction_size(isa, key.opcode);
  isa::Instruction instruction;
  std::uint8_t it = 0;
  const bool classified =
      isa::classify(
          {.arch = isa::Arch::kAA64, .dsb_dmb_waypoints = true, .wfi_wfe_waypoints = true}, isa,
          key.address, key.opcode, it, instruction) == isa::Outcome::kOk;
  const bool direct = classified && instruction.type == InstrType::kBranch;
  if (direct) entry.target = instruction.target;
  entry.is_branch = direct || (classified && instruction.type == InstrType::kIndirectBranch);
  if (ask_llvm(static_cast<Kind>(key.kind), key, size, entry.text)) {
    if (ends_with_label(isa, key.opcode, direct))
      write_label(entry.text, isa, key.address, key.opcode, entry.target);
    return;
  }
  const bool thumb = isa == Isa::kT32 || isa == Isa::kThumbEE;
  entry.text = ".inst 0x";
  if (thumb) entry.text = size == 2 ? ".inst.n 0x" : ".inst.w 0x";
  char digits[8];
  entry.text.append(digits, write_hex(digits, written_opcode(isa, key.opcode), 2 * size));
  if (classified) entry.note = words(instruction);
}

InstructionText Disassembler::disassemble(Isa isa, std::uint64_t address, std::uint32_t opcode,
                                          ThumbBlock block, isa::Profile profile) {
  const unsigned size = instruction_size(isa, opcode);
  if (size == 2) opcode &= 0xFFFF;
  Kind kind = kOther;
  if (isa == Isa::kA64) kind = kA64;
  if (isa == Isa::kA32) kind = kA32;
  if (isa == Isa::kT32) kind = profile == isa::Profile::kM ? kT32M : kT32;
  const Key key{.address = address,
                .opcode = opcode,
                .kind = static_cast<std::uint8_t>(kind),
                .block = isa == Isa::kT32 ? block.state() : std::uint8_t{0}};
  std::uint64_t hash = (address >> 1) ^ std::uint64_t{opcode} << 20 ^
                       std::uint64_t{key.kind} << 52 ^ std::uint64_t{key.block} << 56;
  hash *= 0x9E3779B97F4A7C15ULL;
  std::unique_ptr<Entry>& slot = entries_[static_cast<std::size_t>(hash >> 48)];
  static_assert(kKept == std::size_t{1} << 16);
  if (slot == nullptr) {
    slot = std::make_unique<Entry>();
    write(key, isa, *slot);
  } else if (slot->key != key) {
    write(key, isa, *slot);
  }
  return {.text = slot->text,
          .note = slot->note,
          .target = slot->target,
          .is_branch = slot->is_branch,
          .size = size};
}

}  // namespace waymark::program
