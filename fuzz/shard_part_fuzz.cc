// Parts of jobs of any bytes: no crash, bounded memory, and what is read can be written and read
// again.  The contents are also tried without the digest around them.
#include <cstdint>
#include <cstdlib>

#include "waymark/exports/tables.h"
#include "waymark/shard/branch_slice_codec.h"
#include "waymark/shard/data_files.h"
#include "waymark/shard/event_codec.h"
#include "waymark/shard/findings_codec.h"
#include "waymark/shard/part.h"
#include "waymark/shard/profile_codec.h"
#include "waymark/shard/slice_codec.h"
#include "waymark/shard/stack_slice_codec.h"
#include "waymark/shard/table_slice_codec.h"
#include "waymark/shard/tree_codec.h"

using namespace waymark;
using namespace waymark::shard;

namespace {

Bytes bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Events of any bytes can be rows of a table, and are the same after they were written again.
void try_events(Bytes input) {
  TextBuffer out;
  exports::ElementsPart rows({}, out);
  EventWriter writer;
  EventReader reader(input);
  while (const auto event = reader.next()) {
    writer.add(*event);
    if (const auto* const element = std::get_if<Element>(&*event)) {
      rows.add({element, 1});
    } else {
      rows.add(std::get<Diagnostic>(*event));
    }
  }
  if (!rows.finish()) std::abort();
  const std::string content = writer.take();
  EventReader second(bytes(content));
  EventWriter again;
  while (const auto event = second.next()) again.add(*event);
  if (second.is_bad() || again.take() != content) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input(data, size);
  if (const auto part = read_part(input); part && bytes_of(*part).size() > size) std::abort();
  profile::Profile profile;
  ProgramOpener opener(true);
  if (add_profile(input, opener, profile)) {
    profile::Profile again;
    // A name may be that of a file here.
    const std::string content = encode(profile);
    if (add_profile(bytes(content), opener, again) && encode(again) != content) std::abort();
  }
  stacks::Tree tree;
  if (add_tree(input, tree)) {
    stacks::Tree again;
    if (!add_tree(bytes(encode(tree)), again) || encode(again) != encode(tree)) std::abort();
  }
  if (const auto files = read_data_files(input)) {
    const std::string content = encode(*files);
    const auto again = read_data_files(bytes(content));
    if (!again || *again != *files) std::abort();
  }
  if (const auto slice = read_slice(input)) {
    const std::string content = encode(*slice);
    const auto again = read_slice(bytes(content));
    if (!again || encode(*again) != content) std::abort();
  }
  if (const auto findings = read_findings(input)) {
    const auto again = read_findings(bytes(encode(*findings)));
    if (!again || *again != *findings) std::abort();
  }
  if (const auto slice = read_branch_slice(input)) {
    const auto content = encode(*slice);
    const auto again = content ? read_branch_slice(bytes(*content)) : std::unexpected(Error());
    if (!again || again->found.list != slice->found.list || again->end != slice->end) std::abort();
  }
  if (const auto slice = read_stack_slice(input)) {
    const auto again = read_stack_slice(bytes(encode(*slice)));
    if (!again || again->steps != slice->steps || again->seam != slice->seam) std::abort();
  }
  if (const auto slice = read_table_slice(input)) {
    const auto again = read_table_slice(bytes(encode(*slice)));
    if (!again || again->data != slice->data || again->events != slice->events) std::abort();
  }
  if (const auto events = read_slice_events(input)) {
    const auto again = read_slice_events(bytes(encode(*events)));
    if (!again || again->end_rows != events->end_rows || again->seam != events->seam) std::abort();
  }
  try_events(input);
  return 0;
}
