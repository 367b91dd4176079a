#include "waymark/outputs/function_names.h"

#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {

FunctionLookup lookup_in(const image::Symbols& symbols) {
  return [&symbols](const Element& /*element*/, std::uint64_t address) -> FunctionPlace {
    const image::Function* const found = symbols.find(address);
    if (found == nullptr) return {};
    return {found, address - found->start};
  };
}

bool FunctionNames::find(const Element& element) {
  const FunctionPlace found = lookup_(element, element.start);
  if (found.function == nullptr) return false;
  place_ = found;
  if (found.function != named_) readable_ = readable_name(found.function->name);
  named_ = found.function;
  return true;
}

}  // namespace waymark::outputs
