#include "reading.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "give_way.h"
#include "shelf.h"

namespace waymark::view {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenPublications = std::chrono::milliseconds(200);
/// How many states of single sources are kept: some ten kilobytes each.
constexpr std::size_t kMostStates = 4096;

}  // namespace

Reading::~Reading() {
  ending_ = true;
  if (worker_.joinable()) worker_.join();
}

Result<void> Reading::open() {
  auto reader = PartDecoder::open(options_);
  if (!reader) return std::unexpected(std::move(reader).error());
  reader_ = std::move(*reader);
  states_.set_most(kMostStates / std::max<std::size_t>(capture().sources().size(), 1));
  if (std::optional<Stored> stored = read_stored()) {
    axis_ = stored->axis;
    codes_.take(std::move(stored->codes));
    known_ = std::make_shared<const Known>(std::move(stored->known));
    return {};
  }
  const auto axis = choose_axis(*reader_, {});
  if (!axis) return std::unexpected(axis.error());
  axis_ = *axis;
  return {};
}

void Reading::start() {
  if (known_) return;
  builder_ =
      std::make_unique<Builder>(*reader_, functions_, codes_, axis_, options_.keyframe_bytes);
  worker_ = std::thread([this] { work(); });
}

void Reading::work() {
  give_way();
  auto published = Clock::now() - kBetweenPublications;
  const Stop stop = [this] { return ending_.load(); };
  while (!ending_) {
    const auto more = builder_->step(stop);
    if (!more) {
      if (ending_) return;
      publish(true);
      const std::scoped_lock lock(mutex_);
      failure_ = more.error().detail;
      return;
    }
    if (!*more) break;
    if (Clock::now() - published < kBetweenPublications) continue;
    publish(false);
    published = Clock::now();
  }
  if (ending_) return;
  publish(true);
  builder_.reset();
  store();
}

/// The data that an earlier session stored.
std::optional<Stored> Reading::read_stored() {
  const inputs::Capture& capture = reader_->capture();
  const auto records = read_shelf(options_.index, capture, {});
  if (!records) return std::nullopt;
  auto stored = from_records(*records,
                             {.sources = capture.sources().size(),
                              .bytes = capture.trace_bytes(),
                              .alignment = reader_->decoders().alignment()},
                             functions_);
  if (!stored) return std::nullopt;
  return std::move(*stored);
}

/// It is not an error if nothing can be stored: the next session reads the capture again.
void Reading::store() {
  const inputs::Capture& capture = reader_->capture();
  const std::uint64_t limit = stored_limit(capture.trace_bytes());
  if (options_.index.looked_for.empty() || limit == 0 || !reader_->can_begin_early()) return;
  std::vector<TraceId> ids;
  for (const inputs::CaptureSource& source : capture.sources()) ids.push_back(source.id);
  const Stop stop = [this] { return ending_.load(); };
  std::shared_ptr<Known> lighter;
  const auto make =
      [&](index::Index& index) -> Result<std::optional<std::vector<index::ViewRecord>>> {
    auto known = std::make_shared<Known>(*this->known());
    auto keyframes = with_entries(known->keyframes, index, ids, stop);
    if (!keyframes) return std::unexpected(keyframes.error());
    known->keyframes = std::move(*keyframes);
    lighter = known;
    return to_records(
        {.known = *known, .axis = axis_, .codes = codes_, .functions = functions_, .limit = limit});
  };
  (void)write_shelf(options_.index, capture, make, stop);
  if (lighter == nullptr) return;
  // States of decoders are large: those that fit are kept, and entries do for the others.
  for (const KeyframePointer& each : this->known()->keyframes)
    if (each->decoders != nullptr) states_.keep(each->index, each->decoders);
  const std::scoped_lock lock(mutex_);
  known_ = std::move(lighter);
}

void Reading::publish(bool tree) {
  const std::uint64_t bytes = reader_->index();
  const bool with_tree = tree || bytes >= 2 * tree_bytes_;
  auto next = std::make_shared<Known>(builder_->known(with_tree));
  if (with_tree) tree_bytes_ = std::max<std::uint64_t>(bytes, 1);
  const std::scoped_lock lock(mutex_);
  if (!with_tree && known_) next->tree = known_->tree;
  known_ = std::move(next);
}

std::shared_ptr<const Known> Reading::known() const {
  const std::scoped_lock lock(mutex_);
  if (known_) return known_;
  static const auto kNothing = std::make_shared<const Known>();
  return kNothing;
}

std::string Reading::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

}  // namespace waymark::view
