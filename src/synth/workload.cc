#include "waymark/synth/workload.h"

#include <fmt/core.h>

#include <algorithm>

#include "protocols.h"
#include "waymark/synth/m_profile.h"

namespace waymark::synth {
namespace {

constexpr std::size_t kMaxSources = 0x60;
constexpr TraceId kFirstId = 0x10;

/// A random mean in blocks, or never.
std::uint64_t some(Random& random, std::uint64_t mean) {
  return random.coin() ? random.about(mean) : 0;
}

std::vector<Protocol> draw_protocols(Random& random) {
  constexpr Protocol kAll[] = {Protocol::kEtmV4, Protocol::kEtmV4, Protocol::kEte, Protocol::kPtm,
                               Protocol::kEtmV3, Protocol::kStm,   Protocol::kItm};
  std::vector<Protocol> drawn(random.coin() ? 1 : random.between(2, 4));
  for (Protocol& protocol : drawn) protocol = kAll[random.below(std::size(kAll))];
  return drawn;
}

Program::RandomOptions draw_program(Random& random, bool a64) {
  constexpr isa::Isa kIsas[] = {isa::Isa::kA32, isa::Isa::kT32, isa::Isa::kA64, isa::Isa::kA64};
  Program::RandomOptions drawn;
  drawn.seed = random.fork();
  drawn.isa = kIsas[random.below(a64 ? 4 : 2)];
  drawn.functions = random.between(1, 40);
  drawn.statements = random.between(1, 12);
  if (random.coin()) drawn.address = 0x40000;
  if (drawn.isa != isa::Isa::kA64) {
    drawn.mixed = random.coin();
    drawn.a64_handlers = a64 && random.coin();
  }
  return drawn;
}

/// An MTB has none of the other settings.
UnitOptions draw_mtb(Random& random) {
  UnitOptions drawn;
  drawn.protocol = Protocol::kMtb;
  drawn.seed = random.fork();
  drawn.filter_mean = some(random, 500);
  if (random.coin()) drawn.core = "Cortex-M0+";
  return drawn;
}

UnitOptions draw_unit(Random& random, Protocol protocol, TraceId id) {
  const bool etmv4 = is_etmv4(protocol);
  UnitOptions drawn;
  drawn.protocol = protocol;
  drawn.trace_id = id;
  drawn.seed = random.fork();
  drawn.sync_period = random.between(64, 4000);
  // Sometimes the period is so long that a capture synchronises only once or twice.
  if (Random(drawn.seed).one_in(4)) drawn.sync_period *= 32;
  drawn.timestamp_mean = some(random, 100);
  drawn.overflow_mean = some(random, 2000);
  if (is_message(protocol)) return drawn;
  drawn.event_mean = some(random, 100);
  drawn.filter_mean = some(random, 500);
  drawn.return_stack = protocol != Protocol::kEtmV3 && random.coin();
  drawn.cycle_counts = random.coin();
  drawn.context_ids = random.coin();
  drawn.vmids = random.coin();
  drawn.branch_broadcast = random.one_in(4);
  if (!etmv4) return drawn;
  drawn.cycle_threshold = random.below(100);
  drawn.speculation = random.coin() ? random.between(1, 20) : 0;
  drawn.mispredict_mean = random.between(1, 40);
  drawn.q_mean = some(random, 200);
  drawn.discard_mean = some(random, 2000);
  return drawn;
}

/// Without what the cores of the M profile do not have.
UnitOptions draw_m_unit(Random& random, const MCore& core, TraceId id) {
  UnitOptions drawn = draw_unit(random, core.protocol, id);
  drawn.core = core.name;
  drawn.context_ids = drawn.vmids = false;
  drawn.q_mean = 0;
  return drawn;
}

Damage draw_damage(Random& random) {
  Damage drawn;
  drawn.change_mean = some(random, 3000);
  drawn.drop_mean = some(random, 5000);
  drawn.cut = random.coin();
  return drawn;
}

}  // namespace

Result<Workload> Workload::random(const RandomOptions& options) {
  if (!options.m_core.empty()) return random_m_profile(options);
  Random random(options.seed);
  const std::vector<Protocol> protocols =
      options.protocols.empty() ? draw_protocols(random) : options.protocols;
  if (protocols.size() > kMaxSources)
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} sources are too many; take at most {}.", protocols.size(), kMaxSources));
  for (const Protocol protocol : protocols)
    if (!is_etmv4(protocol) && !is_pft(protocol) && !is_message(protocol) && !is_mtb(protocol))
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("waymark synth cannot make captures of the protocol {}.",
                              protocol_name(protocol)));
  const bool mtb = std::ranges::any_of(protocols, is_mtb);
  if (mtb && protocols.size() != 1)
    return fail(ErrorCode::kInvalidArgument, "An MTB is the only source of its capture.");
  Program::RandomOptions drawn = draw_program(random, std::ranges::none_of(protocols, is_pft));
  if (mtb) {
    drawn.isa = isa::Isa::kT32;
    drawn.mixed = drawn.a64_handlers = false;
    drawn.m_code = MCode::kAny;
  }
  Result<Program> program = Program::random(drawn);
  if (!program) return std::unexpected(program.error());

  Workload workload;
  workload.program = *std::move(program);
  workload.execution = {.seed = random.fork(),
                        .exception_mean = some(random, 200),
                        .context_ids = random.between(1, 4),
                        .vmids = random.between(1, 3),
                        .secure = random.coin()};
  for (const Protocol protocol : protocols)
    workload.units.push_back(
        is_mtb(protocol)
            ? draw_mtb(random)
            : draw_unit(random, protocol, static_cast<TraceId>(kFirstId + workload.units.size())));
  const bool one = workload.units.size() == 1;
  workload.capture.seed = random.fork();
  workload.capture.size = options.size != 0 ? options.size : random.between(100, 20'000);
  workload.capture.framing = static_cast<CaptureFraming>(random.below(one ? 3 : 2));
  if (mtb) workload.capture.framing = CaptureFraming::kNone;
  workload.capture.fsync_period = random.between(1, 100);
  workload.capture.interleave = random.between(1, 400);
  if (options.damage && random.coin()) workload.capture.damage = draw_damage(random);
  return workload;
}

