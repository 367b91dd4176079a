// Landmarks as bytes; docs/index-format.md.
#include "waymark/index/index.h"

namespace waymark::index {
namespace {

constexpr unsigned kKindBits = 4;
constexpr unsigned kWholeBit = 1U << kKindBits;
static_assert(kLandmarkKindCount <= 1U << kKindBits);

void put_number(std::vector<std::uint8_t>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

// Small differences of either sign become small numbers.
std::uint64_t fold(std::uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }
std::uint64_t unfold(std::uint64_t folded) { return folded >> 1 ^ (0 - (folded & 1)); }

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (done()) break;
      const std::uint8_t byte = bytes_[at_++];
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

std::vector<std::uint8_t> encode_landmarks(const std::vector<Landmark>& landmarks) {
  std::vector<std::uint8_t> out;
  TraceIndex index = 0;
  std::uint64_t timestamp = 0;
  for (const Landmark& landmark : landmarks) {
    const auto kind = static_cast<unsigned>(landmark.kind);
    out.push_back(static_cast<std::uint8_t>(kind | (landmark.whole ? kWholeBit : 0U)));
    put_number(out, fold(landmark.index - index));
    index = landmark.index;
    switch (landmark.kind) {
      case LandmarkKind::kTimestamp:
        put_number(out, fold(landmark.value - timestamp));
        timestamp = landmark.value;
        break;
      case LandmarkKind::kContext:
        put_number(out, landmark.value);
        put_number(out, landmark.vmid);
        put_number(out, landmark.el);
        break;
      case LandmarkKind::kEvent:
      case LandmarkKind::kTrigger:
      case LandmarkKind::kException:
        put_number(out, landmark.value);
        break;
      default:
        break;
    }
  }
  return out;
}

Result<std::vector<Landmark>> decode_landmarks(Bytes bytes) {
  std::vector<Landmark> landmarks;
  Reader in(bytes);
  TraceIndex index = 0;
  std::uint64_t timestamp = 0;
  while (!in.done()) {
    const std::uint64_t head = in.number();
    Landmark landmark;
    const std::uint64_t kind = head & (kWholeBit - 1);
    landmark.whole = (head & kWholeBit) != 0;
    landmark.index = index += unfold(in.number());
    landmark.kind = static_cast<LandmarkKind>(kind);
    if (landmark.kind == LandmarkKind::kTimestamp) {
      landmark.value = timestamp += unfold(in.number());
    } else if (landmark.kind == LandmarkKind::kContext) {
      landmark.value = in.number();
      landmark.vmid = static_cast<std::uint32_t>(in.number());
      landmark.el = static_cast<std::uint8_t>(in.number());
    } else if (landmark.kind == LandmarkKind::kEvent || landmark.kind == LandmarkKind::kTrigger ||
               landmark.kind == LandmarkKind::kException) {
      landmark.value = in.number();
    }
    if (in.failed() || head >= kWholeBit * 2 || kind >= kLandmarkKindCount)
      return fail(ErrorCode::kBadData, "The list of landmarks of a block is damaged.");
    landmarks.push_back(landmark);
  }
  return landmarks;
}

}  // namespace waymark::index
