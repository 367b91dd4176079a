// Reading what the driver holds, file by file.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "waymark/etm4x/files.h"
#include "waymark/etm4x/tree.h"

namespace waymark::etm4x {
namespace {

std::string without_newline(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// A setting with the place of its slot.
class Capture {
 public:
  Capture(DeviceTree& tree, std::string_view unit, const Capabilities& caps, bool walk)
      : tree_(tree), unit_(unit), caps_(caps), walk_(walk && tree.live()) {}

  Result<std::vector<SysfsWrite>> run() {
    add("reset", "1");
    keep("pe");
    // mode sets much of what the files below refine.
    if (!keep("mode")) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}/mode cannot be read: this is no folder of an ETMv4.", unit_));
    }
    for (const auto file :
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
    if (!text) return std::nullopt;
    return without_newline(std::move(*text));
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

  // Calls `visit` with each slot selected; the index file ends as it was.
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
    // 0 stands for "never written" in res_idx, and cannot be written: the first slot is as good.
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
    each_slot("addr_idx", 0, caps_.nr_addr_cmp * 2, [&](unsigned index) {
      const auto view = read("addr_cmp_view");
      if (!view) return;
      comparator(*view, index);
      keep("addr_ctxtype");
      keep("addr_exlevel_s_ns");
      if (std::max(caps_.numcidc, caps_.numvmidc) > 1) keep("addr_context");
    });
  }

  // "addr_cmp[0] range 0x1 0x2 include ctrl(0x0)".
  void comparator(std::string_view view, unsigned index) {
    const auto word = [&view] {
      const std::string_view found = first_word(view);
      if (!found.empty()) {
        view.remove_prefix(static_cast<std::size_t>(found.data() + found.size() - view.data()));
      }
      return std::string(found);
    };
    word();
    const std::string tag = word();
    if (tag == "single" || tag == "start" || tag == "stop") {
      add("addr_" + tag, word());
    } else if (tag == "range" && index % 2 == 0) {
      const std::string first = word();
      const std::string last = word();
      add("addr_range", fmt::format("{} {} {}", first, last, word() == "exclude" ? 1 : 0));
    }
  }

  DeviceTree& tree_;
  std::string_view unit_;
  const Capabilities& caps_;
  bool walk_;
  std::vector<SysfsWrite> settings_;
  std::optional<Error> failure_;  ///< Of a walk: what was seen is not all.
};

}  // namespace

Result<std::vector<SysfsWrite>> capture_settings(DeviceTree& tree, std::string_view unit,
                                                 const Capabilities& caps, bool walk) {
  return Capture(tree, unit, caps, walk).run();
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
  // -1 where the core has no such filter.
  found.has_trf = number("ts_source", 10).has_value();
  const bool ete = (id.devarch >> 12 & 0xF) == 5;
  // A part of the registers of mgmt/, as a driver shows it that has no memory to read them from.
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
    // What this model refuses, such as a threshold below the smallest, was never written.
    static_cast<void>(unit.write(setting.file, setting.value));
  }
  return unit.image();
}

}  // namespace waymark::etm4x
