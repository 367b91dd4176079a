// Call stacks from decoded trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/program/place_lookup.h"
#include "waymark/stacks/quality.h"
#include "waymark/stacks/sink.h"
#include "waymark/stacks/tree.h"

namespace waymark::stacks {

/// Whose instructions an element is about.
struct Owner {
  std::uint64_t thread = 0;
  std::uint32_t space = 0;  ///< Elements with the same number have the same programs in memory.
};

/// What becomes of a function that ends with a branch to another one.
enum class TailCalls : std::uint8_t {
  kKeep,     ///< It stays on the stack until its callee returns.
  kReplace,  ///< The callee takes its place, as on the real stack.
};

struct Options {
  /// Names functions; empty: every function has the address that was called as its name.
  program::PlaceLookup places{};
  /// Asked at each change of context, and after each gap.  Empty: the context ID and VMID are the
  /// thread, and all threads have the same memory.
  std::function<Owner(const Element& element)> owner{};
  /// Whether the instruction before this address is a call.  Empty: a return that does not match
  /// any call is taken for one to such a place.
  std::function<bool(const Element& element, std::uint64_t address)> follows_call{};
  /// The name of an exception; may be empty.
  std::function<std::string(TraceId source, std::uint32_t number)> exception_name{};
  TailCalls tail_calls = TailCalls::kKeep;
  /// Handlers of exceptions are not below the function that they interrupted.
  bool exceptions_apart = false;
  bool sites = false;   ///< The tree keeps call sites.
  bool ranges = false;  ///< The tree keeps what ranges were executed.
  Sink* sink = nullptr;
  std::size_t most_frames = std::size_t{1} << 20;  ///< Of one stack.
  std::size_t most_nodes = Tree::kMostNodes;
};

/// What an engine must know of a source before its first element.
struct SourceFacts {
  isa::Profile profile = isa::Profile::kUnknown;
  /// The next cycle count repeats that of a timestamp (ETMv4, ETE).
  bool timestamps_repeat_cycles = false;
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

 private:
  struct Source;
  struct Thread;
  struct Frame;
  struct Known;

  enum class Form : std::uint8_t { kPlain, kVeneer, kSwitch, kStart };
  enum class GapKind : std::uint8_t { kNone, kFiltered, kLoss, kMissingCode, kSwitch };

  Source& source(TraceId id);
  void observe_one(Source& source, const Element& element);
  void observe_other(Source& source, const Element& element);
  void begin(Source& source, const Element& range);
  void transfer(Source& source, const Element& element, std::uint64_t target);
  void flush(Source& source);
  void count_range(Source& source, const Element& range);
  void count_cycles(Source& source, std::uint64_t cycles);
  void give_time(Source& source, const Element& element);

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
  void replace_top(Source& source, const Known& known);
  void open_root(Source& source, const Element& element, std::uint64_t target);

  void enter_exception(Source& source, const Element& element);
  void set_context(Source& source, const Element& element);
  Owner owner_of(Source& source, const Element& element);
  void switch_to(Source& source, Owner owner);
  void open_gap(Source& source, GapKind kind);
  void close_gap(Source& source, const Element& element, std::uint64_t target);
  bool goes_on(Source& source, std::uint64_t target);
  bool recognise(Source& source, const Element& element, std::uint64_t target);
  void suspect_all(Source& source);
  void drop_suspects(Source& source);
  void confirm(Source& source);

  void push(Source& source, const Frame& frame, Opening opening);
  /// Removes frames until `size` are left.
  void pop_to(Source& source, std::size_t size);
  void show_top(Source& source);
  void tell(Source& source, Instant what);
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
  std::unordered_map<const program::Program*,
                     std::unordered_map<std::string_view, const program::Function*>>
      by_name_;
  std::vector<Form> forms_;  ///< By code.
  CodeId signal_ = 0;
  CodeId lost_callers_ = 0;
  TrackId tracks_ = 0;
  std::size_t frames_ = 0;           ///< Of all stacks.
  std::uint64_t search_credit_ = 0;  ///< How many frames a search may still pass.
  bool lacks_contexts_ = false;
  bool finished_ = false;
};

}  // namespace waymark::stacks
