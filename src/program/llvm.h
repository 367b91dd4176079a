// The functions of LLVM's C interface that the disassembler calls, declared here so that building
// needs no headers of LLVM.
#pragma once

#include <cstddef>
#include <cstdint>

#include "waymark/program/disassembler.h"

namespace waymark::program {

struct Llvm::Functions {
  using Initialize = void (*)();
  using Create = void* (*)(const char* triple, const char* cpu, const char* features, void* info,
                           int tag, void* operand_callback, void* symbol_callback);
  using Dispose = void (*)(void* context);
  using SetOptions = int (*)(void* context, std::uint64_t options);
  using Disassemble = std::size_t (*)(void* context, std::uint8_t* bytes, std::uint64_t size,
                                      std::uint64_t address, char* text, std::size_t text_size);

  static constexpr std::uint64_t kPrintImmediatesInHex = 2;

  Create create = nullptr;
  Dispose dispose = nullptr;
  SetOptions set_options = nullptr;
  Disassemble disassemble = nullptr;
  /// The feature "all" of AArch64 exists.
  bool has_all_features = false;
};

}  // namespace waymark::program
