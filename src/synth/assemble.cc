#include <fmt/core.h>

#include <cstdlib>
#include <utility>

#include "graph.h"
#include "waymark/synth/random.h"

namespace waymark::synth {
namespace {

using isa::Isa;

enum class Form : std::uint8_t { kJump, kConditional, kCall };

/// A branch whose target was not known when it was emitted.
struct Fixup {
  std::size_t at = 0;
  Form form = Form::kCall;
  std::uint32_t callee = 0;
  std::uint32_t caller = 0;
};

/// One contiguous stretch of code.
struct Stretch {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes{};
  std::vector<std::pair<Fixup, Isa>> fixups{};
};

class Assembler {
 public:
  explicit Assembler(const Graph& graph) : graph_(graph), starts_(graph.functions.size()) {}

  Result<Program> run() {
    std::uint64_t first = graph_.address;
    if (first == 0 && !graph_.functions.empty())
      first = graph_.functions.front().isa == Isa::kA64 ? 0xFFFF800010080000U : 0x80010000U;
    stretches_.push_back({.address = first});
    bool entered = false;
    for (std::uint32_t i = 0; i < graph_.functions.size(); ++i) {
      const Function& function = graph_.functions[i];
      place(function);
      starts_[i] = {here(), function.isa};
      isa_ = function.isa;
      handler_ = function.handler;
      function_ = i;
      if (function.handler) {
        program_.add_handler(starts_[i]);
      } else {
        program_.add_function(starts_[i]);
        if (!entered) program_.add_entry(starts_[i]);
        entered = true;
      }
      emit(function.body);
      leave();
      if (!error_.empty()) return fail(ErrorCode::kLimit, error_ + in(i) + ".");
    }
    if (!entered)
      return fail(ErrorCode::kInvalidArgument,
                  "There is no function to start with; write one with `function NAME`.");
    return finish();
  }

 private:
  std::string in(std::size_t i) const {
    return fmt::format(" (in function '{}')", graph_.functions[i].name);
  }
  Stretch& code() { return stretches_.back(); }
  std::uint64_t here() { return code().address + code().bytes.size(); }

  void place(const Function& function) {
    while (code().bytes.size() % 4 != 0) code().bytes.push_back(0);
    if (function.address != 0 && function.address != here()) {
      if (code().bytes.empty()) {
        code().address = function.address;
      } else {
        closed_ += code().bytes.size();
        stretches_.push_back({.address = function.address});
      }
    }
  }

  void half(std::uint32_t value) {
    code().bytes.push_back(static_cast<std::uint8_t>(value));
    code().bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  }
  void word(std::uint32_t value) {
    half(value & 0xFFFF);
    half(value >> 16);
  }
  /// A T32 instruction of two halfwords, the first in the upper half.
  void wide(std::uint32_t value) {
    half(value >> 16);
    half(value & 0xFFFF);
  }

  void behave(Behaviour behaviour) { program_.set_behaviour(here(), std::move(behaviour)); }

  void work(std::uint32_t count) {
    static constexpr std::uint32_t kA64[] = {0xD503201F, 0x91000400, 0xF9400020, 0xAA0103E0};
    static constexpr std::uint32_t kA32[] = {0xE320F000, 0xE2800001, 0xE5910000, 0xE1A00001};
    static constexpr std::uint32_t kT32[] = {0xBF00, 0x3001, 0x6808, 0x4608};
    for (; count != 0; --count) {
      const std::uint32_t choice = random_.below(4);
      if (isa_ == Isa::kA64) word(kA64[choice]);
      if (isa_ == Isa::kA32) word(kA32[choice]);
      if (isa_ == Isa::kT32 && random_.one_in(4))
        wide(0xF3AF8000);
      else if (isa_ == Isa::kT32)
        half(kT32[choice]);
    }
  }

  void indirect(bool link) {
    if (isa_ == Isa::kA64) word(link ? 0xD63F0100 : 0xD61F0200);
    if (isa_ == Isa::kA32) word(link ? 0xE12FFF33 : 0xE12FFF13);
    if (isa_ == Isa::kT32) half(link ? 0x4798 : 0x4718);
  }

