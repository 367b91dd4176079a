#include "stack_slices.h"

#include <memory>
#include <optional>
#include <utility>

#include "slices.h"
#include "stack_pass.h"
#include "stack_steps.h"
#include "waymark/shard/stack_slice_codec.h"

namespace waymark::cli {
namespace {

/// The data of a slice that an engine needs.
class StepPiece final : public parallel::Piece {
 public:
  StepPiece(const inputs::Capture& capture, const outputs::PlaceLookup& places,
            const std::optional<Selection>& selection)
      : steps_(capture, places, selection, false) {}

  void on_elements(std::span<const Element> elements) override { steps_.observe(elements); }
  std::string take_steps() { return steps_.take(); }

 private:
  StepMaker steps_;
};

/// Gives the elements to an engine.
class EnginePiece final : public parallel::Piece {
 public:
  EnginePiece(stacks::Engine& engine, const std::optional<Selection>& selection)
      : engine_(engine), selection_(selection) {}

  void on_elements(std::span<const Element> elements) override {
    observe_selected(engine_, selection_, elements);
  }

 private:
  stacks::Engine& engine_;
  std::optional<Selection> selection_;
};

class StackPieces final : public parallel::Consumer {
 public:
  StackPieces(const inputs::Capture& capture, outputs::PlaceLookup places,
              const std::optional<Selection>& selection)
      : capture_(capture), places_(std::move(places)), selection_(selection) {}

  /// The next piece is for an engine.
  void give_to(stacks::Engine& engine) { engine_ = &engine; }

  std::unique_ptr<parallel::Piece> begin() override {
    if (stacks::Engine* const engine = std::exchange(engine_, nullptr))
      return std::make_unique<EnginePiece>(*engine, selection_);
    return std::make_unique<StepPiece>(capture_, places_, selection_);
  }
  bool take(std::unique_ptr<parallel::Piece> /*piece*/) override { return true; }

 private:
  const inputs::Capture& capture_;
  outputs::PlaceLookup places_;
  const std::optional<Selection>& selection_;
  stacks::Engine* engine_ = nullptr;
};

/// Call stacks.
class StackWork {
 public:
  using Record = shard::SliceStacks;

  StackWork(inputs::Capture& capture, outputs::PlaceLookup places,
            const std::optional<Selection>& selection)
      : capture_(capture), pieces_(capture, std::move(places), selection) {
    for (const Source* source : capture.tree().sources()) ids_.push_back(source->trace_id());
    ends_.resize(ids_.size());
  }

  /// For a merge: add() and begins_right() continue this engine, or replace it.
  void set_engine(std::unique_ptr<stacks::Engine>& engine) { engine_ = &engine; }

  [[nodiscard]] parallel::Consumer& consumer() { return pieces_; }

  static Record record_of(const parallel::Slice& slice) {
    Record record{.seam = slice.seam, .ends = static_cast<StepPiece&>(*slice.end).take_steps()};
    // A piece for an engine has given it everything.
    if (auto* const piece = dynamic_cast<StepPiece*>(slice.pieces.front().get()))
      record.steps = piece->take_steps();
    return record;
  }
  static Result<std::string> encode(const Record& record) { return shard::encode(record); }
  static Result<Record> read(Bytes content) { return shard::read_stack_slice(content); }
  [[nodiscard]] bool is_whole(const Record& record) const {
    return record.seam.is_of(capture_.tree());
  }
  static constexpr std::string_view kWhyAgain =
      "the programs in memory changed while a function of theirs was on the stack";
  /// Also does what the slice does to the stacks.
  [[nodiscard]] Result<bool> begins_right(const Record& record) {
    if (!are_steps(record.ends)) return fail(ErrorCode::kBadData, "these are not steps");
    auto engine = (*engine_)->copy();
    const auto played = play_steps(*engine, record.steps);
    if (played && *played) *engine_ = std::move(engine);
    return played;
  }
  void begin_again() { pieces_.give_to(**engine_); }

  void add(Record record, const std::vector<bool>& ends) {
    const auto steps = std::make_shared<const std::string>(std::move(record.ends));
    for (std::size_t i = 0; i < ids_.size(); ++i)
      if (ends[i]) ends_[i] = steps;
  }

  /// The end of the trace.
  void finish() {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (ends_[i] != nullptr) play_end(**engine_, *ends_[i], ids_[i]);
    }
    (*engine_)->finish();
  }

 private:
  inputs::Capture& capture_;
  StackPieces pieces_;
  std::vector<TraceId> ids_;  ///< By source.
  std::vector<std::shared_ptr<const std::string>> ends_;
  std::unique_ptr<stacks::Engine>* engine_ = nullptr;
};

}  // namespace

int record_slice(const shard::Plan& plan, const StackExport& wanted, const Refuse& refuse,
                 shard::Part& part) {
  const shard::Cut& cut = *plan.cut_of(part.shard);
  InputOptions input = wanted.input;
  input.path = plan.inputs[cut.input].path;
  auto capture = open_capture(input, {}, false, known_id_bytes(cut), false);
  if (!capture) return capture.error();
  const auto selection = select_in(*capture, wanted.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  auto places = stack_places(*capture, wanted.symbols, false);
  if (!places) return places.error();
  StackWork work(*capture, *std::move(places), *selection);
  return make_slice(plan, *capture, work, refuse, part);
}

int join_stack_slices(const shard::Folder& folder, std::size_t first, const StackExport& wanted,
                      stacks::Tree& tree, int& failed) {
  const shard::Cut& cut = *folder.plan().cut_of(first);
  const RecordedStacks recorded{
      .id_bytes = known_id_bytes(cut),
      .play = [&](inputs::Capture& capture, const outputs::PlaceLookup& places,
                  const std::optional<Selection>& selection,
                  std::unique_ptr<stacks::Engine>& engine) {
        StackWork work(capture, places, selection);
        work.set_engine(engine);
        failed = add_slices(folder, first, capture, work);
        if (failed == kOk) work.finish();
        return failed;
      }};
  return collect_recorded(wanted, folder.plan().inputs[cut.input].path, recorded, tree);
}

}  // namespace waymark::cli
