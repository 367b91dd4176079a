// Packs a file as gzip does.
#pragma once

#include <string_view>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"

namespace waymark::exports {

/// The same bytes give the same file.  kUnsupported: this build has no zlib.
Result<void> write_gzip(std::string_view bytes, TextBuffer& out);

}  // namespace waymark::exports
