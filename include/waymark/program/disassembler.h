// Text of instructions, by LLVM's disassembler if it is installed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/isa/instruction.h"

namespace waymark::program {

/// LLVM's library, which is loaded while this program runs.  Any number of threads may use it.
class Llvm {
 public:
  /// The result stays loaded until the process ends.  `name`: a file, or the name of a library;
  /// empty: the newest that is installed.  kNotFound: there is none; `detail` says how to get it.
  static Result<std::shared_ptr<const Llvm>> load(const std::string& name = {});
  ~Llvm();
  Llvm(const Llvm&) = delete;
  Llvm& operator=(const Llvm&) = delete;

  /// The name under which the library was found.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  friend class Disassembler;
  struct Functions;
  Llvm(std::string name, std::unique_ptr<const Functions> functions);

  std::string name_;
  std::unique_ptr<const Functions> functions_;
};

/// Whether and under which condition the instructions of T32 execute that follow an IT, VPT or VPST
/// instruction.  A value; begins outside such blocks.
class ThumbBlock {
 public:
  /// The state at `address`, where `before` holds the bytes of memory before it, up to and not
  /// including it: as many as are known, at most kLookBack of them matter.
  static ThumbBlock before(Bytes before);
  /// An IT instruction, four others of 4 bytes, and what comes before all of them.
  static constexpr std::size_t kLookBack = 20;

  /// The instruction was passed; `opcode` as for isa::classify().  Only kM has VPT blocks.
  void pass(std::uint32_t opcode, isa::Profile profile = isa::Profile::kA);

  /// 0: no condition.  1 to 16: an IT block, and the condition plus one.  Above: a VPT block.
  [[nodiscard]] std::uint8_t state() const;
  static constexpr std::uint8_t kThen = 0x20;
  static constexpr std::uint8_t kElse = 0x21;

 private:
  std::uint8_t it_ = 0;         ///< ITSTATE of the architecture.
  std::uint8_t vpt_else_ = 0;   ///< Bit i: the instruction after i others is an "else".
  std::uint8_t vpt_count_ = 0;  ///< Instructions left in the VPT block.
};

/// The size of an instruction, 2 or 4 bytes; `opcode` as for isa::classify().
constexpr unsigned instruction_size(isa::Isa isa, std::uint32_t opcode) {
  const bool thumb = isa == isa::Isa::kT32 || isa == isa::Isa::kThumbEE;
  return thumb && (opcode & 0xFFFF) < 0xE800 ? 2 : 4;
}

/// The opcode as manuals write it, where the first halfword of a T32 instruction comes first;
/// `opcode` as for isa::classify().
constexpr std::uint32_t written_opcode(isa::Isa isa, std::uint32_t opcode) {
  if (isa != isa::Isa::kT32 && isa != isa::Isa::kThumbEE) return opcode;
  return instruction_size(isa, opcode) == 2 ? opcode & 0xFFFF : opcode << 16 | opcode >> 16;
}

/// The text of one instruction.
struct InstructionText {
  /// The mnemonic, a blank, and the operands: "b.ne 0x8010".  An instruction that is not known
  /// shows as ".inst 0x75000041", and its note says what decoding knows of it.
  std::string_view text;
  std::string_view note;              ///< "conditional branch to 0x8010"; empty: nothing.
  std::uint64_t target = kNoAddress;  ///< Where a direct branch goes; else kNoAddress.
  bool is_branch = false;             ///< Direct or indirect.
  unsigned size = 4;                  ///< In bytes.
};

/// Writes instructions as llvm-objdump does, without its comments.  One object per thread.
class Disassembler {
 public:
  /// `llvm` may be nullptr: every instruction shows as ".inst".
  explicit Disassembler(std::shared_ptr<const Llvm> llvm);
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  /// `opcode` as for isa::classify().  `block`: for T32, the block that the instruction is in.
  /// `profile`: kM for instructions that only microcontrollers have.  The text is valid until the
  /// next call.
  InstructionText disassemble(isa::Isa isa, std::uint64_t address, std::uint32_t opcode,
                              ThumbBlock block = {}, isa::Profile profile = isa::Profile::kA);

  /// The number of texts that are kept.
  static constexpr std::size_t kKept = std::size_t{1} << 16;

 private:
  struct Key {
    std::uint64_t address;
    std::uint32_t opcode;
    std::uint8_t kind;
    std::uint8_t block;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Entry;
  enum Kind : std::uint8_t { kA64, kA32, kT32, kT32M, kOther };

  void* context(Kind kind);
  bool ask_llvm(Kind kind, const Key& key, unsigned size, std::string& text);
  void write(const Key& key, isa::Isa isa, Entry& entry);

  std::shared_ptr<const Llvm> llvm_;
  void* contexts_[4] = {};
  bool tried_[4] = {};
  std::vector<std::unique_ptr<Entry>> entries_;  ///< By hash; a later text replaces an earlier one.
};

}  // namespace waymark::program
