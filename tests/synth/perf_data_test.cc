// Recordings of each kind show what was executed.
#include "waymark/synth/perf_data.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "waymark/perf/compressor.h"

namespace waymark::synth {
namespace {

using testing::HasSubstr;
using Form = PerfDataOptions::Form;

/// A capture of one protocol in a folder, to which recordings are added.
class Recorded {
 public:
  Recorded(const std::vector<Protocol>& protocols, std::uint32_t processes, bool context_ids,
           const Damage& damage = {}, std::uint64_t exceptions = 0)
      : processes_(processes) {
    auto program = Program::random({.seed = 7, .isa = isa::Isa::kA32, .functions = 6});
    EXPECT_TRUE(program);
    program_ = *std::move(program);
    std::vector<std::unique_ptr<TraceUnit>> units;
    for (const Protocol protocol : protocols) {
      UnitOptions unit;
      unit.protocol = protocol;
      unit.trace_id = static_cast<TraceId>(0x10 + units.size());
      unit.seed = unit.trace_id;
      unit.context_ids = context_ids;
      unit.timestamp_mean = 50;
      ExecutionOptions execution;
      execution.context_ids = processes;
      execution.seed = unit.trace_id;
      execution.exception_mean = exceptions;
      if (processes == 1 && context_ids) execution.processes = {kFirstProcess};
      auto made = make_unit(unit, &program_, execution, true);
      EXPECT_TRUE(made);
      units.push_back(*std::move(made));
    }
    CaptureOptions options;
    options.size = 3000 * protocols.size();
    options.damage = damage;
    auto maker = CaptureMaker::create(options, std::move(units));
    EXPECT_TRUE(maker);
    maker_.emplace(*std::move(maker));
    folder_ = testing::TempDir() + "/recorded." + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    EXPECT_TRUE(write_capture(*maker_, &program_, folder_));
  }
  ~Recorded() { std::filesystem::remove_all(folder_); }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  Result<void> record(const PerfDataOptions& options) const {
    std::vector<std::uint32_t> pids(processes_);
    for (std::uint32_t i = 0; i < processes_; ++i) pids[i] = kFirstProcess + i;
    return write_perf_data(*maker_, program_, pids, folder_, options);
  }

