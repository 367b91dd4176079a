#include "waymark/outputs/function_names.h"

#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {

bool FunctionNames::find(std::uint64_t address) {
  const image::Function* const found = symbols_->find(address);
  if (found == nullptr) return false;
  if (found != function_) readable_ = readable_name(found->name);
  function_ = found;
  return true;
}

}  // namespace waymark::outputs
