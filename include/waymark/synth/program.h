// The program whose execution is traced: real instruction words in memory, and behaviour that these
// do not determine, such as the iterations of loops and the targets of indirect branches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/elf/file.h"
#include "waymark/image/image.h"
#include "waymark/isa/instruction.h"

namespace waymark::synth {

/// The architecture of a program for the M profile.
enum class MCode : std::uint8_t {
  kNone,  ///< It is for another profile.
  kAny,   ///< Instructions that all of them have, and four handlers.
  kV7,    ///< Armv7-M.
  kV8,    ///< Armv8-M with the Main and Security Extensions.
  kV8_1,  ///< Armv8.1-M.
};

/// A place where execution can continue.
struct Place {
  std::uint64_t address = 0;
  isa::Isa isa = isa::Isa::kA64;
  friend bool operator==(const Place&, const Place&) = default;
};

/// The behaviour of the branch at an address.
struct Behaviour {
  enum class Kind : std::uint8_t {
    kChance,           ///< Conditional: taken in `percent` of cases.
    kLoop,             ///< Conditional: taken `from` to `to` times, then once not.
    kTargets,          ///< Indirect: one of `targets`.
    kReturn,           ///< Indirect: to the return address of the last call.
    kExceptionReturn,  ///< Indirect: to the return address of the exception.
  };
  Kind kind = Kind::kChance;
  std::uint32_t percent = 50;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::vector<Place> targets{};
  // Its behaviour in a trace, in order.  Both empty: nothing is recorded.
  std::vector<bool> outcomes{};  ///< Conditional: whether it was taken.
  std::vector<Place> route{};    ///< Indirect: where it went.
};

/// The ELF file that bytes come from; `file` is empty: none.
struct Origin {
  std::string file{};
  std::uint64_t offset = 0;
};

/// Bytes in target memory; at most one segment covers an address.
struct Segment {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes{};
  Origin origin{};
};

/// Plain data once it is made; any thread may read it.
class Program {
 public:
  /// A random program with functions, loops, calls, switches and exception handlers.
  struct RandomOptions {
    std::uint64_t seed = 1;
    isa::Isa isa = isa::Isa::kA64;
    bool mixed = false;           ///< A32 and T32 functions that call each other.
    unsigned functions = 24;      ///< 1 to 10,000.
    unsigned statements = 8;      ///< The mean number per function, 1 to 1,000.
    std::uint64_t address = 0;    ///< Where the first function is; 0: a usual address for the ISA.
    bool a64_handlers = false;    ///< A32 and T32 code runs under an A64 kernel.
    MCode m_code = MCode::kNone;  ///< T32 with a vector table, as add_vectors() makes it.
    bool supervisor_calls = false;  ///< With `m_code`, except kAny: SVC instructions.
  };
  /// kInvalidArgument: an option that is not allowed.
  static Result<Program> random(const RandomOptions& options);

  /// From the text of a control-flow graph; docs/synth.md.  kParse: "line N: …"; kLimit: more than
  /// `max_code` bytes of code, or a branch too far for its instruction.
  static constexpr std::uint64_t kMaxCode = std::uint64_t{256} << 20;
  static Result<Program> described(std::string_view text, std::uint64_t max_code = kMaxCode,
                                   MCode m_code = MCode::kNone);

  /// From the executable segments of an ELF file for AArch64 or Arm. A core starts at its entry
  /// point or at one of its functions. kNotFound, kIo: the file; kBadData: it is not a complete ELF
  /// file; kUnsupported: it is for another machine or not executable, or libelf is missing in this
  /// build.
  /// `m_code`: the file is for Arm, and gets handlers of the M profile.
  static Result<Program> elf(const std::string& path, MCode m_code = MCode::kNone);
  /// The same for an open file, with its bias. The object is not needed afterwards; a capture of
  /// the program gets a copy of the file.
  static Result<Program> elf(const elf::File& file, MCode m_code = MCode::kNone);

  /// The segment with the instruction at `address`, or nullptr.
  [[nodiscard]] const Segment* segment_at(std::uint64_t address) const;
  [[nodiscard]] const Behaviour* behaviour_at(std::uint64_t address) const;