  void leave() {
    if (handler_) {
      behave({.kind = Behaviour::Kind::kExceptionReturn});
      if (isa_ == Isa::kA64) word(0xD69F03E0);
      if (isa_ == Isa::kA32) word(0xE25EF004);
      if (isa_ == Isa::kT32) wide(0xF3DE8F04);
      return;
    }
    behave({.kind = Behaviour::Kind::kReturn});
    const bool pop = random_.coin();
    if (isa_ == Isa::kA64) word(0xD65F03C0);
    if (isa_ == Isa::kA32) word(pop ? 0xE8BD8010 : 0xE12FFF1E);
    if (isa_ == Isa::kT32) half(pop ? 0xBD10 : 0x4770);
  }

  /// Emits a branch whose target is added later.  Returns its position.
  std::size_t branch() {
    const std::size_t at = code().bytes.size();
    word(0);
    return at;
  }

  void patch(Stretch& stretch, std::size_t at, Isa isa, Form form, Place to) {
    const std::uint64_t from = stretch.address + at;
    const auto put = [&](std::uint32_t value) {
      for (unsigned i = 0; i < 4; ++i)
        stretch.bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
    };
    const auto reaches = [&](std::int64_t offset, unsigned bits) {
      const std::int64_t limit = std::int64_t{1} << (bits - 1);
      if (offset >= -limit && offset < limit) return true;
      error_ = fmt::format("The branch at {:#x} cannot reach {:#x}; put the functions closer", from,
                           to.address);
      return false;
    };
    const auto offset = static_cast<std::int64_t>(to.address - from);
    const auto low = static_cast<std::uint32_t>(offset);
    if (isa == Isa::kA64) {
      if (!reaches(offset, form == Form::kConditional ? 21 : 28)) return;
      if (form == Form::kConditional) put(0x54000001U | (low >> 2 & 0x7FFFF) << 5);
      if (form == Form::kJump) put(0x14000000U | (low >> 2 & 0x3FFFFFF));
      if (form == Form::kCall) put(0x94000000U | (low >> 2 & 0x3FFFFFF));
    } else if (isa == Isa::kA32) {
      if (!reaches(offset - 8, 26)) return;
      const std::uint32_t ahead = low - 8;
      const std::uint32_t field = ahead >> 2 & 0xFFFFFF;
      if (form == Form::kConditional) put(0x1A000000U | field);
      if (form == Form::kJump) put(0xEA000000U | field);
      if (form == Form::kCall)
        put(to.isa == Isa::kT32 ? 0xFA000000U | (ahead >> 1 & 1) << 24 | field
                                : 0xEB000000U | field);
    } else {
      const bool exchange = form == Form::kCall && to.isa == Isa::kA32;
      const std::uint64_t pc = (exchange ? from & ~std::uint64_t{3} : from) + 4;
      const auto ahead = static_cast<std::int64_t>(to.address - pc);
      if (!reaches(ahead, form == Form::kConditional ? 21 : 25)) return;
      const auto bits = static_cast<std::uint32_t>(ahead);
      const auto bit = [bits](unsigned n) { return bits >> n & 1U; };
      std::uint32_t first = 0;
      std::uint32_t second = bits >> 1 & 0x7FF;
      if (form == Form::kConditional) {
        first = 0xF000U | bit(20) << 10 | 1U << 6 | (bits >> 12 & 0x3F);
        second |= 0x8000U | bit(18) << 13 | bit(19) << 11;
      } else {
        first = 0xF000U | bit(24) << 10 | (bits >> 12 & 0x3FF);
        second |= (form == Form::kJump ? 0x9000U
                   : exchange          ? 0xC000U
                                       : 0xD000U) |
                  (1U ^ bit(23) ^ bit(24)) << 13 | (1U ^ bit(22) ^ bit(24)) << 11;
      }
      put(second << 16 | first);
    }
  }

  void patch_here(std::size_t at, Form form) { patch(code(), at, isa_, form, {here(), isa_}); }

  void emit(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (closed_ + code().bytes.size() > graph_.max_code)
        error_ = fmt::format("The program has more than {} bytes of code", graph_.max_code);
      if (!error_.empty()) return;
      emit(statement);
    }
  }

