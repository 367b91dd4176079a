#include "samples.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "executed_code.h"
#include "waymark/program/code_line.h"
#include "waymark/program/program.h"

namespace waymark::exports {
namespace {

constexpr std::string_view kPlt = "@plt";

/// The number that the lowest bits encode: one bit for 0, 7 bits up to 31, and else 14 bits.
std::uint32_t first_part(std::uint32_t bits) {
  if ((bits & 1) != 0) return 0;
  bits >>= 1;
  return (bits & 0x20) != 0 ? ((bits >> 1) & 0xFE0) | (bits & 0x1F) : bits & 0x1F;
}

std::uint32_t next_parts(std::uint32_t bits) {
  if ((bits & 1) != 0) return bits >> 1;
  return bits >> ((bits & 0x40) != 0 ? 14 : 7);
}

SampleLocation location_of(const program::Frame& frame) {
  return {(frame.line - frame.declared) & 0xFFFF, base_discriminator(frame.discriminator)};
}

class Collector {
 public:
  Collector(const profile::Profile& profile, const profile::ProgramProfile& program)
      : profile_(profile), program_(program) {}

  Samples run() {
    read_names();
    const ExecutedCode code(program_);
    for (std::size_t i = 0; i < code.size(); ++i) {
      FunctionSamples* const function =
          find(code.address(i), code.count(i).times * code.size_of(i));
      if (function == nullptr || frames_.front().line == 0) continue;
      std::uint64_t& times = function->records[location_of(frames_.front())].times;
      times =
          std::max(times, code.count(i).times * duplication_factor(frames_.front().discriminator));
    }
    add_unexecuted();
    for (const profile::ProgramProfile& from : profile_.programs())
      for (const profile::Branch& branch : from.branches) add_call(from, branch);
    return std::move(samples_);
  }

 private:
  /// A function may have several names, such as a constructor; a compiler knows one of them.
  void read_names() {
    program_.program->each_line([&](const program::CodeLine& row) {
      if (row.function.empty()) return;
      const program::Function* const function = program_.program->function(row.address);
      if (function != nullptr && function->start == row.address)
        names_.try_emplace(function, row.function);
    });
  }

  [[nodiscard]] std::string_view name_of(const program::Function& function) const {
    const auto known = names_.find(&function);
    return compilers_name(known == names_.end() ? std::string_view(function.name) : known->second);
  }

  /// The innermost function at an address, whose frames_ are set, and to which all of them are
  /// `weight` heavier.  nullptr: not known.
  FunctionSamples* find(std::uint64_t address, std::uint64_t weight) {
    program_.program->frames(address, frames_);
    if (frames_.empty() || frames_.back().declared == 0) return nullptr;
    for (const program::Frame& frame : frames_)
      if (frame.function.empty()) return nullptr;
    const program::Function* const symbol = program_.program->function(address);
    FunctionSamples* function =
        &samples_[symbol == nullptr ? compilers_name(frames_.back().function) : name_of(*symbol)];
    function->total += weight;
    for (std::size_t i = frames_.size() - 1; i > 0; --i) {
      function =
          &function->inlined[location_of(frames_[i])][compilers_name(frames_[i - 1].function)];
      function->total += weight;
    }
    return function;
  }

  /// Gives the rest of each function counts of 0, so that a compiler knows that it is rare.
  void add_unexecuted() {
    for (const program::Function& function : program_.program->functions()) {
      if (!samples_.contains(name_of(function))) continue;
      const bool thumb = program_.program->content(function.start) == program::Content::kT32;
      const std::uint64_t step = thumb ? 2 : 4;
      // A damaged file may claim any size.
      const std::uint64_t size = std::min<std::uint64_t>(
          program_.program->bytes_from(function.start).size(), function.last - function.start + 1);
      for (std::uint64_t offset = 0; offset < size; offset += step) {
        const std::uint64_t at = function.start + offset;
        if (program_.program->content(at) == program::Content::kData) continue;
        FunctionSamples* const samples = find(at, 0);
        if (samples != nullptr && frames_.front().line != 0)
          samples->records.try_emplace(location_of(frames_.front()));
      }
    }
  }

  void add_call(const profile::ProgramProfile& from, const profile::Branch& branch) {
    if (branch.to == kNoAddress) return;
    const bool own = from.number == program_.number;
    const bool here = branch.to_program == program_.number;
    if (!own && !here) return;
    const auto [call, callee] = profile::call_of(profile_, from, branch);
    if (call == count::Call::kNone || callee == nullptr) return;
    // A part that the compiler moved away is not called.
    if (callee->name.find(".cold") != std::string::npos) return;
    std::string_view name = here ? name_of(*callee) : compilers_name(callee->name);
    const bool plt = name.ends_with(kPlt);
    if (plt) name.remove_suffix(kPlt.size());
    if (own) {
      FunctionSamples* const function = find(branch.from, 0);
      if (function != nullptr && frames_.front().line != 0)
        function->records[location_of(frames_.front())].targets[name] += branch.times;
    }
    if (!here || plt) return;
    if (const auto called = samples_.find(name); called != samples_.end())
      called->second.head += branch.times;
  }

  const profile::Profile& profile_;
  const profile::ProgramProfile& program_;
  Samples samples_;
  std::unordered_map<const program::Function*, std::string_view> names_;
  std::vector<program::Frame> frames_;
};

}  // namespace

std::uint32_t base_discriminator(std::uint32_t discriminator) { return first_part(discriminator); }

std::uint32_t duplication_factor(std::uint32_t discriminator) {
  return std::max<std::uint32_t>(1, first_part(next_parts(discriminator)));
}

std::string_view compilers_name(std::string_view name) {
  for (const std::string_view suffix : {".llvm.", ".part."}) {
    // Only if nothing but a number follows.
    const std::size_t at = name.rfind(suffix);
    if (at != std::string_view::npos && name.rfind('.') == at + suffix.size() - 1)
      name = name.substr(0, at);
  }
  if (const std::size_t at = name.rfind(".cold"); at != std::string_view::npos) {
    const std::string_view rest = name.substr(at + 5);
    if (rest.empty() || (rest.front() == '.' && rest.find('.', 1) == std::string_view::npos))
      name = name.substr(0, at);
  }
  return name;
}

Samples samples_of(const profile::Profile& profile, const profile::ProgramProfile& program) {
  return Collector(profile, program).run();
}

}  // namespace waymark::exports
