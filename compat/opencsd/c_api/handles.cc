#include "handles.h"

#include <mutex>
#include <unordered_map>

namespace waymark::compat::capi {
namespace {

struct Trees {
  std::mutex mutex;
  std::unordered_map<void*, std::unique_ptr<Tree>> alive;
};

Trees& trees() {
  // Never destroyed: clients may destroy their trees at the very end.
  static auto* const kAll = new Trees;
  return *kAll;
}

}  // namespace

Tree* tree_of(dcd_tree_handle_t handle) {
  if (handle == nullptr) return nullptr;
  const std::lock_guard lock(trees().mutex);
  const auto at = trees().alive.find(handle);
  return at != trees().alive.end() ? at->second.get() : nullptr;
}

dcd_tree_handle_t remember(std::unique_ptr<Tree> tree) {
  Tree* const handle = tree.get();
  const std::lock_guard lock(trees().mutex);
  trees().alive.emplace(handle, std::move(tree));
  return handle;
}

std::unique_ptr<Tree> forget(dcd_tree_handle_t handle) {
  const std::lock_guard lock(trees().mutex);
  const auto at = trees().alive.find(handle);
  if (at == trees().alive.end()) return nullptr;
  std::unique_ptr<Tree> tree = std::move(at->second);
  trees().alive.erase(at);
  return tree;
}

}  // namespace waymark::compat::capi
