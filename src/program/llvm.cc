#include "llvm.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <utility>

namespace waymark::program {
#if !defined(WAYMARK_STATIC)
namespace {

constexpr int kNewest = 24;
constexpr int kOldest = 14;

std::vector<std::string> usual_names() {
  std::vector<std::string> names;
  for (int version = kNewest; version >= kOldest; --version) {
    const std::string number = std::to_string(version);
    // Since version 18, the name has the version at its end.
    if (version >= 18) names.push_back("libLLVM.so." + number + ".1");
    names.push_back("libLLVM-" + number + ".so.1");
    names.push_back("libLLVM-" + number + ".so");
  }
  names.emplace_back("libLLVM.so");
  return names;
}

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Prepares the library for all instruction sets.  False: it cannot disassemble them.
bool initialize(void* library) {
  for (const char* name : {"LLVMInitializeAArch64TargetInfo", "LLVMInitializeAArch64TargetMC",
                           "LLVMInitializeAArch64Disassembler", "LLVMInitializeARMTargetInfo",
                           "LLVMInitializeARMTargetMC", "LLVMInitializeARMDisassembler"}) {
    void (*function)() = nullptr;
    if (!find_function(library, name, function)) return false;
    function();
  }
  return true;
}

}  // namespace
#endif

Llvm::Llvm(std::string name, std::unique_ptr<const Functions> functions)
    : name_(std::move(name)), functions_(std::move(functions)) {}

Llvm::~Llvm() = default;

#if defined(WAYMARK_STATIC)

// A library that this program loaded would bring a second glibc of another version.
Result<std::shared_ptr<const Llvm>> Llvm::load(const std::string&) {
  return fail(
      ErrorCode::kNotFound,
      "This program is linked statically, so it cannot load LLVM, which writes instructions as "
      "text. Install a package of Waymark, or build it on this machine.");
}

#else

Result<std::shared_ptr<const Llvm>> Llvm::load(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Llvm>> loaded;
  const std::lock_guard lock(mutex);
  if (const auto known = loaded.find(name); known != loaded.end()) return known->second;
  std::string reason;
  for (const std::string& file : name.empty() ? usual_names() : std::vector{name}) {
    // Never closed: the library does not support that after it was used.
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): each thread has its own message.
      if (const char* const error = dlerror(); error != nullptr && !name.empty()) reason = error;
      continue;
    }
    auto functions = std::make_unique<Functions>();
    if (!find_function(library, "LLVMCreateDisasmCPUFeatures", functions->create) ||
        !find_function(library, "LLVMDisasmDispose", functions->dispose) ||
        !find_function(library, "LLVMSetDisasmOptions", functions->set_options) ||
        !find_function(library, "LLVMDisasmInstruction", functions->disassemble) ||
        !initialize(library)) {
      reason = file + " has no disassembler for Arm";
      continue;
    }
    // The feature came with version 15, and this function with version 16.
    functions->has_all_features = dlsym(library, "LLVMGetVersion") != nullptr;
    return loaded[name] = std::shared_ptr<const Llvm>(new Llvm(file, std::move(functions)));
  }
  if (name.empty())
    return fail(ErrorCode::kNotFound,
                "LLVM, which disassembles instructions, is not installed. Install the package "
                "libllvm19, or a version from 14 on.");
  return fail(ErrorCode::kNotFound, name + " cannot be used to disassemble: " + reason + ".");
}

#endif

}  // namespace waymark::program
