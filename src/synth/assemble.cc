#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "graph.h"
#include "waymark/element/exception_names.h"
#include "waymark/synth/random.h"

namespace waymark::synth {
namespace {

using isa::Isa;

enum class Form : std::uint8_t { kJump, kConditional, kCall };

// -- T32 of the M profile.  Those of one halfword are below 0x10000.

using Opcodes = std::span<const std::uint32_t>;

constexpr std::uint32_t kNop = 0xBF00;
constexpr std::uint32_t kWideNop = 0xF3AF8000;
constexpr std::uint32_t kItNe = 0xBF18;

/// No branches: NOP, ADDS, LDR, MOV; ADD.W, MOVW, SDIV, LDM, MRS (IPSR).
constexpr std::uint32_t kWorkV7[] = {kNop,       0x3001,     0x6808,     0x4608,     kWideNop,
                                     0xF1000001, 0xF2401034, 0xFB90F0F1, 0xE89000FE, 0xF3EF8005};
/// The same, and LDA, STL, TT.
constexpr std::uint32_t kWorkV8[] = {kNop,       0x3001,     0x6808,     0x4608,     kWideNop,
                                     0xF1000001, 0xFB90F0F1, 0xE8D10FAF, 0xE8C10FAF, 0xE841F000};
/// And VADD.I32, CSEL, CLRM, LCTP, PAC, BTI.
constexpr std::uint32_t kWorkV8_1[] = {kNop,       0x3001,     0x6808,     0x4608,
                                       0xE8D10FAF, 0xEF200842, 0xEA518002, 0xE89F000F,
                                       0xF00FE001, 0xF3AF801D, 0xF3AF800F};
/// BX r3; MOV PC, r3; LDR.W PC, [r3]; TBB [r3, r0].
constexpr std::uint32_t kJumpsM[] = {0x4718, 0x469F, 0xF8D3F000, 0xE8D3F000};
/// POP {r4, pc}; BX LR; POP.W {r4, r5, pc}; LDR PC, [SP], #4.
constexpr std::uint32_t kReturnsM[] = {0xBD10, 0x4770, 0xE8BD8030, 0xF85DFB04};

Opcodes work_of(MCode code) {
  if (code == MCode::kV7) return kWorkV7;
  if (code == MCode::kV8) return kWorkV8;
  return kWorkV8_1;
}

/// Whether LR can count the iterations of a loop with this body.
bool leaves_lr(const std::vector<Statement>& body) {
  using enum Statement::Kind;
  return std::ranges::all_of(body, [](const Statement& s) {
    const bool uses =
        s.kind == kLoop || s.kind == kCall || s.kind == kCallIndirect || s.kind == kReturnIf;
    return !uses && std::ranges::all_of(s.bodies, leaves_lr);
  });
}

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
      if (m_profile()) {
        if (auto checked = check_m(function); !checked) return std::unexpected(checked.error());
      }
      if (function.handler) {
        program_.add_handler(starts_[i], m_profile() ? *ipsr_number(function.name) : 0);
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
  /// The program is for a core of the M profile, and may have all of its instructions.
  [[nodiscard]] bool m_profile() const { return graph_.m_code > MCode::kAny; }

  [[nodiscard]] Result<void> check_m(const Function& function) const {
    if (function.isa != Isa::kT32)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("A core of the M profile only has T32; write `isa T32` before the "
                              "function '{}'.",
                              function.name));
    if (!function.handler) return {};
    constexpr std::uint32_t kReset = 1;
    constexpr std::uint32_t kSecureFault = 7;
    const auto number = ipsr_number(function.name);
    const bool known = number && *number != kReset && *number < Program::kVectors &&
                       (*number != kSecureFault || graph_.m_code > MCode::kV7);
    if (known) return {};
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The handler '{}' does not have the name of an exception of this "
                            "core, such as NMI, HardFault, SVCall, SysTick, or IRQ0 to IRQ{}.",
                            function.name, Program::kVectors - 1 - 16));
  }

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
  void t32(std::uint32_t value) {
    if (value > 0xFFFF) half(value >> 16);
    half(value & 0xFFFF);
  }
  std::uint32_t one_of(Opcodes opcodes) {
    return opcodes[random_.below(static_cast<std::uint32_t>(opcodes.size()))];
  }

  void behave(Behaviour behaviour) { program_.set_behaviour(here(), std::move(behaviour)); }

  void work(std::uint32_t count) {
    static constexpr std::uint32_t kA64[] = {0xD503201F, 0x91000400, 0xF9400020, 0xAA0103E0};
    static constexpr std::uint32_t kA32[] = {0xE320F000, 0xE2800001, 0xE5910000, 0xE1A00001};
    static constexpr std::uint32_t kT32[] = {0xBF00, 0x3001, 0x6808, 0x4608};
    for (; count != 0; --count) {
      if (m_profile()) {
        work_m(count);
        continue;
      }
      const std::uint32_t choice = random_.below(4);
      if (isa_ == Isa::kA64) word(kA64[choice]);
      if (isa_ == Isa::kA32) word(kA32[choice]);
      if (isa_ == Isa::kT32 && random_.one_in(4))
        wide(0xF3AF8000);
      else if (isa_ == Isa::kT32)
        half(kT32[choice]);
    }
  }

  // One instruction, or an IT block of up to `count` instructions, which are counted.
  void work_m(std::uint32_t& count) {
    constexpr std::uint32_t kItEq = 0xBF08;
    constexpr std::uint32_t kMoveEq = 0x2001;  // MOVEQ r0, #1: within an IT block.
    if (count > 1 && random_.one_in(12)) {
      half(kItEq);
      half(kMoveEq);
      --count;
    } else {
      t32(one_of(work_of(graph_.m_code)));
    }
  }

  void indirect(bool link) {
    if (m_profile()) {
      t32(link ? 0x4798 : one_of(kJumpsM));
      return;
    }
    if (isa_ == Isa::kA64) word(link ? 0xD63F0100 : 0xD61F0200);
    if (isa_ == Isa::kA32) word(link ? 0xE12FFF33 : 0xE12FFF13);
    if (isa_ == Isa::kT32) half(link ? 0x4798 : 0x4718);
  }

  void leave() {
    if (m_profile()) {
      behave({.kind = handler_ ? Behaviour::Kind::kExceptionReturn : Behaviour::Kind::kReturn});
      t32(one_of(kReturnsM));
      return;
    }
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

  void set_half(std::size_t at, std::uint32_t value) {
    code().bytes[at] = static_cast<std::uint8_t>(value);
    code().bytes[at + 1] = static_cast<std::uint8_t>(value >> 8);
  }

  /// A conditional branch to here, where there is room for four bytes: also the forms of two bytes,
  /// with a NOP after them.
  void skip_here(std::size_t at) {
    const std::size_t offset = code().bytes.size() - at - 4;
    constexpr std::size_t kReach = 126;  // Of CBZ.
    if (!m_profile() || offset > kReach || random_.one_in(4)) {
      patch_here(at, Form::kConditional);
      return;
    }
    const auto bits = static_cast<std::uint32_t>(offset);
    const bool compares = random_.coin();
    set_half(at, compares ? 0xB100 | (bits >> 6 & 1) << 9 | (bits >> 1 & 0x1F) << 3
                          : 0xD100 | (bits >> 1 & 0xFF));
    set_half(at + 2, kNop);
  }

  /// A loop that LR counts: WLS or DLS, the body, LE.
  void counted_loop(const Statement& s) {
    constexpr std::uint32_t kDls = 0xF040E001;
    constexpr std::uint32_t kWls = 0xF040C001;
    constexpr std::uint32_t kLe = 0xF00FC001;
    constexpr std::size_t kReach = 4094;
    const auto field = [](std::size_t offset) {
      const auto bits = static_cast<std::uint32_t>(offset);
      return (bits >> 2 & 0x3FF) << 1 | (bits >> 1 & 1) << 11;
    };
    const bool tests = random_.coin();
    const std::size_t begin = code().bytes.size();
    if (tests) behave({.percent = 10});
    const std::uint64_t first = here();
    wide(kDls);
    const Place top{here(), isa_};
    emit(s.bodies.front());
    behave({.kind = Behaviour::Kind::kLoop, .from = s.from - 1, .to = s.to - 1});
    const std::size_t at = code().bytes.size();
    const std::size_t back = at + 4 - begin - 4;
    if (back > kReach) {
      branch();
      patch(code(), at, isa_, Form::kConditional, top);
      if (tests) program_.set_behaviour(first, {});
      return;
    }
    wide(kLe | field(back));
    if (!tests) return;
    const std::uint32_t wls = kWls | field(code().bytes.size() - begin - 4);
    set_half(begin, wls >> 16);
    set_half(begin + 2, wls & 0xFFFF);
  }

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
        if (graph_.m_code == MCode::kV8_1 && s.from != 0 && leaves_lr(s.bodies.front()) &&
            random_.coin()) {
          counted_loop(s);
          return;
        }
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
        skip_here(at);
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
        if (m_profile() && random_.coin()) {
          // IT NE; BXNE LR.
          half(kItNe);
          behave({.kind = handler_ ? Behaviour::Kind::kExceptionReturn : Behaviour::Kind::kReturn,
                  .percent = s.from});
          half(0x4770);
        } else if (isa_ == Isa::kA32 && !handler_) {
          // BXNE LR.  Chance decides whether it returns; the calls decide where to.
          behave({.kind = Behaviour::Kind::kReturn, .percent = s.from});
          word(0x112FFF1E);
        } else {
          behave({.percent = s.from >= 100 ? 0 : 100 - s.from});
          const std::size_t at = branch();
          leave();
          skip_here(at);
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
      case kSupervisorCall:
        if (m_profile()) {
          half(0xDF00 | random_.below(4));
        } else {
          error_ = "Only programs for an ETM of the M profile have supervisor calls";
        }
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