  /// The classified instruction. False: nothing readable or executable is there. Four bytes must be
  /// readable even for a T32 instruction of two.
  [[nodiscard]] bool fetch(const isa::Options& options, Place at, isa::Instruction& out) const {
    std::uint8_t it_remaining = 0;
    return fetch(options, at, it_remaining, out);
  }
  /// The same for the next instruction of a walk through T32 code, which keeps the state of its IT
  /// blocks.
  [[nodiscard]] bool fetch(const isa::Options& options, Place at, std::uint8_t& it_remaining,
                           isa::Instruction& out) const;
  /// Whether the T32 instruction there is an SVC.
  [[nodiscard]] bool calls_supervisor(std::uint64_t address) const;

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  /// The ELF file that it was made from; empty: none.
  [[nodiscard]] std::string file() const;
  [[nodiscard]] const std::vector<Place>& entries() const { return entries_; }
  /// Targets for indirect branches without known behaviour.
  [[nodiscard]] const std::vector<Place>& functions() const { return functions_; }
  [[nodiscard]] const std::vector<Place>& handlers() const { return handlers_; }
  /// The exception of handlers()[index], as the IPSR numbers it; 0: it has none of its own.
  [[nodiscard]] std::uint32_t vector_of_handler(std::size_t index) const { return vectors_[index]; }
  /// The place of a handler; nothing: the exception has none.
  [[nodiscard]] std::optional<Place> handler_of_vector(std::uint32_t number) const;
  [[nodiscard]] bool uses(isa::Isa isa) const {
    return (isas_ & 1U << static_cast<unsigned>(isa)) != 0;
  }

  /// The memory, for decoding.
  [[nodiscard]] std::unique_ptr<image::Image> image() const;

  // -- Making a program by hand. ------------------------------------------------------------------

  /// kConflict: it overlaps another segment; kInvalidArgument: empty, or beyond the address space.
  Result<void> add_segment(std::uint64_t address, std::vector<std::uint8_t> bytes,
                           Origin origin = {});
  void set_behaviour(std::uint64_t address, Behaviour behaviour) {
    behaviours_[address] = std::move(behaviour);
  }
  void add_entry(Place place);
  /// The behaviours come from a trace that began at `first`: execution begins only there, and
  /// restarts there when the recorded behaviour of a branch is used up.
  void set_recorded(Place first);
  [[nodiscard]] bool recorded() const { return recorded_; }

  /// An execution from its first instruction to its last one.
  struct Log {
    std::vector<Place> places{};  ///< Where it began, and where it went after each branch.
    std::uint64_t rest = 0;       ///< Instructions after the last branch, at the last place.
  };
  /// Execution begins at the first place, follows the log and then stops.
  void set_log(Log log);
  /// nullptr: none was set.
  [[nodiscard]] const Log* log() const { return log_.places.empty() ? nullptr : &log_; }
  /// Marks the end of the program: execution does not continue at `address`.
  void add_end(std::uint64_t address) { ends_.insert(address); }
  [[nodiscard]] bool ends_at(std::uint64_t address) const { return ends_.contains(address); }
  void add_function(Place place);
  void add_handler(Place place, std::uint32_t vector = 0);
  /// Adds handlers, in free memory, to a program that has none.
  Result<void> add_default_handlers(isa::Isa isa);
  /// Adds a vector table of the M profile, and to a program without handlers also these, in T32.
  /// There, handlers return like functions.
  Result<void> add_vectors(MCode m_code);
  /// The number of vectors in the table of a core with an ETM: 240 interrupts.
  static constexpr std::uint32_t kVectors = 256;
  /// The exceptions that get handlers, as the IPSR numbers them.
  static std::vector<std::uint32_t> usual_vectors(MCode m_code);
  /// The address of the vector table; nothing: there is none.
  [[nodiscard]] std::optional<std::uint64_t> vector_table() const { return vector_table_; }
  /// kNone: add_vectors() was not called.
  [[nodiscard]] MCode m_code() const { return m_code_; }

 private:
  [[nodiscard]] Result<std::uint64_t> room_for_handlers(std::uint64_t size) const;
  void note_isa(isa::Isa isa) { isas_ |= 1U << static_cast<unsigned>(isa); }

  std::vector<Segment> segments_;  // By address.
  std::unordered_map<std::uint64_t, Behaviour> behaviours_;
  std::unordered_set<std::uint64_t> ends_;
  std::vector<Place> entries_;
  std::vector<Place> functions_;
  std::vector<Place> handlers_;
  std::vector<std::uint32_t> vectors_;  // Those of handlers_, in the same order.
  MCode m_code_ = MCode::kNone;
  Log log_;
  std::optional<std::uint64_t> vector_table_;
  unsigned isas_ = 0;
  bool recorded_ = false;
};

}  // namespace waymark::synth
