#include "level_text.h"

namespace waymark::compat {
namespace {

/// In texts that contain `kind`, the part from `first` to `last` is new since a level.
struct Addition {
  std::uint32_t since;
  std::string_view kind;
  std::string_view first;
  std::string_view last;
};

constexpr Addition kAdditions[] = {
    {kLevel180, "I_TRACE_INFO", "; INIT SPEC DEPTH=", "; Decoder Sync point TINFO"},
    {kLevel180, "I_TRACE_INFO", "; Decoder Sync point ", "TINFO"},
    {kLevel180, "I_CCNT_F", "; Commit(", ")"},
    {kLevel155, "OCSD_GEN_TRC_ELEM_ADDR_NACC(", "; Memspace [", "]"},
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
  const std::uint32_t level = level_in_use().number;
  for (const Addition& addition : kAdditions) {
    const std::size_t kind = text.find(addition.kind);
    if (level >= addition.since || kind == std::string_view::npos) continue;
    const std::size_t first = text.find(addition.first, kind);
    const std::size_t last = text.find(addition.last, first);
    if (last == std::string_view::npos) continue;
    out.put(text.substr(0, first));
    out.put(text.substr(last + addition.last.size()));
    return;
  }
  out.put(text);
}

}  // namespace waymark::compat
