// Sessions of sigrok: what a logic analyser sampled, version 2 of the format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/logic/zip.h"

namespace waymark::logic {

struct Channel {
  std::string name;
  unsigned bit = 0;  ///< A sample is a little-endian number.
};

/// The samples of the first device.  The archive must outlive the object.
class Session {
 public:
  /// Receives whole samples; false: no more are wanted.
  using Take = std::function<bool(Bytes)>;

  /// The detail of an error is a sentence without the name of the archive.  kParse: the metadata;
  /// kUnsupported: another version, or no logic channels; and the errors of Zip.
  static Result<Session> open(Bytes archive);

  [[nodiscard]] const std::vector<Channel>& channels() const { return channels_; }
  /// Bytes per sample, from 1 to 8.
  [[nodiscard]] std::size_t unit() const { return unit_; }
  /// Samples per second; 0: not stated.
  [[nodiscard]] double rate() const { return rate_; }
  /// As the directory states it.
  [[nodiscard]] std::uint64_t samples() const { return samples_; }

  Result<void> read(const Take& take) const;

 private:
  explicit Session(Zip zip) : zip_(std::move(zip)) {}
  Result<void> read_metadata(std::string_view text);
  Result<void> take_key(std::string_view key, std::string_view value, std::size_t line);
  Result<void> find_data();

  Zip zip_;
  std::string data_name_;              ///< "logic-1"; the parts have a number after it.
  std::vector<const ZipEntry*> data_;  ///< In their order.
  std::vector<Channel> channels_;
  std::size_t unit_ = 0;
  double rate_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace waymark::logic
