// The programs of two runs: which are the same, and the names that places have in both.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/diff/step.h"
#include "waymark/program/program.h"

namespace waymark::diff {

/// The same for the same program, wherever its file is: the build ID, or what its code and
/// functions are.
std::string identity_of(const program::Program& program);

/// How addresses of a program are compared.
enum class Match : std::uint8_t {
  kOneRun,  ///< Only one run has it.
  kSame,    ///< It is the same program in both.
  kBuilds,  ///< They are two builds: functions are compared by name.
};

/// A program of either run, or of both.
struct ProgramPair {
  std::array<const program::Program*, kSides> programs{};  ///< nullptr: that run has not used it.
  Match match = Match::kOneRun;
};

/// A place, named so that it is the same in both runs.
struct NamedPlace {
  enum class Form : std::uint8_t {
    kAddress,   ///< `at`: the address; `unit`: 0, or 1 + the number of the program.
    kFunction,  ///< `at`: the offset in the function with the number `unit`.
    kLine,      ///< `at`: the number of a source line of that function.
  };
  Form form = Form::kAddress;
  std::uint32_t unit = 0;
  std::uint64_t at = 0;
  friend bool operator==(const NamedPlace&, const NamedPlace&) = default;
};

using FunctionNumber = std::uint32_t;

/// A function of either run or of both.
struct FunctionName {
  std::string name{};         ///< The linker's; empty: code without a name.
  std::uint32_t program = 0;  ///< The number of its program; kNoProgram: not known.
  bool differs = false;       ///< Its size is not the same in the two builds.
};
inline constexpr std::uint32_t kNoProgram = ~std::uint32_t{0};

/// Programs are the same if their build IDs are equal, or, where there are none, their code and
/// functions.  Two that are not the same, but have one file name, are two builds; so are those that
/// alone are left of each run in pair_rest().
///
/// A place in a function is named by the function and the offset in it; if two builds of the
/// function have different sizes and both know its source lines, by the line.  Functions of one
/// name in one program are told apart by their order.
class Programs {
 public:
  /// Before any place is named, those that are known to be in memory.
  void add(Side side, const program::Program& program) { (void)known(side, program); }
  void pair_rest();

  /// Names an address, which is in `place` if that has a program.
  NamedPlace name(Side side, const program::Place& place);
  /// The function of the last name(); the same number for all code without a name of a program.
  [[nodiscard]] FunctionNumber function() const { return last_function_; }

  [[nodiscard]] const std::vector<ProgramPair>& pairs() const { return pairs_; }
  [[nodiscard]] const FunctionName& function(FunctionNumber number) const {
    return functions_[number].name;
  }
  [[nodiscard]] std::size_t function_count() const { return functions_.size(); }

 private:
  using ByName = std::unordered_map<std::string_view, std::vector<const program::Function*>>;
  /// A program of one run.
  struct Known {
    std::uint32_t number = 0;
    std::unordered_map<const program::Function*, FunctionNumber> functions{};
    ByName by_name{};  ///< Filled when it is needed first.
  };
  struct Named {
    FunctionName name{};
    bool by_line = false;
  };

  Known& known(Side side, const program::Program& program);
  void join(std::uint32_t pair, Side side, const program::Program& program, Match match);
  FunctionNumber number_of(Side side, Known& known, const program::Program& program,
                           const program::Function* function);
  static const ByName& by_name(Known& known, const program::Program& program);
  const program::Function* counterpart(Side side, std::uint32_t number,
                                       const program::Function& own, std::size_t ordinal);
  bool have_lines(std::uint32_t number, const std::array<std::uint64_t, kSides>& starts);
  std::uint64_t line_at(const program::Program& program, std::uint64_t address);

  std::array<std::unordered_map<const program::Program*, Known>, kSides> known_;
  std::vector<ProgramPair> pairs_;
  std::vector<std::string> identities_;  ///< By pair: that of the program that came first.
  std::vector<Named> functions_{{.name = {.program = kNoProgram}}};
  std::map<std::tuple<std::uint32_t, std::string, std::size_t>, FunctionNumber> by_identity_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> lines_;
  std::vector<program::Frame> frames_;
  FunctionNumber last_function_ = 0;
};

}  // namespace waymark::diff
