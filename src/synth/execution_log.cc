#include "waymark/synth/execution_log.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "waymark/base/number.h"

namespace waymark::synth {
namespace {

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// "Trace 0: 0x7f25f0000100 [00000000/0000000000210240/80000000/ff000001] main", or a number.
std::optional<std::uint64_t> address_in(std::string_view line) {
  if (line.starts_with("Trace ")) {
    const std::size_t open = line.find('[');
    const std::size_t from = line.find('/', open);
    if (open == std::string_view::npos || from == std::string_view::npos) return std::nullopt;
    const std::size_t to = line.find('/', from + 1);
    if (to == std::string_view::npos) return std::nullopt;
    return parse_number(line.substr(from + 1, to - from - 1), 16);
  }
  return parse_number(line, 16);
}

class Reader {
 public:
  explicit Reader(Program& program) : program_(program) {
    // Bit 0 of an address marks T32 code, so only A32 and A64 are left to distinguish.
    a64_ = program.uses(isa::Isa::kA64);
  }

  Result<void> read(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = next_line(text);
      ++line_;
      if (line.empty() || line.starts_with('#') || line.starts_with("Linking ")) continue;
      const auto address = address_in(line);
      if (!address)
        return fault("this is not an address in hexadecimal, nor a line of QEMU's log.");
      const bool t32 = !a64_ && (*address & 1) != 0;
      const isa::Isa plain = a64_ ? isa::Isa::kA64 : isa::Isa::kA32;
      WAYMARK_TRY(take({t32 ? *address - 1 : *address, t32 ? isa::Isa::kT32 : plain}));
    }
    if (log_.places.empty()) return fault("the log has no instructions.");
    program_.set_log(std::move(log_));
    return {};
  }

 private:
  std::unexpected<Error> fault(std::string sentence) const {
    return fail(ErrorCode::kParse, fmt::format("line {}: {}", line_, sentence));
  }

  Result<void> take(Place at) {
    const isa::Options options{.arch = a64_ ? isa::Arch::kAA64 : isa::Arch::kV8};
    isa::Instruction instruction;
    if (!program_.fetch(options, at, instruction)) {
      return fault(
          fmt::format("the program has no code at 0x{:x}. A log must be of this program "
                      "alone, so link it statically.",
                      at.address));
    }
    if (log_.places.empty() || after_branch_) {
      const bool leads =
          log_.places.empty() || indirect_ || at == target_ || (conditional_ && at == sequential_);
      if (!leads) return no_way(at);
      log_.places.push_back(at);
      log_.rest = 0;
    } else if (at != sequential_) {
      return no_way(at);
    }
    ++log_.rest;
    indirect_ = instruction.type == isa::InstrType::kIndirectBranch;
    after_branch_ = indirect_ || instruction.type == isa::InstrType::kBranch;
    conditional_ = instruction.conditional;
    target_ = {instruction.target, instruction.next_isa};
    sequential_ = {at.address + instruction.size, at.isa};
    return {};
  }

  std::unexpected<Error> no_way(Place to) const {
    return fault(
        fmt::format("the instruction before 0x{:x} does not lead there. The log needs "
                    "every instruction: use `qemu-user -singlestep -d exec,nochain`.",
                    to.address));
  }

  Program& program_;
  bool a64_ = false;
  std::uint64_t line_ = 0;
  Program::Log log_;
  // About the previous instruction.
  bool after_branch_ = false;
  bool indirect_ = false;
  bool conditional_ = false;
  Place target_;
  Place sequential_;
};

}  // namespace

Result<void> load_execution_log(std::string_view text, Program& program) {
  return Reader(program).read(text);
}

}  // namespace waymark::synth
