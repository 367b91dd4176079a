#include "waymark/synth/execution.h"

#include <algorithm>
#include <utility>

namespace waymark::synth {
namespace {

std::uint64_t chance_of(std::uint32_t percent) {
  return (std::uint64_t{std::min(percent, 100U)} << 32) / 100;
}

/// Branches of real programs mostly go one way; here the address decides which one.
std::uint32_t usual_percent(std::uint64_t address, std::uint64_t habits) {
  constexpr std::uint32_t kPercents[] = {3, 10, 30, 50, 70, 90, 97, 50};
  return kPercents[Random(address ^ habits << 32).below(8)];
}

void set_loop(CodeBlock& block, std::uint32_t from, std::uint32_t to) {
  block.kind = Behaviour::Kind::kLoop;
  block.loops = 1;
  block.chance = 0;
  block.trip_from = from;
  block.trip_span = to - from + 1;
}

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::size_t kMaxNesting = 2;

// Exceptions of the M profile, as the IPSR numbers them.
constexpr std::uint32_t kReset = 1;
constexpr std::uint32_t kNmi = 2;
constexpr std::uint32_t kHardFault = 3;
constexpr std::uint32_t kBusFault = 5;
constexpr std::uint32_t kSecureFault = 7;
constexpr std::uint32_t kSvCall = 11;
constexpr std::uint32_t kPendSv = 14;
constexpr std::uint32_t kFirstInterrupt = 16;

constexpr std::uint8_t kHandlerMode = 3;

}  // namespace

bool Replay::used_up() const {
  if (outcomes_used < recorded->outcomes.size()) {
    const bool routed = recorded->outcomes[outcomes_used] && !recorded->route.empty();
    return routed && route_used == recorded->route.size();
  }
  return !recorded->outcomes.empty() || route_used == recorded->route.size();
}

bool Replay::take() { return recorded->outcomes.empty() || recorded->outcomes[outcomes_used++]; }

Execution::Execution(const Program& program, const isa::Options& waypoints,
                     const ExecutionOptions& options)
    : program_(&program), waypoints_(waypoints), options_(options), random_(options.seed) {
  const Place first = restart();
  context_.secure = options.secure || (options.m_profile && !options.security_extension);
  context_.a64 = first.isa == isa::Isa::kA64;
  context_.el = options.el;
  if (options_.processes.empty() && options.context_ids > 1)
    for (std::uint32_t i = 0; i < options.context_ids; ++i)
      options_.processes.push_back(kFirstProcess + i);
  if (!options_.processes.empty()) context_.context_id = options_.processes.front();
  if (options_.machines.empty() && options.vmids > 1)
    for (std::uint32_t i = 0; i < options.vmids; ++i) options_.machines.push_back(1 + i);
  if (!options_.machines.empty()) context_.vmid = options_.machines.front();
  current_ = find(first);
  if (program.log() != nullptr) options_.exception_mean = 0;
  resume_exceptions();
}

Place Execution::restart() {
  const std::vector<Place>& entries = program_->entries();
  return entries[random_.below(static_cast<std::uint32_t>(entries.size()))];
}

CodeBlock* Execution::find(Place place) {
  const auto at = blocks_.by_place.find(place);
  return at != blocks_.by_place.end() ? at->second : build(place);
}

CodeBlock* Execution::build(Place place) {
  CodeBlock& block = blocks_.all.emplace_back();
  blocks_.by_place.emplace(place, &block);
  block.start = block.end = place.address;
  block.isa = block.next_isa = place.isa;
  isa::Instruction instruction;
  std::uint8_t it_remaining = 0;
  while (block.count < kMaxBlockCount && !program_->ends_at(block.end) &&
         program_->fetch(waypoints_, {block.end, place.isa}, it_remaining, instruction)) {
    block.end += instruction.size;
    block.last_size = instruction.size;
    ++block.count;
    if (options_.m_profile && program_->log() == nullptr &&
        program_->calls_supervisor(block.last_instruction())) {
      block.calls_supervisor = true;
      break;
    }
    if (instruction.type == isa::InstrType::kOther) continue;
    block.complete = true;
    block.type = instruction.type;
    block.subtype = instruction.subtype;
    block.conditional = instruction.conditional;
    block.link = instruction.link;
    block.target = instruction.target;
    block.next_isa = instruction.next_isa;
    describe(block);
    break;
  }
  return &block;
}

// The model's behaviour at the block's waypoint: as the program describes it, or else the usual
// one.
void Execution::describe(CodeBlock& block) {
  using enum Behaviour::Kind;
  const Behaviour* described = program_->behaviour_at(block.last_instruction());
  const std::uint32_t usual = usual_percent(block.last_instruction(), options_.habits);
  const bool spins = block.is_direct() && !block.conditional && block.target == block.start;
  block.plain = !block.link && !block.is_indirect() && !spins && program_->log() == nullptr;
  const bool always = !block.conditional || !(block.is_direct() || block.is_indirect());
  block.chance = always ? chance_of(100) : chance_of(usual);
  if (block.is_indirect()) {
    const bool returns = block.subtype == isa::InstrSubtype::kV8Return ||
                         block.subtype == isa::InstrSubtype::kV7ImpliedReturn;
    block.kind = block.subtype == isa::InstrSubtype::kV8ExceptionReturn ? kExceptionReturn
                 : returns && !block.link                               ? kReturn
                                                                        : kTargets;
    block.targets = &program_->functions();
  } else if (!always && block.target <= block.start) {
    set_loop(block, 0, usual / 4);
  }
  if (described == nullptr || (always && !block.is_indirect())) return;
  if (!described->outcomes.empty() || !described->route.empty()) {
    block.replay = &replays_.by_branch[block.last_instruction()];
    block.replay->recorded = described;
    block.plain = false;
    return;
  }
  const bool fits = block.is_indirect() ? described->kind >= kTargets : described->kind <= kLoop;
  if (described->kind != kLoop && !always) {
    block.loops = 0;
    block.chance = chance_of(described->percent);
  }
  if (!fits) return;
  block.kind = described->kind;
  if (described->kind == kLoop)
    set_loop(block, described->from, std::max(described->from, described->to));
  if (!described->targets.empty()) block.targets = &described->targets;
}

void Execution::next(Step& step) {
  if (exception_.due) [[unlikely]] {
    enter_handler(step);
    return;
  }
  CodeBlock& block = *current_;
  if (program_->log() != nullptr) {
    follow_log(step, block);
    return;
  }
  if (--until_exception_ == 0) [[unlikely]] {
    interrupt(step, block);
    if (step.kind != StepKind::kBlock) return;
  }
  if (block.replay != nullptr) {
    if (std::exchange(block.replay->run, replays_.run) != replays_.run) {
      block.replay->outcomes_used = block.replay->route_used = 0;
    }
    if (block.replay->used_up()) spins_ = kMaxSpins;
  }
  if (!block.complete || spins_ >= kMaxSpins) [[unlikely]] {
    fault(step, block);
    return;
  }
  step.kind = StepKind::kBlock;
  step.exception_return = false;
  step.context_changed = false;
  step.tail_chained = false;
  step.isa = block.isa;
  step.count = block.count;
  step.start = block.start;
  step.end = block.end;
  step.block = &block;

  const std::uint64_t chance = random_.next();
  const bool taken = block.replay != nullptr ? block.replay->take() : decide(block, chance);
  step.taken = taken;
  if (block.is_indirect() && taken) {
    take_indirect(step, block);
    return;
  }
  CodeBlock* follows = block.next[taken ? 1 : 0];
  if (follows == nullptr) [[unlikely]]
    follows = link(block, taken);
  if (taken && block.link) push(block);
  if (follows == &block && !block.conditional) [[unlikely]]
    ++spins_;
  current_ = follows;
  step.next = {current_->start, current_->isa};
}

void Execution::hold_exceptions() { until_exception_ = kNever; }

void Execution::resume_exceptions() {
  until_exception_ = options_.exception_mean == 0 ? kNever : random_.about(options_.exception_mean);
}

CodeBlock* Execution::link(CodeBlock& block, bool taken) {
  CodeBlock* follows = taken && block.is_direct() ? find({block.target, block.next_isa})
                                                  : find({block.end, block.isa});
  block.next[taken ? 1 : 0] = follows;
  return follows;
}

void Execution::take_indirect(Step& step, CodeBlock& block) {
  switch (block.kind) {
    case Behaviour::Kind::kExceptionReturn:
      leave_handler(step);
      return;
    case Behaviour::Kind::kReturn: {
      CodeBlock* const caller = calls_.pop();
      if (caller == nullptr) {
        current_ = find(restart());
        break;
      }
      if (caller->next[0] == nullptr) caller->next[0] = find({caller->end, caller->isa});
      current_ = caller->next[0];
      break;
    }
    default: {
      const std::vector<Place>& targets = *block.targets;
      const bool routed = block.replay != nullptr && !block.replay->recorded->route.empty();
      const Place place = routed ? block.replay->recorded->route[block.replay->route_used++]
                          : targets.empty()
                              ? restart()
                              : targets[random_.below(static_cast<std::uint32_t>(targets.size()))];
      if (block.link) push(block);
      CodeBlock*& last = block.next[1];
      if (last == nullptr || last->start != place.address || last->isa != place.isa)
        last = find(place);
      current_ = last;
    }
  }
  step.next = {current_->start, current_->isa};
}

// The log says where each branch went.  After its last instruction comes an exception, which ends
// the trace at the right place.
void Execution::follow_log(Step& step, CodeBlock& block) {
  const Program::Log& log = *program_->log();
  const bool is_last = logged_.place + 1 == log.places.size();
  const bool branches = block.is_direct() || block.is_indirect();
  step = {.kind = StepKind::kBlock,
          .taken = true,
          .isa = block.isa,
          .count = block.count,
          .start = block.start,
          .end = block.end,
          .next = {block.end, block.isa},
          .block = &block};
  if (is_last) {
    const std::uint64_t left = log.rest - logged_.rest_done;
    if (left <= block.count) {
      logged_.rest_done = log.rest;
      exception_.due = true;
      exception_.cause = ExceptionCause::kCall;
      exception_.at = {cut(block, static_cast<std::uint32_t>(left)), block.isa};
      if (left == 0) return enter_handler(step);
      if (left == block.count && block.complete) {
        // Where its last branch went is not in the log.
        step.taken = !block.conditional || !branches;
        current_ = find(exception_.at);
        step.next = exception_.at;
        return;
      }
      step.kind = StepKind::kPart;
      step.count = static_cast<std::uint32_t>(left);
      step.end = exception_.at.address;
      step.next = exception_.at;
      return;
    }
    logged_.rest_done += block.count;
  } else if (branches) {
    const Place next = log.places[++logged_.place];
    step.taken = block.is_indirect() || !block.conditional || next != Place{block.end, block.isa};
    step.next = next;
    if (step.taken && block.link) push(block);
  }
  current_ = find(step.next);
}

// An interrupt while `block` executes.  The step becomes the first part of the block, or the
// exception; nothing changes while exceptions are masked.
void Execution::interrupt(Step& step, CodeBlock& block) {
  until_exception_ = random_.about(options_.exception_mean);
  step.kind = StepKind::kBlock;
  if (interrupted_.size() >= kMaxNesting || program_->handlers().empty()) return;
  if (!interrupted_.empty() && !random_.one_in(4)) return;
  if (options_.m_profile) {
    exception_.abandon = random_.one_in(64) && !program_->recorded();
    exception_.vector = exception_.abandon ? kReset : draw_vector(vector_);
    if (exception_.vector == 0) return;
    begin_exception(step, block);
    return;
  }
  constexpr ExceptionCause kCauses[] = {ExceptionCause::kIrq,      ExceptionCause::kIrq,
                                        ExceptionCause::kIrq,      ExceptionCause::kFiq,
                                        ExceptionCause::kCall,     ExceptionCause::kDataFault,
                                        ExceptionCause::kUndefined};
  exception_.cause = interrupted_.empty() ? kCauses[random_.below(7)] : ExceptionCause::kFiq;
  exception_.abandon = interrupted_.empty() && random_.one_in(64) && !program_->recorded();
  begin_exception(step, block);
}

// After some instructions of the block.
void Execution::begin_exception(Step& step, CodeBlock& block) {
  const std::uint32_t count = random_.below(block.count);
  exception_.due = true;
  exception_.at = {cut(block, count), block.isa};
  if (count == 0) {
    enter_handler(step);
    return;
  }
  step = {.kind = StepKind::kPart,
          .taken = true,
          .isa = block.isa,
          .count = count,
          .start = block.start,
          .end = exception_.at.address,
          .next = exception_.at,
          .block = &block};
}

// Execution cannot continue at the end of `block`, or never leaves the block.
void Execution::fault(Step& step, CodeBlock& block) {
  const bool spinning = block.complete;
  const std::uint32_t count = spinning ? 0 : block.count;
  spins_ = 0;
  exception_.abandon = true;
  exception_.due = true;
  exception_.cause = spinning ? ExceptionCause::kIrq : ExceptionCause::kFetchFault;
  if (options_.m_profile) {
    exception_.vector = spinning ? kPendSv : kBusFault;
    if (block.calls_supervisor) {
      // A supervisor call that may not preempt is a HardFault.
      exception_.vector = preempts(kSvCall, vector_) ? kSvCall : kHardFault;
      exception_.abandon = false;
    }
    if (!preempts(exception_.vector, vector_)) {
      exception_.vector = kReset;
      exception_.abandon = true;
    }
  }
  exception_.at = {spinning ? block.start : block.end, block.isa};
  if (count == 0) {
    enter_handler(step);
    return;
  }
  step = {.kind = StepKind::kPart,
          .taken = true,
          .isa = block.isa,
          .count = count,
          .start = block.start,
          .end = block.end,
          .next = exception_.at,
          .block = &block};
}

void Execution::enter_handler(Step& step) {
  exception_.due = false;
  logged_.ended = program_->log() != nullptr;
  if (options_.m_profile) {
    enter_vector(step);
    return;
  }
  // Nothing nests deeper than kMaxNesting: the oldest interrupted code is never resumed.
  if (interrupted_.size() >= kMaxNesting) interrupted_.erase(interrupted_.begin());
  interrupted_.push_back({exception_.abandon ? restart() : exception_.at, context_});
  if (exception_.abandon) {
    ++replays_.run;
    calls_.known = 0;
    interrupted_.resize(1);
    interrupted_.front() = {restart(), context_};
    interrupted_.front().context.el = options_.el;
    interrupted_.front().context.a64 = interrupted_.front().back.isa == isa::Isa::kA64;
  }
  exception_.abandon = false;
  const std::vector<Place>& handlers = program_->handlers();
  const Place handler = handlers[random_.below(static_cast<std::uint32_t>(handlers.size()))];
  const PeContext before = context_;
  context_.el = std::max<std::uint8_t>(options_.el, 1);
  context_.a64 = handler.isa == isa::Isa::kA64;
  step = {.kind = StepKind::kException,
          .context_changed = context_ != before,
          .cause = exception_.cause,
          .isa = exception_.at.isa,
          .start = exception_.at.address,
          .end = exception_.at.address,
          .next = handler};
  current_ = find(handler);
}

void Execution::leave_handler(Step& step) {
  step.exception_return = true;
  if (options_.m_profile) {
    leave_vector(step);
    return;
  }
  const PeContext before = context_;
  Place back = restart();
  if (!interrupted_.empty()) {
    back = interrupted_.back().back;
    context_ = interrupted_.back().context;
    interrupted_.pop_back();
  }
  if (interrupted_.empty()) {
    const auto one_of = [&](const std::vector<std::uint32_t>& values) {
      return values[random_.below(static_cast<std::uint32_t>(values.size()))];
    };
    if (options_.processes.size() > 1 && random_.one_in(4))
      context_.context_id = one_of(options_.processes);
    if (options_.machines.size() > 1 && random_.one_in(8))
      context_.vmid = one_of(options_.machines);
  }
  context_.a64 = back.isa == isa::Isa::kA64;
  step.context_changed = context_ != before;
  step.next = back;
  current_ = find(back);
}

// -- The M profile --------------------------------------------------------------------------------

// Exceptions with lower numbers have higher priorities here.
bool Execution::preempts(std::uint32_t vector, std::uint32_t active) const {
  return (active == 0 || vector < active) && program_->handler_of_vector(vector).has_value();
}

// One that no instruction of the program causes; 0: none may preempt.
std::uint32_t Execution::draw_vector(std::uint32_t active) {
  const auto handlers = static_cast<std::uint32_t>(program_->handlers().size());
  constexpr unsigned kTries = 4;
  for (unsigned i = 0; i < kTries; ++i) {
    const std::uint32_t drawn = program_->vector_of_handler(random_.below(handlers));
    if (drawn != kSvCall && preempts(drawn, active)) return drawn;
  }
  return 0;
}

// The state of the handler.  Those of NMI, HardFault, BusFault and SecureFault are Secure, and here
// those of odd interrupts; the others belong to the state of the program.
bool Execution::is_secure(std::uint32_t vector) const {
  if (options_.secure || !options_.security_extension) return true;
  if (vector >= kFirstInterrupt) return vector % 2 != 0;
  return vector == kNmi || vector == kHardFault || vector == kBusFault || vector == kSecureFault;
}

void Execution::enter_vector(Step& step) {
  const PeContext before = context_;
  const std::uint32_t vector = exception_.vector != 0 ? exception_.vector : kSvCall;
  PeContext thread = context_;
  thread.el = 0;
  thread.secure = options_.secure || !options_.security_extension;
  if (exception_.abandon) {
    ++replays_.run;
    calls_.known = 0;
    interrupted_.clear();
  }
  Place handler;
  if (vector == kReset) {
    handler = program_->entries().front();
    context_ = thread;
    vector_ = 0;
  } else {
    if (exception_.abandon) {
      interrupted_.push_back({restart(), thread, 0});
    } else if (!exception_.tail_chain) {
      interrupted_.push_back({exception_.at, context_, vector_});
    }
    handler = program_->handler_of_vector(vector).value_or(program_->handlers().front());
    context_.el = kHandlerMode;
    context_.secure = is_secure(vector);
    vector_ = vector;
  }
  step = {.kind = StepKind::kException,
          .context_changed = context_ != before,
          .tail_chained = exception_.tail_chain,
          .vector = vector,
          .isa = exception_.at.isa,
          .start = exception_.at.address,
          .end = exception_.at.address,
          .next = handler};
  exception_ = {};
  current_ = find(handler);
}

void Execution::leave_vector(Step& step) {
  const bool nests = !interrupted_.empty();
  const std::uint32_t outer = nests ? interrupted_.back().vector : 0;
  constexpr std::uint32_t kReturnsPerChain = 8;
  const bool held = until_exception_ > kNever / 2;
  if (nests && !held && random_.one_in(kReturnsPerChain)) {
    if (const std::uint32_t next = draw_vector(outer); next != 0) {
      exception_ = {.due = true, .tail_chain = true, .vector = next, .at = kTailChain};
      step.tail_chained = true;
      step.next = kTailChain;
      return;
    }
  }
  const PeContext before = context_;
  Place back = restart();
  if (nests) {
    back = interrupted_.back().back;
    context_ = interrupted_.back().context;
    interrupted_.pop_back();
  } else {
    context_.el = 0;
  }
  vector_ = outer;
  step.context_changed = context_ != before;
  step.next = back;
  current_ = find(back);
}

std::uint64_t Execution::after(const CodeBlock& block, std::uint64_t address) const {
  if (block.isa != isa::Isa::kT32) return address + 4;
  isa::Instruction instruction;
  return program_->fetch(waypoints_, {address, block.isa}, instruction) ? address + instruction.size
                                                                        : address + 2;
}

// The address of an instruction of the block: the one with the number `count`.
std::uint64_t Execution::cut(const CodeBlock& block, std::uint32_t count) const {
  if (block.isa != isa::Isa::kT32) return block.start + std::uint64_t{4} * count;
  std::uint64_t address = block.start;
  isa::Instruction instruction;
  for (; count != 0 && program_->fetch(waypoints_, {address, block.isa}, instruction); --count)
    address += instruction.size;
  return address;
}

}  // namespace waymark::synth
