#include "waymark/exports/frame_name.h"

#include <algorithm>

#include "waymark/outputs/readable_name.h"

namespace waymark::exports {

std::string frame_name(const stacks::Code& code) {
  std::string name = stacks::name_of(code);
  if (code.kind == stacks::CodeKind::kFunction || code.kind == stacks::CodeKind::kInlined)
    name = outputs::readable_name(name);
  std::ranges::replace_if(
      name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return name.empty() ? "[unknown]" : name;
}

bool is_kernel(const stacks::Code& code) {
  const std::string_view path = code.program;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file.starts_with("[kernel") || file.starts_with("vmlinux") || file.ends_with(".ko") ||
         file.find(".ko.") != std::string_view::npos;
}

}  // namespace waymark::exports
