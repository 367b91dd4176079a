// An engine that goes on from a saved state does the same as the one that was saved.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/seed_count.h"
#include "support/stack_checks.h"
#include "support/workload_elements.h"
#include "waymark/stacks/engine.h"
#include "waymark/synth/random.h"

namespace waymark::stacks {
namespace {

/// The events, one per line, with the names of codes.
class Log final : public Sink {
 public:
  const Tree* tree = nullptr;
  std::vector<std::string> lines;

  void on_track(TrackId track, TraceId source, std::uint64_t thread) override {
    add("track {} {} {}", track, source, thread);
  }
  void on_switch(TraceId source, TrackId track, std::uint64_t position) override {
    add("switch {} {} {}", source, track, position);
  }
  void on_enter(TrackId track, std::uint64_t position, CodeId code, Opening opening) override {
    add("enter {} {} {} {}", track, position, name_of(tree->code(code)),
        static_cast<unsigned>(opening));
  }
  void on_leave(TrackId track, std::uint64_t position) override {
    add("leave {} {}", track, position);
  }
  void on_instant(TrackId track, std::uint64_t position, Instant what) override {
    add("instant {} {} {}", track, position, static_cast<unsigned>(what));
  }
  void on_gap(TraceId source, std::uint64_t position) override {
    add("gap {} {}", source, position);
  }
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override {
    add("time {} {} {}", source, position, time);
  }
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override {
    add("cycles {} {} {}", source, position, cycles);
  }

 private:
  template <class... Args>
  void add(const char* form, const Args&... args) {
    lines.push_back(fmt::format(fmt::runtime(form), args...));
  }
};

struct Follower {
  explicit Follower(Options options) {
    options.sink = &log;
    engine = std::make_unique<Engine>(std::move(options));
    engine->set_source(1, {.profile = isa::Profile::kM});
    log.tree = &engine->tree();
  }
  Log log;
  std::unique_ptr<Engine> engine;
};

std::string text_of(const std::vector<OpenTrack>& tracks, const Tree& tree) {
  std::string text;
  for (const OpenTrack& track : tracks) {
    text += fmt::format("{} {} {} {}:", track.track, track.source, track.thread, track.runs);
    for (const OpenFrame& frame : track.frames) {
      text += fmt::format(" {}/{}/{:x}", name_of(tree.code(frame.code)),
                          static_cast<unsigned>(frame.opening), frame.call_address);
    }
    text += '\n';
  }
  return text;
}

/// Saves before the element at `cut`, and compares what comes after it.
void check(const Options& options, std::span<const Element> elements, std::size_t cut,
           const std::string& name) {
  Follower whole(options);
  whole.engine->observe(elements.first(cut));
  const Engine::State state = whole.engine->save();
  std::vector<std::uint8_t> bytes;
  state.write(bytes);
  const std::vector<Code> codes = whole.engine->tree().codes();
  const auto read = Engine::State::read(bytes, codes.size());
  ASSERT_TRUE(read) << name;
  Follower later(options);
  later.engine->restore(*read, [&](CodeId code) { return codes[code]; });
  EXPECT_EQ(text_of(later.engine->tracks(true), later.engine->tree()),
            text_of(whole.engine->tracks(true), whole.engine->tree()))
      << name;
  std::vector<std::uint8_t> again;
  later.engine->save().write(again);
  EXPECT_EQ(again.size(), bytes.size()) << name;
  whole.log.lines.clear();
  later.log.lines.clear();
  for (Follower* each : {&whole, &later}) {
    each->engine->observe(elements.subspan(cut));
    each->engine->finish();
  }
  EXPECT_EQ(whole.log.lines, later.log.lines) << name;
}

TEST(EngineState, goes_on_from_any_element_of_a_trace) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(6); ++seed) {
    const std::vector<Element> elements = support::workload_elements(seed);
    ASSERT_FALSE(elements.empty());
    synth::Random random(seed);
    for (int i = 0; i < 8; ++i) {
      const auto cut =
          static_cast<std::size_t>(random.below(static_cast<std::uint32_t>(elements.size() + 1)));
      check({}, elements, cut, fmt::format("seed {}, element {}", seed, cut));
    }
  }
}

TEST(EngineState, goes_on_whatever_the_elements_are) {
  const auto program = support::few_functions();
  for (std::uint64_t seed = 1; seed <= support::seed_count(300); ++seed) {
    synth::Random random(seed);
    std::vector<std::uint8_t> bytes(4096);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    Options options;
    options.places = [&program](const Element&, std::uint64_t address) {
      return program::Place{program.get(), address};
    };
    options.tail_calls = seed % 2 == 0 ? TailCalls::kKeep : TailCalls::kReplace;
    options.exceptions_apart = seed % 3 == 0;
    options.sites = seed % 5 == 0;
    if (seed % 4 == 0) options.most_frames = 24;
    const auto elements = support::elements_of(bytes);
    const auto cut =
        static_cast<std::size_t>(random.below(static_cast<std::uint32_t>(elements.size() + 1)));
    check(options, elements, cut, fmt::format("seed {}, element {}", seed, cut));
  }
}

TEST(EngineState, damaged_bytes_are_an_error_or_a_state) {
  const auto program = support::few_functions();
  for (std::uint64_t seed = 1; seed <= support::seed_count(300); ++seed) {
    synth::Random random(seed);
    std::vector<std::uint8_t> bytes(2048);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    Options options;
    options.places = [&program](const Element&, std::uint64_t address) {
      return program::Place{program.get(), address};
    };
    const auto elements = support::elements_of(bytes);
    Engine engine(options);
    engine.observe(std::span(elements).first(elements.size() / 2));
    std::vector<std::uint8_t> saved;
    engine.save().write(saved);
    const std::vector<Code> codes = engine.tree().codes();
    for (int i = 0; i < 20; ++i) {
      std::vector<std::uint8_t> damaged = saved;
      for (std::uint64_t n = random.below(3) + 1; n > 0; --n)
        damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] =
            static_cast<std::uint8_t>(random.next());
      if (i % 4 == 0) damaged.resize(random.below(static_cast<std::uint32_t>(damaged.size())));
      const auto read = Engine::State::read(damaged, codes.size());
      if (!read) continue;
      Engine other(options);
      other.restore(*read, [&](CodeId code) { return codes[code]; });
      other.observe(std::span(elements).subspan(elements.size() / 2));
      other.finish();
    }
  }
}

}  // namespace
}  // namespace waymark::stacks
