#include "waymark/stm/nibble_order.h"

#include "waymark/base/bits.h"
#include "waymark/stm/nibbles.h"
#include "waymark/stm/parser.h"

namespace waymark::stm {
namespace {

constexpr unsigned kRounder = 2;  // This many more decimal zeros at the end make a number rounder.

unsigned trailing_zeros(std::uint64_t value) {
  unsigned count = 0;
  for (; value != 0 && value % 10 == 0; value /= 10) ++count;
  return count;
}

}  // namespace

void OrderEvidence::frequency(std::uint64_t raw, unsigned nibbles) {
  if (verdict_) return;
  const unsigned most = trailing_zeros(field_value(raw, nibbles, false));
  const unsigned least = trailing_zeros(field_value(raw, nibbles, true));
  if (most >= least + kRounder) verdict_ = NibbleOrder::kMostFirst;
  if (least >= most + kRounder) verdict_ = NibbleOrder::kLeastFirst;
}

bool OrderEvidence::Clock::goes_back(std::uint64_t value, unsigned nibbles,
                                     TimestampEncoding encoding) {
  const std::uint64_t before = last;
  const bool gray = encoding == TimestampEncoding::kGray;
  const std::uint64_t mask = low_mask(4 * nibbles);
  const std::uint64_t merged = ((gray ? to_gray(before) : before) & ~mask) | value;
  last = gray ? from_gray(merged) : merged;
  const bool back = started && last < before;
  started = true;
  return back;
}

void OrderEvidence::timestamp(std::uint64_t raw, unsigned nibbles, TimestampEncoding encoding) {
  if (verdict_ || nibbles == 0) return;
  if (encoding != TimestampEncoding::kNatural && encoding != TimestampEncoding::kGray) return;
  const bool most = most_first_.goes_back(field_value(raw, nibbles, false), nibbles, encoding);
  const bool least = least_first_.goes_back(field_value(raw, nibbles, true), nibbles, encoding);
  balance_ += static_cast<int>(least) - static_cast<int>(most);
  if (balance_ >= kMargin) verdict_ = NibbleOrder::kMostFirst;
  if (balance_ <= -kMargin) verdict_ = NibbleOrder::kLeastFirst;
}

namespace {

Config auto_order() {
  Config config;
  config.order = NibbleOrder::kAuto;
  return config;
}

}  // namespace

struct OrderSearch::State {
  Parser parser{auto_order()};
  std::size_t bytes = 0;
};

OrderSearch::OrderSearch() : state_(std::make_unique<State>()) {}
OrderSearch::~OrderSearch() = default;

bool OrderSearch::look(const frames::StreamBlock& block) {
  struct Visitor {
    static consteval protocol::VisitorTakes takes() { return {}; }
    const Parser& parser;
    bool on_packet(const Packet& /*packet*/) const { return !parser.order_is_settled(); }
  };
  state_->parser.feed(block);
  state_->parser.parse(Visitor{state_->parser});
  state_->bytes += block.bytes.size();
  return state_->parser.order_is_settled() || state_->bytes >= kMaxBytes;
}

std::optional<NibbleOrder> OrderSearch::order() const {
  if (!state_->parser.order_is_settled()) return std::nullopt;
  return state_->parser.order();
}

std::optional<NibbleOrder> detect_nibble_order(Bytes stream) {
  const frames::Run run{};
  OrderSearch search;
  search.look({stream, {&run, stream.empty() ? 0U : 1U}});
  return search.order();
}

}  // namespace waymark::stm
