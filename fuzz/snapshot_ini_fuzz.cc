// The whole grammar of snapshots, from memory.  The input is one text cut at lines "---": the first
// part is snapshot.ini, the second trace.ini, the others device files "2", "3", ...
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "require.h"
#include "waymark/inputs/ini.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/inputs/snapshot_writer.h"

namespace {

using namespace waymark;
using namespace waymark::inputs;
using fuzz::require;

std::vector<std::string_view> cut(std::string_view text) {
  constexpr std::string_view kCut = "\n---\n";
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(kCut);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + kCut.size());
  }
}

class Store {
 public:
  explicit Store(std::vector<std::string_view> parts) : parts_(std::move(parts)) {}

  Result<std::string> read(std::string_view path) const {
    if (path == "snapshot.ini") return std::string(parts_[0]);
    // Any name that is not a number means trace.ini.
    const std::uint64_t number = ini_number(path).value_or(1);
    if (number == 0 || number >= parts_.size()) return fail(ErrorCode::kNotFound, "absent");
    return std::string(parts_[static_cast<std::size_t>(number)]);
  }

 private:
  std::vector<std::string_view> parts_;
};

void check(const Snapshot& snapshot) {
  require(std::ranges::is_sorted(snapshot.devices, {}, &Device::name), "devices are not in order");
  for (const Device& device : snapshot.devices) {
    require(snapshot.find_device(device.name) == &device, "a device is not found by its name");
    for (const Register& item : device.registers) {
      const std::string name = item.name.substr(0, item.name.find('('));
      require(device.find(name) != nullptr && device.value(name).has_value(),
              "a register is not found by its name");
    }
  }
  for (const TraceBuffer& buffer : snapshot.buffers) {
    require(std::ranges::is_sorted(buffer.sources, {}, &TraceSource::device),
            "sources are not in order");
    for (const TraceSource& source : buffer.sources) {
      require(source.device_index == TraceSource::kNoDevice ||
                  snapshot.devices[source.device_index].name == source.device,
              "a source has another device");
      require(source.core_index == TraceSource::kNoDevice ||
                  snapshot.devices[source.core_index].name == source.core,
              "a source has another core");
    }
  }
}

// Text that the writer accepts is read back unchanged.
void check_writer(const Snapshot& snapshot) {
  const Result<std::vector<SnapshotText>> texts = snapshot_texts(snapshot);
  if (!texts) return;
  std::vector<Problem> problems;
  const SnapshotStore store{[&](const std::string& path) -> Result<std::string> {
                              const auto at = std::ranges::find(*texts, path, &SnapshotText::name);
                              if (at == texts->end()) return fail(ErrorCode::kNotFound, "absent");
                              return at->text;
                            },
                            [](const std::string&) -> std::optional<std::uint64_t> { return 16; }};
  const Result<Snapshot> again = read_snapshot("", store, problems);
  require(again.has_value(), "what was written is not a snapshot");
  require(again->devices.size() == snapshot.devices.size(), "devices were not written");
  require(again->buffers.size() == snapshot.buffers.size(), "buffers were not written");
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
    const Device& before = snapshot.devices[i];
    const Device& after = again->devices[i];
    require(before.name == after.name && before.type == after.type, "a device was changed");
    require(before.registers.size() == after.registers.size(), "registers were not written");
    require(before.dumps.size() == after.dumps.size(), "dumps were not written");
    require(before.extended_registers == after.extended_registers,
            "the register names were changed");
  }
  for (std::size_t i = 0; i < snapshot.buffers.size(); ++i) {
    require(snapshot.buffers[i].name == again->buffers[i].name, "a buffer has another name");
    require(snapshot.buffers[i].file == again->buffers[i].file, "a buffer has another file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Store files(cut({reinterpret_cast<const char*>(data), size}));
  const SnapshotStore store{[&](const std::string& path) { return files.read(path); },
                            [](const std::string& path) -> std::optional<std::uint64_t> {
                              if (path.size() % 4 == 3) return std::nullopt;
                              return path.size() * 16;
                            }};
  std::vector<Problem> problems;
  const Result<Snapshot> snapshot = read_snapshot("", store, problems);
  require(problems.size() <= kMaxProblems, "too many problems");
  for (const Problem& problem : problems)
    require(!problem.sentence.empty(), "a problem without a text");
  if (!snapshot) {
    require(!snapshot.error().detail.empty(), "an error without a text");
    return 0;
  }
  check(*snapshot);
  check_writer(*snapshot);
  return 0;
}
