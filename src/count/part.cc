#include "waymark/count/part.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "share.h"
#include "waymark/count/counter.h"

namespace waymark::count {
namespace {

constexpr std::size_t kMostPending = 64;
constexpr std::size_t kMostCrossed = 64;

}  // namespace

bool Part::cross(const Context& context) {
  if (std::ranges::find(crossed, context) != crossed.end()) return true;
  if (crossed.size() == kMostCrossed) return false;
  crossed.push_back(context);
  return true;
}

void Stitcher::add(Part part) {
  Counts more;
  for (const Context& context : part.crossed) {
    if (branch_ && !continues(branch_->context, context)) branch_.reset();
    if (direct_ && !continues(direct_->context, context)) direct_.reset();
  }
  if (part.first) {
    if (branch_) {
      const Range& from = branch_->range;
      more.edges.push_back({.context = branch_->context,
                            .from = from.last_address(),
                            .to = *part.first,
                            .from_isa = from.isa,
                            .subtype = from.last_subtype,
                            .times = 1});
    }
    if (direct_) {
      Counts target;
      target.rows.push_back(
          {.context = direct_->context, .range = direct_->range, .target = *part.first});
      more.add(target);
    }
  }
  if (!part.reaches_through) {
    branch_.reset();
    direct_.reset();
  }

  if (part.first_cycles) {
    waiting_cycles_ += *part.first_cycles;
    if (!waiting_.empty() || waiting_lost_) close_group(more);
    waiting_cycles_ += part.more_cycles;
  }
  if (part.group != Part::Group::kGap) {
    waiting_lost_ = waiting_lost_ || part.begun_lost ||
                    waiting_.size() + part.begun.size() > Counter::kMaxGroup;
    if (waiting_lost_) {
      waiting_.clear();
    } else {
      waiting_.insert(waiting_.end(), part.begun.begin(), part.begun.end());
    }
  }
  if (part.group == Part::Group::kClosed) {
    waiting_cycles_ += part.closing;
    if (!waiting_.empty() || waiting_lost_) close_group(more);
  } else if (part.group == Part::Group::kGap) {
    more.other_cycles += std::exchange(waiting_cycles_, 0);
    waiting_.clear();
    waiting_lost_ = false;
  }

  if (part.branch) branch_ = part.branch;
  if (part.direct) direct_ = part.direct;
  if (part.group != Part::Group::kOpen) {
    waiting_ = std::move(part.waiting);
    waiting_lost_ = part.waiting_lost;
    waiting_cycles_ += part.waiting_cycles;
  }
  part.counts.add(more);
  pending_rows_ += part.counts.rows.size() + part.counts.edges.size();
  pending_.push_back(std::move(part.counts));
  if (pending_rows_ > sum_.rows.size() + sum_.edges.size() || pending_.size() == kMostPending)
    settle();
}

// In pairs, so that rows are not copied once per part.
void Stitcher::settle() {
  while (pending_.size() > 1) {
    const std::size_t half = (pending_.size() + 1) / 2;
    for (std::size_t i = half; i < pending_.size(); ++i) pending_[i - half].add(pending_[i]);
    pending_.resize(half);
  }
  if (!pending_.empty()) sum_.add(pending_.front());
  pending_.clear();
  pending_rows_ = 0;
}

void Stitcher::close_group(Counts& more) {
  if (waiting_lost_) {
    more.other_cycles += waiting_cycles_;
  } else {
    Counts shares;
    std::uint64_t instructions = 0;
    for (const PartRange& range : waiting_) instructions += range.range.count;
    CycleShare share(waiting_cycles_, instructions);
    for (const PartRange& range : waiting_) {
      shares.rows.push_back({.context = range.context,
                             .range = range.range,
                             .cycles = share.next(range.range.count)});
    }
    shares.combine();
    more.add(shares);
  }
  waiting_.clear();
  waiting_lost_ = false;
  waiting_cycles_ = 0;
}

Counts Stitcher::take() {
  settle();
  return std::exchange(sum_, {});
}

}  // namespace waymark::count
