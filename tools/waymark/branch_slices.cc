#include "branch_slices.h"

#include <optional>
#include <utility>

#include "slices.h"
#include "waymark/shard/branch_slice_codec.h"

namespace waymark::cli {
namespace {

using exports::BranchListBuilder;
using exports::BranchState;
using exports::BranchStates;

/// Gives a builder the packets of a slice.
class BranchPiece final : public parallel::Piece {
 public:
  explicit BranchPiece(BranchListBuilder& builder) : builder_(builder) {
    record.begin = builder.states();
    // Findings on the way to the slice belong to other slices.
    (void)builder.take();
  }

  [[nodiscard]] bool wants_packets() const override { return true; }
  void on_packet(const PacketRef& packet) override { builder_.on_packet(packet); }
  void on_operation(Operation operation, TraceId id) override {
    builder_.on_operation(operation, id);
  }
  void on_elements(std::span<const Element> /*elements*/) override {}
  void end() override {
    record.end = builder_.states();
    record.found = builder_.take();
  }

  shard::SliceBranches record;  ///< Without what is not the builder's.

 private:
  BranchListBuilder& builder_;
};

class BranchPieces final : public parallel::Consumer {
 public:
  explicit BranchPieces(const BranchTrace& trace) : trace_(trace) {}

  void start_from(BranchStates states) { builder_.emplace(trace_.locate(), std::move(states)); }

  std::unique_ptr<parallel::Piece> begin() override {
    return std::make_unique<BranchPiece>(*builder_);
  }
  std::unique_ptr<parallel::Piece> begin_approach() override {
    start_from({});
    return begin();
  }
  bool take(std::unique_ptr<parallel::Piece> /*piece*/) override { return true; }

 private:
  const BranchTrace& trace_;
  std::optional<BranchListBuilder> builder_;
};

/// Branches.
class BranchWork {
 public:
  using Record = shard::SliceBranches;

  explicit BranchWork(const BranchTrace& trace) : trace_(trace), pieces_(trace) {
    for (const Source* source : trace.capture().tree().sources())
      ids_.push_back(source->trace_id());
  }

  [[nodiscard]] parallel::Consumer& consumer() { return pieces_; }

  static Record record_of(const parallel::Slice& slice) {
    Record record = std::move(static_cast<BranchPiece&>(*slice.pieces.front()).record);
    record.seam = slice.seam;
    return record;
  }
  static Result<std::string> encode(const Record& record) { return shard::encode(record); }
  static Result<Record> read(Bytes content) { return shard::read_branch_slice(content); }
  [[nodiscard]] bool is_whole(const Record& record) const {
    return record.seam.is_of(trace_.capture().tree());
  }
  static constexpr std::string_view kWhyAgain{};
  /// A source without bytes in the slice keeps its state, whatever was assumed.
  [[nodiscard]] Result<bool> begins_right(const Record& record) const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (record.seam.sources[i].active &&
          state_of(record.begin, ids_[i]) != state_of(states_, ids_[i]))
        return false;
    }
    return true;
  }
  void begin_again() { pieces_.start_from(states_); }

  void add(Record record, const std::vector<bool>& /*ends*/) {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (record.seam.sources[i].active) states_[ids_[i]] = state_of(record.end, ids_[i]);
    }
    found_.add(record.found);
  }

  /// At the end of the trace, packets that are not complete end what has not ended, as finish()
  /// does.
  exports::FoundBranches take() {
    BranchListBuilder builder(trace_.locate(), std::move(states_));
    builder.finish();
    found_.add(builder.take());
    return std::move(found_);
  }

 private:
  static BranchState state_of(const BranchStates& states, TraceId id) {
    const auto found = states.find(id);
    return found == states.end() ? BranchState() : found->second;
  }

  const BranchTrace& trace_;
  BranchPieces pieces_;
  std::vector<TraceId> ids_;  ///< By source.
  BranchStates states_;       ///< At the end of the last slice that was added.
  exports::FoundBranches found_;
};

}  // namespace

int list_slice(const shard::Plan& plan, const BranchListExport& wanted, const Refuse& refuse,
               shard::Part& part) {
  const shard::Cut& cut = *plan.cut_of(part.shard);
  const auto trace =
      BranchTrace::open(wanted, plan.inputs[cut.input].path, known_id_bytes(cut), false);
  if (!trace) return trace.error();
  BranchWork work(*trace);
  return make_slice(plan, trace->capture(), work, refuse, part);
}

int join_branch_slices(const shard::Folder& folder, std::size_t first,
                       const BranchListExport& wanted, exports::BranchList& list, int& failed) {
  const shard::Cut& cut = *folder.plan().cut_of(first);
  const std::string& path = folder.plan().inputs[cut.input].path;
  const auto trace = BranchTrace::open(wanted, path, known_id_bytes(cut));
  if (!trace) return trace.error();
  BranchWork work(*trace);
  failed = add_slices(folder, first, trace->capture(), work);
  if (failed != kOk) return failed;
  const exports::FoundBranches found = work.take();
  const int code = report_found(path, found);
  if (code == kOk) exports::add(list, found.list);
  return code;
}

}  // namespace waymark::cli
