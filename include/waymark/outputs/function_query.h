// The functions that a name means, as a user writes it.  docs/quantities.md has the rule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/program/program.h"
#include "waymark/stacks/tree.h"

namespace waymark::outputs {

/// A readable name without the parameters, and without the type that comes before the name of a
/// template's instance: "f" of "f(int) const", "f<int>" of "void f<int>()".
std::string_view short_name(std::string_view readable);

/// How a name fits a function.  The first form that any function fits counts.
enum class NameForm : std::uint8_t {
  kLinker,    ///< It is the linker's name.
  kReadable,  ///< It is the name as in the source, with parameters.
  kShort,     ///< The same without parameters.
  kWhole,     ///< The function is a part or copy of one of this name, in any of these forms.
  kNone,
};

/// NAME or PROGRAM:NAME, where PROGRAM is a path or its last component.  NAME may also be an
/// address, as the program was linked: that of any code of the function.
class FunctionQuery {
 public:
  explicit FunctionQuery(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] const std::string& text() const { return text_; }

  /// `program`: the path of the program of a function.  `name`: the linker's name of the function.
  [[nodiscard]] NameForm form(std::string_view program, const std::string& name) const;
  /// The address that is asked for in a program; nothing: it is a name.
  [[nodiscard]] std::optional<std::uint64_t> address(std::string_view program) const;

 private:
  /// The name after "PROGRAM:"; nothing: another program, or none, is named.
  [[nodiscard]] std::optional<std::string_view> after(std::string_view program) const;

  std::string text_;
};

/// A function of a program.
struct NamedFunction {
  const program::Program* program = nullptr;
  const program::Function* function = nullptr;
  friend bool operator==(const NamedFunction&, const NamedFunction&) = default;
};

/// One function, or several parts and copies of one, of which the program may have several copies
/// in memory.  kNotFound: no program has it, with the name that may be meant; kConflict: several
/// functions are meant, with a list.  `detail` is a whole sentence.
Result<std::vector<NamedFunction>> find_functions(std::span<const program::Program* const> programs,
                                                  const std::string& text);

/// The same among the code of a tree, whose names of functions, exceptions and so on are the
/// choice.
Result<std::vector<stacks::CodeId>> find_functions(const stacks::Tree& tree,
                                                   const std::string& text);

/// Whether functions that appear one by one are meant: of programs that are known from the
/// beginning, and of others, such as code that a JIT compiler makes.  Not thread safe.
class FunctionMatch {
 public:
  FunctionMatch() : query_(std::string()) {}
  /// Errors as those of find_functions(); but if `others` may come, kNotFound is none.
  static Result<FunctionMatch> find(std::span<const program::Program* const> programs,
                                    const std::string& text, bool others);

  bool matches(const program::Program& program, const program::Function& function);
  /// The sentence that find_functions() would give, if no function that was known at first is
  /// meant.
  [[nodiscard]] const std::string& unknown() const { return unknown_; }

 private:
  FunctionQuery query_;
  std::vector<const program::Program*> known_{};
  std::vector<NamedFunction> meant_{};
  std::string unknown_{};
  NamedFunction asked_{};  ///< Of which the answer is known.
  bool is_meant_ = false;
};

}  // namespace waymark::outputs
