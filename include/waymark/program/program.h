// A program: the names, source lines and inlined calls at its addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/image/symbols.h"

namespace waymark::program {

struct CodeLine;

/// A function, a PLT entry ("name@plt"), or code that begins at a label.
using Function = image::Function;

/// Where files with debug information are looked for, besides next to the program.  Nothing is ever
/// fetched from a network.
struct DebugSearch {
  /// Folders with the file system of another machine, or with debug files.
  std::vector<std::string> roots{};
  /// Whether /usr/lib/debug of this machine is searched too.
  bool this_machine = true;
};

/// A function, with all parts and copies of it that the compiler made.
struct Whole {
  /// The function that they are of, or, if it is not in the program, the first of them.
  const Function* function = nullptr;
  /// The linker's name of the function that they are of.  A single part or copy without it has its
  /// own name.  Valid as long as the Program.
  std::string_view name{};
};

/// One function of a chain of inlined calls.  The views live as long as the Program.
struct Frame {
  std::string_view
      function{};           ///< The linker's name, or else that of the source; empty: not known.
  std::string_view file{};  ///< With its whole path; empty: not known.
  std::uint32_t line = 0;   ///< From 1; 0: not known.
  std::uint32_t column = 0;
  std::uint32_t discriminator = 0;
  std::uint32_t declared = 0;  ///< The line that declares the function; 0: not known.
  friend bool operator==(const Frame&, const Frame&) = default;
};

/// The content at an address, as mapping symbols state it.
enum class Content : std::uint8_t { kData, kA64, kA32, kT32 };

/// The source lines of code that is in no file.
struct SourceLines {
  struct Line {
    std::uint64_t address = 0;  ///< Its code reaches from here to the next line, in its function.
    std::uint32_t file = 0;     ///< Its number in `files`.
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };
  std::vector<std::string> files{};
  std::vector<Line> lines{};  ///< In any order; of those with one address, the last counts.
};

/// Code that is contiguous.
struct CodeRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// A part of the file that is loaded into memory.
struct Segment {
  std::uint64_t address = 0;  ///< As the program was linked.
  std::uint64_t file_offset = 0;
  std::uint64_t size = 0;  ///< In memory.
  bool executable = false;
};

/// One ELF file with its debug file, by the addresses for which it was linked.  In a relocatable
/// file, such as a kernel module, code has the addresses that a kernel gives it, counted from 0.
///
/// Immutable; any number of threads may ask.  What a question needs is read when it is asked first.
/// Damaged parts of a file answer nothing.
class Program {
 public:
  /// kNotFound, kIo: the file; kBadData: not an ELF file, or damaged.
  static Result<std::shared_ptr<const Program>> open(const std::string& path,
                                                     const DebugSearch& search = {});
  /// The same for a file in memory, such as one that a recording contains.  `name` is its path; the
  /// bytes must outlive the program.
  static Result<std::shared_ptr<const Program>> view(Bytes bytes, std::string name,
                                                     const DebugSearch& search = {});
  /// Code that is in no file, such as that of a JIT: only its functions and lines are known.  As in
  /// image::Symbols, the first function that has an address keeps it.
  static std::shared_ptr<const Program> of(std::vector<Function> functions, std::string name = {},
                                           SourceLines lines = {});

  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] const std::string& path() const;
  /// EM_ARM, EM_AARCH64 and so on; 0: not known.
  [[nodiscard]] unsigned machine() const;
  /// Empty: there is none.
  [[nodiscard]] const std::vector<std::uint8_t>& build_id() const;
  /// The address of a byte of the file that is loaded; nothing: it is not loaded.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
  /// The place in the file of a byte at an address; nothing: the file does not have it.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  /// The code of the file, in ascending order.
  [[nodiscard]] const std::vector<CodeRange>& code() const;
  /// In the order of the file; a relocatable file has none.
  [[nodiscard]] std::vector<Segment> segments() const;

  /// nullptr: none is known there.
  [[nodiscard]] const Function* function(std::uint64_t address) const;
  /// All functions, in ascending order, without overlaps.
  [[nodiscard]] const std::vector<Function>& functions() const;
  /// What a function, which is one of functions(), is shown as.
  [[nodiscard]] Whole whole(const Function& function) const;
  /// Nothing: the program has no mapping symbol for this address.
  [[nodiscard]] std::optional<Content> content(std::uint64_t address) const;

  /// Replaces `out` with the functions that contain the address: the innermost inlined one first,
  /// the one that the linker knows last.  Empty: nothing is known.
  void frames(std::uint64_t address, std::vector<Frame>& out) const;
  /// Calls take for each row of all line tables, in ascending order within each function.  Code
  /// that the linker left out has none.  See code_line.h.
  void each_line(const std::function<void(const CodeLine&)>& take) const;
  /// The highest version of DWARF in it; 0: it has no debug information.
  [[nodiscard]] unsigned dwarf_version() const;
  /// The bytes of the file from an address on, up to the end of their section.  Empty: it has none.
  [[nodiscard]] Bytes bytes_from(std::uint64_t address) const;
  /// T32 code at an address; nothing: the file has none there.
  [[nodiscard]] std::optional<std::uint16_t> halfword(std::uint64_t address) const;

 private:
  struct State;
  static Result<std::shared_ptr<const Program>> make(std::unique_ptr<State> state);
  explicit Program(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// An address in a program.
struct Place {
  const Program* program = nullptr;  ///< nullptr: none is known there.
  std::uint64_t address = 0;         ///< As the program was linked.
};

using image::parent_name;

}  // namespace waymark::program
