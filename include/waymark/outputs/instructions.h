// The instructions of a range as text, for outputs that show each one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/element/element.h"
#include "waymark/outputs/function_names.h"
#include "waymark/program/disassembler.h"

namespace waymark::outputs {

/// The source of the instructions of elements.  Several threads may call the functions.
struct InstructionOptions {
  /// As image::Image::read(), in the memory that an element is about.
  std::function<Bytes(const Element& element, std::uint64_t address,
                      std::span<std::uint8_t> scratch)>
      read{};
  std::function<isa::Profile(TraceId id)> profile{};
  std::shared_ptr<const program::Llvm> llvm{};  ///< nullptr: instructions show as ".inst".
  PlaceLookup places{};                         ///< Names targets of branches; may be empty.
  bool lines = false;                           ///< Finds source lines, too.
};

/// Lists the instructions of one range after the other.  Not thread safe.
class Instructions {
 public:
  explicit Instructions(InstructionOptions options);

  /// Goes to the range of `element`.  Instructions that are not in the image are left out.
  void begin(const Element& element);
  /// Goes to the next instruction; false: the range has no more.
  bool next();

  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] unsigned size() const { return text_.size; }
  /// As manuals write it.
  [[nodiscard]] std::uint32_t opcode() const { return opcode_; }
  [[nodiscard]] std::string_view mnemonic() const;
  [[nodiscard]] std::string_view operands() const;
  /// The function of the target of a direct branch with the distance from its start
  /// ("main+0x10"), or empty.
  [[nodiscard]] std::string_view target_name() const { return target_name_; }
  /// The facts that decoding knows about an instruction without text.
  [[nodiscard]] std::string_view note() const { return text_.note; }
  /// Its source line, with InstructionOptions::lines; without a file: not known.
  [[nodiscard]] const program::Frame& source() const { return lines_.source; }
  /// Whether the line is another one than that of the instruction before it in the range.
  [[nodiscard]] bool source_changes() const { return lines_.changes; }
  /// "taken" and "not taken" for a conditional instruction at the end of the range; or empty.
  [[nodiscard]] std::string_view outcome() const;

  /// All of it: "b.ne 0x8010 <main+0x10>", ".inst 0x14000004 ; branch to 0x8010 <main+0x10>".
  /// Control characters in names are not escaped.
  [[nodiscard]] std::string_view text();

 private:
  /// The bytes that were read last.
  struct Code {
    Bytes bytes{};
    std::uint64_t start = 0;  ///< Its address.
    std::array<std::uint8_t, 4096> scratch{};
  };

  /// Source lines, with InstructionOptions::lines.
  struct Lines {
    program::Frame source;  ///< The present instruction's.
    bool changes = false;
    std::vector<program::Frame> frames{};
    /// The innermost frames of instructions that were seen, by their places.
    std::map<std::pair<const program::Program*, std::uint64_t>, program::Frame> known{};
  };

  bool fetch(std::uint32_t& opcode);
  program::ThumbBlock block_before();
  void name_target();
  void find_source();

  InstructionOptions options_;
  program::Disassembler disassembler_;
  Element element_{};
  std::uint64_t next_ = 0;
  std::uint64_t address_ = 0;
  std::uint32_t opcode_ = 0;
  isa::Profile profile_ = isa::Profile::kUnknown;
  program::ThumbBlock block_;
  program::InstructionText text_;
  std::string target_name_;
  std::string whole_;
  Code code_;
  Lines lines_;
  /// Readable names of functions that are targets.
  std::unordered_map<const program::Function*, std::string> names_;
};

/// Gives each thread that writes its own Instructions, and keeps them.  Any number of threads may
/// use it.
class InstructionPool {
 public:
  explicit InstructionPool(InstructionOptions options) : options_(std::move(options)) {}

  /// Returns what it holds when it ends.
  class Lease {
   public:
    /// `pool` may be nullptr: the lease holds nothing.
    explicit Lease(InstructionPool* pool) : pool_(pool) {
      if (pool_ != nullptr) held_ = pool_->take();
    }
    ~Lease() {
      if (pool_ != nullptr) pool_->give_back(std::move(held_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] Instructions* get() const { return held_.get(); }

   private:
    InstructionPool* pool_;
    std::unique_ptr<Instructions> held_;
  };

 private:
  std::unique_ptr<Instructions> take();
  void give_back(std::unique_ptr<Instructions> instructions);

  InstructionOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Instructions>> free_;
};

}  // namespace waymark::outputs
