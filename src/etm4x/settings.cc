// Reads the driver's settings file by file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "waymark/etm4x/files.h"
#include "waymark/etm4x/tree.h"

namespace waymark::etm4x {
namespace {

std::string without_newline(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

constexpr std::string_view kComparatorFiles[] = {"addr_single", "addr_range", "addr_start",
                                                 "addr_stop"};

// Without its end: "addr_cmp[0] range 0x1 0x2 include ctrl(0x0)".
struct View {
  std::string tag{};
  std::string first{};
  std::string last{};  // The end of a range.
  bool exclude = false;

  static View of(std::string_view text) {
    const auto word = [&text] {
      const std::string_view found = first_word(text);
      if (!found.empty()) {
        text.remove_prefix(static_cast<std::size_t>(found.data() + found.size() - text.data()));
      }
      return std::string(found);
    };
    View view;
    word();
    view.tag = word();
    if (view.tag == "unused") return view;
    view.first = word();
    if (view.tag != "range") return view;
    view.last = word();
    view.exclude = word() == "exclude";
    return view;
  }

  [[nodiscard]] std::string file() const { return "addr_" + tag; }
  [[nodiscard]] std::string value() const {
    return tag == "range" ? fmt::format("{} {} {}", first, last, exclude ? 1 : 0) : first;
  }
};

// A setting, and where its slot is stored.
class Capture {
 public:
  Capture(DeviceTree& tree, std::string_view unit, const Capabilities& caps, bool walk)
      : tree_(tree), unit_(unit), caps_(caps), walk_(walk && tree.live()) {}

  /// In a copy, addr_cmp_view can disagree with the files that were written after it.
  [[nodiscard]] bool stale() const { return stale_; }

  Result<std::vector<SysfsWrite>> run() {
    add("reset", "1");
    keep("pe");
    // The file mode sets much of what the files below refine.
    if (const auto mode = tree_.read(fmt::format("{}/mode", unit_)); !mode) {
      return fail(mode.error().code,
                  fmt::format("{} Every folder of an ETMv4 has this file.", mode.error().detail));
    }
    keep("mode");
    for (const char* const file :
         {"event_vinst", "s_exlevel_vinst", "ns_exlevel_vinst", "syncfreq", "cyc_threshold",
          "bb_ctrl", "event_ts", "event", "event_instren", "vinst_pe_cmp_start_stop"}) {
      keep(file);
    }
    slots("ctxid_idx", 0, caps_.numcidc, {"ctxid_pid"});
    slots("vmid_idx", 0, caps_.numvmidc, {"vmid_val"});
    if (caps_.numcidc != 0) keep("ctxid_masks");
    if (caps_.numvmidc != 0) keep("vmid_masks");
    comparators();
    slots("cntr_idx", 0, caps_.nr_cntr, {"cntrldvr", "cntr_val", "cntr_ctrl"});
    slots("res_idx", 2, caps_.nr_resource * 2, {"res_ctrl"});
    slots("seq_idx", 0, caps_.nr_seq_ctrls, {"seq_event"});
    if (caps_.nrseqstate != 0) {
      keep("seq_reset_event");
      keep("seq_state");
    }
    slots("sshot_idx", 0, caps_.nr_ss_cmp, {"sshot_ctrl", "sshot_pe_ctrl"});
    if (failure_) return std::unexpected(std::move(*failure_));
    return std::move(settings_);
  }

 private:
  std::optional<std::string> read(std::string_view file) {
    auto text = tree_.read(fmt::format("{}/{}", unit_, file));
    if (text) return without_newline(std::move(*text));
    // A driver refuses to show some files.  In a copy, only a fault has this effect.
    if (!tree_.live() && text.error().code != ErrorCode::kNotFound && !failure_) {
      failure_ = text.error();
    }
    return std::nullopt;
  }
  void add(std::string_view file, std::string value) {
    settings_.push_back({std::string(file), std::move(value), 0});
  }
  bool keep(std::string_view file) {
    auto text = read(file);
    if (!text) return false;
    add(file, std::move(*text));
    return true;
  }

  // Calls `visit` with each slot selected, and then restores the index file.
  template <class Visit>
  void each_slot(std::string_view index, unsigned first, unsigned end, Visit visit) {
    if (first >= end) return;
    const auto selected = read(index);
    if (!selected) return;
    const std::string path = fmt::format("{}/{}", unit_, index);
    if (!walk_) {
      const auto number = strict_number(*selected, 16);
      if (!number || *number < first || *number >= end) return;
      add(index, *selected);
      visit(static_cast<unsigned>(*number));
      return;
    }
    for (unsigned i = first; i < end; ++i) {
      if (auto done = tree_.write(path, fmt::format("0x{:x}\n", i)); !done) {
        failure_ = std::move(done).error();
        break;
      }
      add(index, fmt::format("0x{:x}", i));
      visit(i);
    }
    // In res_idx, 0 means "never written" and cannot be written; the first slot serves instead.
    const auto number = strict_number(*selected, 16);
    const std::uint64_t back = number && *number >= first && *number < end ? *number : first;
    static_cast<void>(tree_.write(path, fmt::format("0x{:x}\n", back)));
    add(index, fmt::format("0x{:x}", back));
  }

  void slots(std::string_view index, unsigned first, unsigned end,
             std::initializer_list<std::string_view> files) {
    each_slot(index, first, end, [&](unsigned) {
      for (const std::string_view file : files) keep(file);
    });
  }

  void comparators() {
    if (!tree_.live()) {
      comparators_of_copy();
      return;
    }
    each_slot("addr_idx", 0, caps_.nr_addr_cmp * 2, [&](unsigned index) {
      const auto view = read("addr_cmp_view");
      if (!view) return;
      comparator(View::of(*view), index);
      controls();
    });
  }

  void controls() {
    keep("addr_ctxtype");
    keep("addr_exlevel_s_ns");
    if (std::max(caps_.numcidc, caps_.numvmidc) > 1) keep("addr_context");
  }

  // Reads the selected comparator.  A walk sees a range at its even half.
  void comparator(const View& view, unsigned index) {
    if (view.tag == "unused") return;
    const bool odd_half = view.tag == "range" && index % 2 != 0;
    if (odd_half && walk_) return;
    if (odd_half) add("addr_idx", fmt::format("0x{:x}", index - 1));
    add(view.file(), view.value());
    if (odd_half) add("addr_idx", fmt::format("0x{:x}", index));
  }

  // Only a driver keeps addr_cmp_view up to date.  If it disagrees with the files that hold
  // addresses, those were written later, each for a comparator that is no longer known.
  void comparators_of_copy() {
    const unsigned end = caps_.nr_addr_cmp * 2;
    const auto text = read("addr_idx");
    const auto number = text ? strict_number(*text, 16) : std::unexpected(Errno::kInval);
    const unsigned selected = number && *number < end ? static_cast<unsigned>(*number) : 0;
    std::vector<std::pair<std::string, ScannedNumbers>> values;
    for (const std::string_view file : kComparatorFiles) {
      const auto held = read(file);
      const ScannedNumbers numbers = scan_hex(held.value_or(""), 3);
      if (numbers.count == 0 || (numbers.value[0] == 0 && numbers.value[1] == 0)) continue;
      values.emplace_back(file, numbers);
    }
    if (end == 0) return;
    add("addr_idx", fmt::format("0x{:x}", selected));
    const auto view_text = read("addr_cmp_view");
    const View view = View::of(view_text.value_or("addr_cmp[0] unused"));
    if (agrees(view, values)) {
      comparator(view, selected);
    } else {
      stale_ = view_text.has_value();
      place(values, selected, end);
    }
    controls();
  }

  static bool agrees(const View& view,
                     const std::vector<std::pair<std::string, ScannedNumbers>>& values) {
    const ScannedNumbers shown = scan_hex(fmt::format("{} {}", view.first, view.last), 2);
    return std::ranges::all_of(values, [&](const auto& held) {
      return held.first == view.file() && held.second.value[0] == shown.value[0] &&
             (view.tag != "range" || held.second.value[1] == shown.value[1]);
    });
  }

  // Gives each value to a free comparator, the selected one first.
  void place(const std::vector<std::pair<std::string, ScannedNumbers>>& values, unsigned selected,
             unsigned end) {
    std::array<bool, kAddressComparators> used{};
    for (const auto& [file, numbers] : values) {
      const bool range = file == "addr_range";
      const unsigned step = range ? 2 : 1;
      const unsigned first = range ? selected & ~1U : selected;
      for (unsigned tried = 0; tried < end; tried += step) {
        const unsigned at = (first + tried) % end;
        if (used[at] || (range && used[at + 1])) continue;
        used[at] = true;
        if (range) used[at + 1] = true;
        add("addr_idx", fmt::format("0x{:x}", at));
        add(file, range ? fmt::format("0x{:x} 0x{:x} {}", numbers.value[0], numbers.value[1],
                                      numbers.value[2] != 0 ? 1 : 0)
                        : fmt::format("0x{:x}", numbers.value[0]));
        break;
      }
    }
    add("addr_idx", fmt::format("0x{:x}", selected));
  }

  DeviceTree& tree_;
  std::string_view unit_;
  const Capabilities& caps_;
  bool walk_;
  std::vector<SysfsWrite> settings_;
  std::optional<Error> failure_;  ///< The settings are incomplete.
  bool stale_ = false;
};

// --- The record of apply_plan(): a header, then a line "FILE VALUE" for each write. ---

constexpr std::string_view kRecordHeader = "waymark etm4 settings 1";

std::optional<std::vector<SysfsWrite>> parse_record(std::string_view text) {
  std::vector<SysfsWrite> writes;
  bool header = true;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (std::exchange(header, false)) {
      if (line != kRecordHeader) return std::nullopt;
      continue;
    }
    const std::size_t blank = line.find(' ');
    const FileRow* row = find_file(line.substr(0, blank));
    if (blank == std::string_view::npos || row == nullptr || row->store == nullptr) {
      return std::nullopt;
    }
    writes.push_back({std::string(row->name), std::string(line.substr(blank + 1)), 0});
  }
  return writes;
}

/// The file that does not hold what the writes leave in it; empty: all files do.
std::string_view changed_since(DeviceTree& tree, std::string_view unit,
                               const std::vector<SysfsWrite>& writes, const IdRegisters& id,
                               const Environment& environment) {
  Unit model(id, environment);
  std::map<std::string_view, std::string_view> written;
  for (const SysfsWrite& write : writes) {
    if (!model.write(write.file, write.value)) return find_file(write.file)->name;
    written[write.file] = write.value;
  }
  for (const FileRow& row : file_table()) {
    if (row.store == nullptr || row.show == nullptr || row.name == "enable_source") continue;
    auto held = tree.read(fmt::format("{}/{}", unit, row.name));
    const auto shown = model.read(row.name);
    if (!held || !shown) continue;
    const std::string text = without_newline(std::move(*held));
    const auto last = written.find(row.name);
    if (text != without_newline(*shown) && (last == written.end() || text != last->second)) {
      return row.name;
    }
  }
  return {};
}

}  // namespace

std::string record_text(const std::vector<SysfsWrite>& writes) {
  std::string text = fmt::format("{}\n", kRecordHeader);
  for (const SysfsWrite& write : writes) text += fmt::format("{} {}\n", write.file, write.value);
  return text;
}

Result<std::vector<SysfsWrite>> capture_settings(DeviceTree& tree, std::string_view unit,
                                                 const Capabilities& caps, bool walk) {
  return Capture(tree, unit, caps, walk).run();
}

Result<Settings> read_settings(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                               const Environment& environment, bool walk) {
  Settings settings;
  if (!tree.live()) {
    const auto text = tree.read(fmt::format("{}/{}", unit, kRecordFile));
    auto record = text ? parse_record(*text) : std::nullopt;
    const std::string_view changed =
        record ? changed_since(tree, unit, *record, id, environment) : std::string_view();
    if (record && changed.empty()) {
      settings.writes = std::move(*record);
      settings.complete = true;
      return settings;
    }
    if (record) {
      settings.notes.push_back(
          fmt::format("{} was changed after `waymark etm4 apply`, so its record of all settings, "
                      "{}, is not used.",
                      changed, kRecordFile));
    } else if (text) {
      settings.notes.push_back(fmt::format("{} is damaged and not used.", kRecordFile));
    } else if (text.error().code != ErrorCode::kNotFound) {
      return std::unexpected(text.error());
    }
  }
  const Capabilities capabilities = read_capabilities(id, environment);
  Capture capture(tree, unit, capabilities, walk);
  auto writes = capture.run();
  if (!writes) return std::unexpected(writes.error());
  settings.writes = std::move(*writes);
  settings.complete = walk && tree.live();
  if (capture.stale()) {
    settings.notes.emplace_back(
        "addr_cmp_view disagrees with the address files of this copy, which were written later. "
        "Their values are used; which comparators they belong to is not known.");
  }
  if (!settings.complete) {
    settings.notes.emplace_back(
        tree.live() ? "Only the comparators, counters and selectors that the index files select "
                      "are known; --walk reads all of them."
                    : "In a copy, only the comparators, counters and selectors that the index "
                      "files select are known; on the live unit, --walk reads all of them.");
  }
  return settings;
}

Environment read_environment(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                             bool walk) {
  const auto number = [&](std::string_view file, unsigned base) {
    return read_number(tree, fmt::format("{}/{}", unit, file), base);
  };
  const auto missing = [&](std::string_view file) {
    const auto value = number(file, 16);
    return !value && value.error().code == ErrorCode::kNotFound;
  };
  Environment found;
  if (const auto cpu = number("cpu", 10)) found.cpu = static_cast<unsigned>(*cpu);
  // -1 if the core has no such filter.
  found.has_trf = number("ts_source", 10).has_value();
  const bool ete = (id.devarch >> 12 & 0xF) == 5;
  // A subset of the registers of mgmt/, as in a driver that has no memory from which to read them.
  const bool part =
      !missing("mgmt/trcoslsr") && missing("mgmt/trcpdcr") && missing("mgmt/trcpidr0");
  if (ete || part) found.access = RegisterAccess::kSystemRegisters;

  const Capabilities caps = read_capabilities(id, found);
  found.unknown_sscsr = 0xFF;
  const auto take = [&](unsigned shot) {
    const auto status = number("sshot_status", 16);
    if (!status) return;
    found.sscsr[shot] = static_cast<std::uint32_t>(*status);
    found.unknown_sscsr &= static_cast<std::uint8_t>(~(1U << shot));
  };
  const auto selected = number("sshot_idx", 16);
  if (!selected || *selected >= caps.nr_ss_cmp) return found;
  take(static_cast<unsigned>(*selected));
  if (!walk || !tree.live() || caps.nr_ss_cmp == 1) return found;
  const std::string index = fmt::format("{}/sshot_idx", unit);
  for (unsigned shot = 0; shot < caps.nr_ss_cmp; ++shot) {
    if (shot == *selected || !tree.write(index, fmt::format("0x{:x}\n", shot))) continue;
    take(shot);
  }
  static_cast<void>(tree.write(index, fmt::format("0x{:x}\n", *selected)));
  return found;
}

RegisterImage image_of_settings(const std::vector<SysfsWrite>& settings, const IdRegisters& id,
                                const Environment& environment) {
  Unit unit(id, environment);
  for (const SysfsWrite& setting : settings) {
    // The driver never had a value that the model refuses, such as a threshold below the smallest.
    static_cast<void>(unit.write(setting.file, setting.value));
  }
  return unit.image();
}

}  // namespace waymark::etm4x
