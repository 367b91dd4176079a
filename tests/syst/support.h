// The common part of the tests of this module.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/syst/frame.h"

namespace waymark::syst {

/// "42 50" or "4250" as bytes.
inline std::vector<std::uint8_t> hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::vector<std::uint8_t> bytes;
  int high = -1;
  for (const char c : text) {
    if (c == ' ') continue;
    if (high < 0) {
      high = digit(c);
    } else {
      bytes.push_back(static_cast<std::uint8_t>(high << 4 | digit(c)));
      high = -1;
    }
  }
  return bytes;
}

inline std::string to_hex(Bytes bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xF];
  }
  return text;
}

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// "index end bytes" of a frame.
inline std::string told(const Frame& frame) {
  return std::to_string(frame.index) + ' ' + std::string(frame_end_name(frame.end)) + ' ' +
         to_hex(frame.bytes);
}

/// All frames of a reader that is fed the parts between `cuts`, which ascend.
template <class Reader>
std::vector<std::string> split_at(Bytes content, const std::vector<std::size_t>& cuts) {
  Reader reader;
  std::vector<std::string> frames;
  Frame frame;
  std::size_t at = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i == cuts.size() ? content.size() : std::min(cuts[i], content.size());
    // A separate block, so that reading past its end is detected.
    const Bytes part = content.subspan(at, end - at);
    const std::vector<std::uint8_t> block(part.begin(), part.end());
    if (!block.empty()) reader.feed(block);
    while (reader.next(frame)) frames.push_back(told(frame));
    at = end;
  }
  while (reader.finish(frame)) frames.push_back(told(frame));
  return frames;
}

/// All frames of a reader that is fed chunks of `chunk` bytes; 0: all bytes at once.
template <class Reader>
std::vector<std::string> split(Bytes content, std::size_t chunk, Reader reader = Reader()) {
  std::vector<std::string> frames;
  Frame frame;
  if (chunk == 0) chunk = content.empty() ? 1 : content.size();
  for (std::size_t at = 0; at < content.size(); at += chunk) {
    // A separate block, so that reading past its end is detected.
    const Bytes part = content.subspan(at, std::min(chunk, content.size() - at));
    const std::vector<std::uint8_t> block(part.begin(), part.end());
    reader.feed(block);
    while (reader.next(frame)) frames.push_back(told(frame));
  }
  while (reader.finish(frame)) frames.push_back(told(frame));
  return frames;
}

}  // namespace waymark::syst
