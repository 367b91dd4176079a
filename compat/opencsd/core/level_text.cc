#include "level_text.h"

namespace waymark::compat {
namespace {

/// In texts that contain `kind`, the part from `first` to `last` is new.
struct Addition {
  std::string_view kind;
  std::string_view first;
  std::string_view last;
};

constexpr Addition kAdditions[] = {
    {"I_TRACE_INFO", "; Decoder Sync point ", "TINFO"},
    {"I_CCNT_F", "; Commit(", ")"},
    {"OCSD_GEN_TRC_ELEM_ADDR_NACC(", "; Memspace [", "]"},
};

constexpr std::string_view kName = "I_SRC_ADDR_L_32IS0";
constexpr std::string_view kOldName = "I_SCR_ADDR_L_32IS0";
static_assert(kName.size() == kOldName.size());

}  // namespace

void misspell(TextBuffer& out, std::size_t begin) {
  const std::string_view text = out.view().substr(begin);
  // In a line, the name is after the tab.
  const std::size_t at = text.find('\t') + 1;
  if (text.substr(at).starts_with(kName)) out.overwrite(begin + at, kOldName);
}

void put_old_text(TextBuffer& out, std::string_view text) {
  for (const Addition& addition : kAdditions) {
    const std::size_t kind = text.find(addition.kind);
    if (kind == std::string_view::npos) continue;
    const std::size_t first = text.find(addition.first, kind);
    const std::size_t last = text.find(addition.last, first);
    if (last == std::string_view::npos) break;
    out.put(text.substr(0, first));
    out.put(text.substr(last + addition.last.size()));
    return;
  }
  out.put(text);
}

}  // namespace waymark::compat
