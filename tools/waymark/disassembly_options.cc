#include "disassembly_options.h"

#include <cstdlib>
#include <string>

#include "complain.h"
#include "waymark/base/escape.h"
#include "waymark/inputs/code_memory.h"

namespace waymark::cli {

std::shared_ptr<const program::Llvm> load_llvm() {
  const char* const named = std::getenv("WAYMARK_LLVM");
  auto llvm = program::Llvm::load(named == nullptr ? std::string() : named);
  if (llvm) return *std::move(llvm);
  note(escaped(llvm.error().detail) + " Without it, instructions are shown as .inst.");
  return nullptr;
}

outputs::InstructionOptions instruction_options(const inputs::Capture& capture,
                                                outputs::PlaceLookup places, bool lines) {
  const auto memory = std::make_shared<const inputs::CodeMemory>(capture);
  return {
      .read =
          [memory](const Element& element, std::uint64_t address, std::span<std::uint8_t> scratch) {
            return memory->read(element, address, scratch);
          },
      .profile = [memory](TraceId id) { return memory->profile_of(id); },
      .llvm = load_llvm(),
      .places = std::move(places),
      .lines = lines};
}

}  // namespace waymark::cli
