// The smallest AArch64 program with code and a build ID, as an ELF file.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace waymark::support {

/// Where the code is in the file.
inline constexpr std::uint64_t kSmallElfCode = 0x100;

/// An executable without section headers: its segment has the whole file at `address`; `id` may be
/// empty.
inline std::vector<std::uint8_t> small_elf(const std::vector<std::uint8_t>& id,
                                           const std::vector<std::uint32_t>& code,
                                           std::uint64_t address = 0x400000) {
  std::vector<std::uint8_t> out;
  const auto put = [&out](std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  const std::uint64_t size = kSmallElfCode + 4 * code.size();
  constexpr std::uint64_t kNote = 64 + 2 * 56;
  for (const unsigned byte : {0x7FU, 0x45U, 0x4CU, 0x46U, 2U, 1U, 1U, 0U}) put(byte, 1);
  put(0, 8);
  put(2, 2);    // ET_EXEC
  put(183, 2);  // EM_AARCH64
  put(1, 4);
  put(address + kSmallElfCode, 8);  // The entry point.
  put(64, 8);                       // The program headers.
  put(0, 8);
  put(0, 4);
  for (const unsigned field : {64U, 56U, 2U, 64U, 0U, 0U}) put(field, 2);
  put(1, 4);  // PT_LOAD
  put(5, 4);  // Read and execute.
  for (const std::uint64_t field :
       {std::uint64_t{0}, address, address, size, size, std::uint64_t{0x1000}})
    put(field, 8);
  put(4, 4);  // PT_NOTE
  put(4, 4);
  const std::uint64_t note_size = id.empty() ? 0 : 16 + id.size();
  for (const std::uint64_t field :
       {kNote, address + kNote, address + kNote, note_size, note_size, std::uint64_t{4}})
    put(field, 8);
  if (!id.empty()) {
    put(4, 4);
    put(id.size(), 4);
    put(3, 4);  // NT_GNU_BUILD_ID
    put(0x00554E47, 4);
    out.insert(out.end(), id.begin(), id.end());
  }
  out.resize(kSmallElfCode);
  for (const std::uint32_t word : code) put(word, 4);
  return out;
}

inline void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace waymark::support