Result<Workload> Workload::random_m_profile(const RandomOptions& options) {
  const MCore* const core = synth::m_core(options.m_core);
  if (core == nullptr)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is not a core of the M profile with an ETM.", options.m_core));
  Random random(options.seed);
  Program::RandomOptions drawn = draw_program(random, false);
  drawn.isa = isa::Isa::kT32;
  drawn.mixed = false;
  drawn.m_code = core->code;
  drawn.supervisor_calls = random.coin();
  Result<Program> program = Program::random(drawn);
  if (!program) return std::unexpected(program.error());
  Workload workload;
  workload.program = *std::move(program);
  workload.execution = {
      .seed = random.fork(), .exception_mean = some(random, 200), .secure = random.coin()};
  workload.units.push_back(draw_m_unit(random, *core, kFirstId));
  workload.capture.seed = random.fork();
  workload.capture.size = options.size != 0 ? options.size : random.between(100, 20'000);
  workload.capture.framing = static_cast<CaptureFraming>(random.below(3));
  if (options.damage && random.coin()) workload.capture.damage = draw_damage(random);
  return workload;
}

Result<CaptureMaker> Workload::make(bool keep_truth) const {
  std::vector<std::unique_ptr<TraceUnit>> made;
  ExecutionOptions own = execution;
  Random seeds(execution.seed);
  for (const UnitOptions& unit : units) {
    auto next = make_unit(unit, &program, own, keep_truth);
    if (!next) return std::unexpected(next.error());
    made.push_back(*std::move(next));
    own.seed = seeds.fork();
  }
  return CaptureMaker::create(capture, std::move(made));
}

std::vector<std::unique_ptr<Source>> MemoryCapture::sources() const {
  std::vector<std::unique_ptr<Source>> made;
  for (const auto& unit : maker.units()) made.push_back(unit->make_source(*image));
  return made;
}

Result<MemoryCapture> make_in_memory(const Workload& workload, bool keep_truth) {
  Result<CaptureMaker> maker = workload.make(keep_truth);
  if (!maker) return std::unexpected(maker.error());
  MemoryCapture capture{.maker = *std::move(maker), .image = workload.program.image()};
  while (true) {
    const Bytes block = capture.maker.next();
    if (block.empty()) break;
    capture.bytes.insert(capture.bytes.end(), block.begin(), block.end());
  }
  for (const auto& unit : capture.maker.units()) WAYMARK_TRY(unit->status());
  return capture;
}

}  // namespace waymark::synth