  void emit(const Statement& s) {
    using enum Statement::Kind;
    switch (s.kind) {
      case kWork:
        work(s.from);
        return;
      case kLoop: {
        const Place top{here(), isa_};
        emit(s.bodies.front());
        behave({.kind = Behaviour::Kind::kLoop,
                .from = s.from == 0 ? 0 : s.from - 1,
                .to = s.to == 0 ? 0 : s.to - 1});
        const std::size_t at = branch();
        patch(code(), at, isa_, Form::kConditional, top);
        return;
      }
      case kSkip: {
        behave({.percent = s.from});
        const std::size_t at = branch();
        emit(s.bodies.front());
        patch_here(at, Form::kConditional);
        return;
      }
      case kChoose: {
        const std::uint64_t from = here();
        indirect(false);
        Behaviour behaviour{.kind = Behaviour::Kind::kTargets};
        std::vector<std::size_t> ends;
        for (std::size_t i = 0; i < s.bodies.size(); ++i) {
          behaviour.targets.push_back({here(), isa_});
          emit(s.bodies[i]);
          if (i + 1 < s.bodies.size()) ends.push_back(branch());
        }
        for (const std::size_t at : ends) patch_here(at, Form::kJump);
        program_.set_behaviour(from, std::move(behaviour));
        return;
      }
      case kCall:
        code().fixups.push_back(
            {{code().bytes.size(), Form::kCall, s.callees.front(), function_}, isa_});
        branch();
        return;
      case kCallIndirect:
        indirect_calls_.emplace_back(here(), &s.callees);
        indirect(true);
        return;
      case kReturnIf:
        if (isa_ == Isa::kA32 && !handler_) {
          // BXNE LR.  Chance decides whether it returns; the calls decide where to.
          behave({.kind = Behaviour::Kind::kReturn, .percent = s.from});
          word(0x112FFF1E);
        } else {
          behave({.percent = s.from >= 100 ? 0 : 100 - s.from});
          const std::size_t at = branch();
          leave();
          patch_here(at, Form::kConditional);
        }
        return;
      case kBarrier:
        if (isa_ == Isa::kA64) word(random_.coin() ? 0xD5033FDF : 0xD5033F9F);  // ISB, DSB SY
        if (isa_ == Isa::kA32) word(random_.coin() ? 0xF57FF06F : 0xF57FF04F);
        if (isa_ == Isa::kT32) wide(random_.coin() ? 0xF3BF8F6F : 0xF3BF8F4F);
        return;
      case kWait:
        if (isa_ == Isa::kA64) word(0xD503207F);
        if (isa_ == Isa::kA32) word(0xE320F003);
        if (isa_ == Isa::kT32) half(0xBF30);
        return;
    }
  }

  Result<Program> finish() {
    for (const auto& [from, callees] : indirect_calls_) {
      Behaviour behaviour{.kind = Behaviour::Kind::kTargets};
      for (const std::uint32_t callee : *callees) behaviour.targets.push_back(starts_[callee]);
      program_.set_behaviour(from, std::move(behaviour));
    }
    for (Stretch& stretch : stretches_) {
      for (const auto& [fixup, isa] : stretch.fixups) {
        const Place to = starts_[fixup.callee];
        if ((to.isa == Isa::kA64) != (isa == Isa::kA64))
          return fail(ErrorCode::kInvalidArgument,
                      "A64 functions cannot call A32 or T32 ones, nor be called by them" +
                          in(fixup.caller) + ".");
        patch(stretch, fixup.at, isa, fixup.form, to);
        if (!error_.empty()) return fail(ErrorCode::kLimit, error_ + in(fixup.caller) + ".");
      }
      // Readers fetch four bytes, also for the last T32 instruction.
      stretch.bytes.resize((stretch.bytes.size() + 7) & ~std::size_t{3});
      const std::uint64_t last = stretch.address + stretch.bytes.size();
      if (!program_.uses(Isa::kA64) && last > 0xFFFFFFFF)
        return fail(ErrorCode::kLimit, "A32 and T32 code must be below 4 GiB.");
      WAYMARK_TRY(program_.add_segment(stretch.address, std::move(stretch.bytes)));
    }
    return std::move(program_);
  }

  const Graph& graph_;
  Program program_;
  Random random_{0x77AD};
  std::vector<Stretch> stretches_;
  std::vector<Place> starts_;
  std::vector<std::pair<std::uint64_t, const std::vector<std::uint32_t>*>> indirect_calls_;
  std::string error_;
  std::uint64_t closed_ = 0;  // Bytes in all stretches except the last.
  Isa isa_ = Isa::kA64;
  std::uint32_t function_ = 0;
  bool handler_ = false;
};

}  // namespace

Result<Program> assemble(const Graph& graph) { return Assembler(graph).run(); }

}  // namespace waymark::synth