  /// Empty: a recording with these options shows what was executed.
  [[nodiscard]] std::string check(const PerfDataOptions& options) const {
    if (const auto written = record(options); !written) return written.error().detail;
    const auto sources = check_capture(folder_ + "/perf.data");
    if (!sources) return sources.error().detail;
    if (sources->size() != maker_->units().size()) return "a source is missing";
    for (const CheckedSource& source : *sources) {
      if (source.totals.instructions < 100) return source.device + ": too few instructions";
      if (!source.difference.empty()) return source.device + ": " + source.difference;
    }
    return "";
  }

  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::uint32_t processes_;
  Program program_;
  std::optional<CaptureMaker> maker_;
  std::string folder_;
};

/// Every form, byte order and version, compressed or not, with frames and without.
std::vector<PerfDataOptions> all_kinds(bool per_thread) {
  std::vector<PerfDataOptions> kinds;
  for (const Form form : {Form::kFile, Form::kPipe, Form::kFolder})
    for (const perf::ByteOrder order : {perf::ByteOrder::kLittle, perf::ByteOrder::kBig})
      for (const bool compressed : {false, true})
        for (const bool raw : {false, true})
          for (const unsigned metadata : {0U, 1U, 2U})
            if (!compressed || perf::can_compress())
              kinds.push_back({.form = form,
                               .order = order,
                               .compressed = compressed,
                               .raw = raw,
                               .metadata = metadata,
                               .per_thread = per_thread});
  return kinds;
}

std::string text_of(const PerfDataOptions& kind) {
  std::string text = kind.form == Form::kFile   ? "file"
                     : kind.form == Form::kPipe ? "pipe"
                                                : "folder";
  if (kind.order == perf::ByteOrder::kBig) text += ", big-endian";
  if (kind.compressed) text += ", compressed";
  if (kind.raw) text += ", raw";
  if (kind.per_thread) text += ", per thread";
  return text + ", version " + std::to_string(kind.metadata);
}

class PerfDataKinds : public testing::TestWithParam<Protocol> {
 protected:
  static void check_all(const Recorded& recorded, bool per_thread) {
    for (const PerfDataOptions& kind : all_kinds(per_thread)) {
      if (kind.metadata == 0 && GetParam() == Protocol::kEte) continue;
      EXPECT_EQ(recorded.check(kind), "") << text_of(kind);
    }
  }
};

TEST_P(PerfDataKinds, recorded_per_cpu_show_what_each_process_executed) {
  check_all(Recorded({GetParam(), GetParam()}, 3, true), false);
}

TEST_P(PerfDataKinds, recorded_per_thread_show_what_the_process_executed) {
  check_all(Recorded({GetParam(), GetParam()}, 1, false), true);
}

TEST_P(PerfDataKinds, with_times_show_what_ran_in_memory_that_changes) {
  const Recorded recorded({GetParam(), GetParam()}, 3, true, {}, 100);
  for (PerfDataOptions kind : all_kinds(false)) {
    if (kind.metadata == 0 && GetParam() == Protocol::kEte) continue;
    if (kind.compressed || kind.form != Form::kFile) continue;
    kind.times = true;
    EXPECT_EQ(recorded.check(kind), "") << text_of(kind);
  }
}

TEST_P(PerfDataKinds, without_context_ids_switches_say_which_process_ran) {
  const Recorded recorded({GetParam(), GetParam()}, 3, false, {}, 100);
  for (PerfDataOptions kind : all_kinds(false)) {
    if (kind.metadata == 0 && GetParam() == Protocol::kEte) continue;
    if (kind.compressed || kind.form == Form::kPipe) continue;
    kind.times = true;
    EXPECT_EQ(recorded.check(kind), "") << text_of(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, PerfDataKinds,
                         testing::Values(Protocol::kEtmV3, Protocol::kPtm, Protocol::kEtmV4,
                                         Protocol::kEte));

TEST(PerfData, cpus_with_different_units_are_in_one_recording) {
  const Recorded recorded({Protocol::kEtmV4, Protocol::kEte, Protocol::kPtm, Protocol::kEtmV3}, 2,
                          true);
  EXPECT_EQ(recorded.check({}), "");
  EXPECT_EQ(recorded.check({.raw = true}), "");
}

TEST(PerfData, code_of_a_jit_compiler_shows_what_was_executed) {
  for (const Protocol protocol : {Protocol::kEtmV4, Protocol::kPtm}) {
    const Recorded recorded({protocol, protocol}, 3, true);
    for (const Form form : {Form::kFile, Form::kPipe, Form::kFolder}) {
      for (const perf::ByteOrder order : {perf::ByteOrder::kLittle, perf::ByteOrder::kBig}) {
        const PerfDataOptions kind{.form = form, .order = order, .jit = true};
        EXPECT_EQ(recorded.check(kind), "") << text_of(kind);
      }
    }
    std::filesystem::remove(recorded.folder() + "/jit-256.dump");
    const auto sources = check_capture(recorded.folder() + "/perf.data");
    EXPECT_TRUE(sources && !sources->front().difference.empty()) << "the code is nowhere else";
  }
}

TEST(PerfData, what_perf_does_not_record_is_refused) {
  const Recorded recorded({Protocol::kEte}, 2, true);
  const auto refusal = [&](const PerfDataOptions& options) {
    const auto written = recorded.record(options);
    return written ? std::string() : written.error().detail;
  };
  EXPECT_THAT(refusal({.metadata = 0}), HasSubstr("has no ETE"));
  EXPECT_THAT(refusal({.metadata = 3}), HasSubstr("versions 0, 1 and 2"));
  EXPECT_THAT(refusal({.per_thread = true}), HasSubstr("--context-ids 1"));
  EXPECT_THAT(refusal({.pieces = 0}), HasSubstr("at least one piece"));
  EXPECT_FALSE(std::filesystem::exists(recorded.folder() + "/perf.data"));
}

TEST(PerfData, a_new_recording_replaces_a_folder) {
  const Recorded recorded({Protocol::kEtmV4}, 1, true);
  EXPECT_EQ(recorded.check({.form = Form::kFolder}), "");
  EXPECT_EQ(recorded.check({.form = Form::kFile}), "");
  EXPECT_EQ(recorded.check({.form = Form::kFolder}), "");
}

}  // namespace
}  // namespace waymark::synth
