#include "waymark/live/rpc_reader.h"

#include <algorithm>

#include "waymark/base/number.h"

namespace waymark::live {
namespace {

constexpr std::string_view kNotification = "type target_";
constexpr std::string_view kTrace = "type target_trace data ";

}  // namespace

void RpcReader::restart() {
  record_.clear();
  ended_ = true;
  too_long_ = false;
}

RpcReader::Found RpcReader::next(Bytes& bytes, std::vector<std::uint8_t>& trace) {
  if (bytes.empty()) return Found::kNothing;
  if (ended_) {
    record_.clear();
    too_long_ = false;
    ended_ = false;
  }
  const auto end = std::ranges::find(bytes, kRecordEnd);
  const auto size = static_cast<std::size_t>(end - bytes.begin());
  if (record_.size() + size > kMostRecord) too_long_ = true;
  // The beginning shows what kind of record it is.
  const std::size_t kept = std::min(size, kMostRecord - record_.size());
  record_.append(reinterpret_cast<const char*>(bytes.data()), kept);
  if (end == bytes.end()) {
    bytes = {};
    return Found::kNothing;
  }
  bytes = bytes.subspan(size + 1);
  ended_ = true;
  return take_record(trace);
}

RpcReader::Found RpcReader::take_record(std::vector<std::uint8_t>& trace) {
  const std::string_view record = record_;
  if (!record.starts_with(kNotification)) return Found::kReply;
  if (!record.starts_with(kTrace)) return Found::kOther;
  std::string_view digits = record.substr(kTrace.size());
  while (digits.ends_with('\n') || digits.ends_with('\r')) digits.remove_suffix(1);
  const bool is_hex = std::ranges::all_of(digits, [](char c) { return hex_digit(c) >= 0; });
  if (too_long_ || !is_hex || digits.size() % 2 != 0) {
    ++counts_.bad_records;
    return Found::kDamage;
  }
  ++counts_.trace_records;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    trace.push_back(
        static_cast<std::uint8_t>(hex_digit(digits[i]) << 4 | hex_digit(digits[i + 1])));
  return Found::kTrace;
}

}  // namespace waymark::live
