// Which code is at an address.
#include "engine_state.h"

namespace waymark::stacks {
namespace {

/// Code that linkers insert between a call and what is called.
bool is_veneer(std::string_view name) {
  for (const std::string_view start :
       {"__AArch64AbsLongThunk_", "__AArch64ADRPThunk_", "__AArch64BTIThunk_",
        "__ARMv7ABSLongThunk_", "__ARMV7PILongThunk_", "__Thumbv7ABSLongThunk_",
        "__ThumbV7PILongThunk_", "__ARMv4ABSLongThunk_", "__ARMv5LongLdrPcThunk_",
        "__Thumbv6MABSLongThunk_"}) {
    if (name.starts_with(start)) return true;
  }
  for (const std::string_view end : {"@plt", "_veneer", "_from_arm", "_from_thumb"})
    if (name.ends_with(end)) return end.front() == '@' || name.starts_with("__");
  return false;
}

/// How the recording names the program; symbols without a file have none.
std::string path_of(const program::Program* program) {
  return program == nullptr ? std::string() : program->path();
}

}  // namespace

CodeId Engine::code_of(const program::Place& place, const program::Function& function) {
  const auto [at, is_new] = by_function_.try_emplace(&function);
  if (!is_new) return at->second;
  const auto [whole, name] = place.program->whole(function);
  const CodeId code = tree_.code({.kind = CodeKind::kFunction,
                                  .name = std::string(name),
                                  .program = path_of(place.program),
                                  .start = whole->start,
                                  .source = place.program});
  if (forms_.size() <= code) forms_.resize(code + 1, Form::kPlain);
  if (is_veneer(name)) forms_[code] = Form::kVeneer;
  if (name == "cpu_switch_to") forms_[code] = Form::kSwitch;
  if (name == "_start") forms_[code] = Form::kStart;
  by_function_[&function] = code;
  return code;
}

Engine::Known& Engine::find(const Source& source, const Element& element, std::uint64_t address) {
  const TaskId space = source.context.owner.space;
  const std::uint64_t mixed =
      (address >> 1 ^ space.bits() << 25 ^ space.bits() >> 9) * 0x9E3779B97F4A7C15ULL;
  Known& known = known_[static_cast<std::size_t>(mixed >> 51)];
  if (known.address == address && known.space == space) return known;
  known = {.address = address, .space = space, .bounds = {.first = address}, .link = address};
  if (!options_.places) {
    known.bounds = Bounds::all();
    return known;
  }
  const program::Place place = options_.places(element, address);
  if (place.program == nullptr) return known;
  known.link = place.address;
  const image::CodeAt code = image::code_at(place.program->functions(), place.address);
  if (code.end != kNoAddress) known.end = address + (code.end - place.address);
  const program::Function* const function = code.function;
  if (function == nullptr) {
    known.code = tree_.code(
        {.kind = CodeKind::kUnknown, .program = path_of(place.program), .source = place.program});
    return known;
  }
  known.code = code_of(place, *function);
  known.form = known.code < forms_.size() ? forms_[known.code] : Form::kPlain;
  known.named = true;
  known.entry = place.address == function->start;
  known.bounds = bounds_of(place, *function, address);
  return known;
}

CodeId Engine::called_code(Known& known) {
  if (known.named) return known.code;
  if (known.called == 0) {
    const Code around = tree_.code(known.code);
    known.called = tree_.code({.kind = CodeKind::kAddress,
                               .program = around.program,
                               .start = known.link,
                               .source = around.source});
  }
  return known.called;
}

std::uint64_t Engine::linked(const Source& source, const Element& element, std::uint64_t address) {
  return find(source, element, address).link;
}

}  // namespace waymark::stacks
