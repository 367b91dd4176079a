// The files of the page.
#pragma once

#include <string_view>
#include <vector>

namespace waymark::view {

/// A file of the page.
struct PageFile {
  std::string_view name;  ///< After the token in the address; empty: the page itself.
  std::string_view type;  ///< Of MIME.
  std::string_view content;
};

/// Those that this program was built with.
std::vector<PageFile> page_files();

}  // namespace waymark::view
