// Call stacks from decoded trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/element/element.h"
#include "waymark/program/place_lookup.h"
#include "waymark/stacks/quality.h"
#include "waymark/stacks/sink.h"
#include "waymark/stacks/tree.h"

namespace waymark::stacks {

/// Whose instructions an element is about.
struct Owner {
  std::uint64_t thread = 0;
  TaskId space{};  ///< Elements with the same one have the same programs in memory.
  /// Elements from this place on may have another owner although the context does not change.
  TraceIndex until = kNoIndex;
};

/// Whether an element is about the execution of instructions, and so about one thread.
[[nodiscard]] bool is_of_thread(const Element& element);

struct Run;
struct Step;

/// How to treat a function that ends with a branch to another one.
enum class TailCalls : std::uint8_t {
  kKeep,     ///< It stays on the stack until its callee returns.
  kReplace,  ///< The callee takes its place, as on the real stack.
};

struct Options {
  /// Names functions; empty: every function has the address that was called as its name.
  program::PlaceLookup places{};
  /// Asked at each change of context, after each gap, and from Owner::until on.  Empty: the context
  /// ID and VMID are the thread, and all threads have the same memory.
  std::function<Owner(const Element& element)> owner{};
  /// Whether the instruction before this address is a call.  Empty: a return that does not match
  /// any call is taken for one to such a place.
  std::function<bool(const Element& element, std::uint64_t address)> follows_call{};
  /// The target of the direct branch at the end of a range, from its code; kNoAddress: not known.
  /// Empty: a call whose callee was not traced is not counted.
  std::function<std::uint64_t(const Element& range)> direct_target{};
  /// T32 code at an address where an element is; nothing: it cannot be read.  It is asked where a
  /// range goes on from one function into the next.  Empty: such a range stays in the first one.
  std::function<std::optional<std::uint16_t>(const Element& element, std::uint64_t address)>
      halfword{};
  /// The name of an exception; may be empty.
  std::function<std::string(TraceId source, std::uint32_t number)> exception_name{};
  /// The name of what owns the outermost frames, such as a process: the tree has a node for each
  /// name, above all frames.  An empty name: none.  Empty: the tree does not tell owners apart.
  std::function<std::string(const Owner& owner)> root_name{};
  TailCalls tail_calls = TailCalls::kKeep;
  /// Handlers of exceptions are not below the function that they interrupted.
  bool exceptions_apart = false;
  bool sites = false;   ///< The tree keeps call sites.
  bool ranges = false;  ///< The tree keeps what ranges were executed.
  Sink* sink = nullptr;
  std::size_t most_frames = std::size_t{1} << 20;  ///< Of one stack.
  std::size_t most_nodes = Tree::kMostNodes;
};

/// The facts about a source that an engine needs before its first element.
struct SourceFacts {
  isa::Profile profile = isa::Profile::kUnknown;
  /// The next cycle count repeats that of a timestamp (ETMv4, ETE).
  bool timestamps_repeat_cycles = false;
};

/// A frame of a stack that is open now.
struct OpenFrame {
  CodeId code = 0;
  Opening opening = Opening::kCall;
  /// The branch that entered it, or the instruction that an exception interrupted; 0: not known.
  std::uint64_t call_address = 0;
};

/// A stack: a thread on a source.
struct OpenTrack {
  TrackId track = 0;
  TraceId source = 0;
  std::uint64_t thread = 0;         ///< As Options::owner says, or 0.
  bool runs = false;                ///< The source executes it now.
  bool away = false;                ///< It does not, and its frames were reported as left.
  std::vector<OpenFrame> frames{};  ///< The outermost first.
};

/// Follows calls and returns in the elements of any number of sources, each in its own order.
///
/// Every source has a stack for each thread.  A return closes the nearest frame that was called
/// from there, and all above it.  An exception is a barrier: frames above it belong to its handler.
/// After a gap, the old frames are only suspected to be open.  They are taken up again if the same
/// function goes on, or if a return goes to the caller of one of them.
///
/// Memory is bounded by the depth of the stacks, at most Options::most_frames, and by the tree.
/// Calls beyond the depth are counted in the function at the limit.  One owner; not thread safe.
class Engine {
 public:
  explicit Engine(Options options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void set_source(TraceId id, const SourceFacts& facts);

  /// The next elements.  Those that are not about the execution of instructions are passed over.
  void observe(std::span<const Element> elements);
  /// Elements of the source were left out here, those of other threads for instance.
  void skip(TraceId id);
  /// Such elements are left out from here on; skip() is then called by take_up().
  void leave_out(TraceId id) { (void)set_left_out(id, true); }
  /// Comes before an element of a thread that is not left out.
  void take_up(TraceId id) {
    if (set_left_out(id, false)) skip(id);
  }
  /// The step from a Recorder.  False: a run does not stay in the function that executes, so that
  /// the engine must observe() the elements instead; this one has no use any more.
  [[nodiscard]] bool play(const Step& step);
  /// Another one that goes on from here, with the same options and sums, but without a sink.
  [[nodiscard]] std::unique_ptr<Engine> copy() const;
  /// The end of the trace: closes all frames.
  void finish();

  [[nodiscard]] const Tree& tree() const { return tree_; }
  Tree take_tree() { return std::move(tree_); }
  [[nodiscard]] Quality quality(TraceId id) const;
  /// The sum of all sources.
  [[nodiscard]] Quality quality() const;
  /// The sources that executed something.
  [[nodiscard]] std::vector<TraceId> sources() const;
  /// Whether threads could not be told apart, though something looked like a switch.
  [[nodiscard]] bool lacks_contexts() const;

  // -- The state between two elements. ---------------------------------------------------------

  /// Everything that later elements can depend on, but no sums.  A value, cheap to copy: threads
  /// that have not run between two save() share their frames.
  class State;
  [[nodiscard]] State save();
  /// Goes on from `state`, in an engine that has observed nothing, with the same options and
  /// sources.  `code_of` gives the codes of the tree of the engine that was saved.  The sink gets
  /// all tracks, and the open frames with the Opening that they had, at the present position.  The
  /// tree begins empty; cycles that come next are not divided among earlier instructions.
  void restore(const State& state, const std::function<Code(CodeId)>& code_of);

  /// The frames that are open in the thread that a source executes now; the outermost first.
  [[nodiscard]] std::vector<OpenFrame> stack(TraceId id) const;
  /// The track that a source executes now; nothing: none yet.
  [[nodiscard]] std::optional<TrackId> track(TraceId id) const;
  /// All tracks, by number.  `frames`: with their open frames.
  [[nodiscard]] std::vector<OpenTrack> tracks(bool frames) const;
  /// The number of instructions that a source has executed.
  [[nodiscard]] std::uint64_t position(TraceId id) const;

 private:
  struct Source;
  struct Thread;
  struct Frame;
  struct Known;
  // For State.
  struct SavedFrame;
  struct SavedThread;
  struct SavedSource;
  struct Saved;
  struct SavedBytes;

  enum class Form : std::uint8_t { kPlain, kVeneer, kSwitch, kStart };
  enum class GapKind : std::uint8_t { kNone, kFiltered, kLoss, kMissingCode, kSwitch };

  Source& source(TraceId id);
  void observe_one(Source& source, const Element& element);
  void enter(Source& source, const Element& range);
  void execute(Source& source, const Element& range);
  bool leaves_function(const Source& source, const Element& range);
  bool cut(const Source& source, Element& range, Element& rest);
  void observe_other(Source& source, const Element& element);
  void begin(Source& source, const Element& range);
  bool set_left_out(TraceId id, bool value);
  bool stay(Source& source, const Step& step);
  void transfer(Source& source, const Element& element, std::uint64_t target);
  void flush(Source& source);
  void count_range(Source& source, const Element& range);
  void count_cycles(Source& source, std::uint64_t cycles);
  void give_time(Source& source, const Element& element);
  void take_transaction(Source& source, MemTransType type);

  Known& find(const Source& source, const Element& element, std::uint64_t address);
  CodeId code_of(const program::Place& place, const program::Function& function);
  /// The code that a call to a known address enters.
  CodeId called_code(Known& known);
  std::uint64_t linked(const Source& source, const Element& element, std::uint64_t address);

  void call(Source& source, const Element& element, std::uint64_t target);
  void jump(Source& source, const Element& element, std::uint64_t target);
  void go_back(Source& source, const Element& element, std::uint64_t target, bool is_return);
  void go_unmatched(Source& source, const Element& element, std::uint64_t target);
  void leave_exception(Source& source, const Element& element, std::uint64_t target);
  bool ends_signal(Source& source, const Element& element, std::uint64_t target);
  void resume(Source& source, const Element& element, std::uint64_t target);
  void transfer_folded(Source& source, const Element& element, std::uint64_t target);
  void leave_veneer(Source& source, const Element& element, std::uint64_t target);
  /// The top frame executes another function from here on.
  void move(Source& source, const Element& element, std::uint64_t target);
  void replace_top(Source& source, const Known& known, Opening opening);
  void open_root(Source& source, const Element& element, std::uint64_t target);

  void enter_exception(Source& source, const Element& element);
  void set_context(Source& source, const Element& element);
  void take_turn(Source& source, const Element& element);
  void leave_thread(Source& source, const Owner& owner);
  Owner owner_of(Source& source, const Element& element) const;
  void switch_to(Source& source, Owner owner);
  void go_away(Source& source);
  void come_back(Source& source);
  NodeId root_of(const Owner& owner);
  static void keep_direct(Source& source, const Element& range);
  void make_direct_call(Source& source);
  void open_gap(Source& source, GapKind kind);
  void close_gap(Source& source, const Element& element, std::uint64_t target);
  bool goes_on(Source& source, std::uint64_t target);
  bool recognise(Source& source, const Element& element, std::uint64_t target);
  void suspect_all(Source& source);
  void drop_suspects(Source& source);
  void confirm(Source& source);

  std::shared_ptr<const SavedThread> save_thread(std::uint64_t key, const Thread& thread) const;
  std::unique_ptr<Thread> restore_thread(const SavedThread& part,
                                         const std::function<CodeId(CodeId)>& code_of);
  void announce() const;
  static std::vector<OpenFrame> open_frames(const Thread& thread);

  void push(Source& source, const Frame& frame, Opening opening);
  /// Removes frames until `size` are left.
  void pop_to(Source& source, std::size_t size);
  void show_top(Source& source);
  void report_instant(Source& source, Instant what);
  /// Where the frames begin that a return can close.
  [[nodiscard]] static std::size_t base(const Source& source);
  [[nodiscard]] NodeId parent_of_top(const Source& source) const;
  std::optional<std::size_t> search(const Source& source, std::size_t from, std::size_t to,
                                    std::uint64_t target);
  std::optional<std::size_t> search_live(const Source& source, std::size_t from, std::size_t to,
                                         std::uint64_t target);

  Options options_;
  Tree tree_;
  std::array<std::unique_ptr<Source>, 256> sources_;
  std::vector<Known> known_;
  std::unordered_map<const program::Function*, CodeId> by_function_;
  std::vector<Form> forms_;  ///< By code.
  /// By Owner::thread and Owner::space.
  std::map<std::pair<std::uint64_t, std::uint64_t>, NodeId> roots_;
  CodeId signal_ = 0;
  CodeId lost_callers_ = 0;
  TrackId tracks_ = 0;
  std::size_t frames_ = 0;           ///< Of all stacks.
  std::uint64_t search_credit_ = 0;  ///< How many frames a search may still pass.
  bool lacks_contexts_ = false;
  bool finished_ = false;
};

/// A value; see Engine::save().
class Engine::State {
 public:
  State();
  ~State();
  State(const State&);
  State(State&&) noexcept;
  State& operator=(const State&);
  State& operator=(State&&) noexcept;

  /// Appends it as bytes.  Codes are written as numbers: their table must be kept too.
  void write(std::vector<std::uint8_t>& out) const;
  /// The state that write() wrote, whatever the bytes contain; `codes`: the size of their table.
  /// kBadData: it is not one.
  static Result<State> read(Bytes bytes, std::size_t codes);

 private:
  friend class Engine;
  std::shared_ptr<const Saved> saved_;
};

}  // namespace waymark::stacks
