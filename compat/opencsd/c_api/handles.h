// From handles to trees: a handle that is not a live tree is detected before its use.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/tree.h"
#include "opencsd/c_api/opencsd_c_api.h"

namespace waymark::compat::capi {

/// nullptr: not a live tree.
Tree* tree_of(dcd_tree_handle_t handle);

dcd_tree_handle_t remember(std::unique_ptr<Tree> tree);
/// Does nothing for a handle that is not a tree.
std::unique_ptr<Tree> forget(dcd_tree_handle_t handle);

constexpr ocsd_err_t number(ErrorNumber error) { return static_cast<ocsd_err_t>(error); }

/// Cut to fit, and always terminated.
inline void copy_text(std::string_view text, char* buffer, int size) {
  if (buffer == nullptr || size <= 0) return;
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  if (length != 0) std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
}

}  // namespace waymark::compat::capi
