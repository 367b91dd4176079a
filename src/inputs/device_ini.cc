// Device ini files; snapshot-format.md 3.
#include <fmt/core.h>

#include <map>
#include <set>
#include <utility>

#include "ini_parser.h"

namespace waymark::inputs {
namespace {

enum class Section : std::uint8_t { kNone, kDevice, kRegisters, kDump, kGlobal, kExtended, kOther };

Section section_of(std::string_view name) {
  if (name == "device") return Section::kDevice;
  if (name == "regs") return Section::kRegisters;
  if (name.starts_with("dump")) return Section::kDump;
  if (name == "global") return Section::kGlobal;
  if (name == "extendregs") return Section::kExtended;
  return Section::kOther;
}

class DeviceParser {
 public:
  DeviceParser(const std::string& file, std::string_view text, std::vector<Problem>& problems)
      : parser_(file, text, problems) {}

  Result<Device> run() {
    WAYMARK_TRY(parser_.read_sections(*this));
    return finish();
  }

 private:
  friend inputs::IniParser;

  Result<void> start_section() {
    const IniLine& line = parser_.line();
    section_ = section_of(line.key);
    if (section_ == Section::kDump) {
      if (device_.dumps.size() == kMaxDumpsPerDevice)
        return parser_.limit("dump sections", kMaxDumpsPerDevice);
      dump_ = {};
      dump_keys_ = {};
      dump_.section = line.key;
      dump_.line = line.number;
    } else if (section_ == Section::kGlobal) {
      if (has_global_) return parser_.error("There is a second section `[global]`; join the two.");
      has_global_ = true;
    } else if (section_ == Section::kOther && !line.key.empty()) {
      parser_.problem(ProblemKind::kUnknownSection, Severity::kInfo, line.number,
                      fmt::format("Section {} is not known and is ignored; names are "
                                  "case-sensitive.",
                                  in_quotes(line.key)),
                      {std::string(line.key)});
    }
    return {};
  }

  Result<void> finish_section() {
    if (section_ != Section::kDump) return {};
    section_ = Section::kOther;
    if (!dump_keys_.file) {
      return parser_.error(dump_.line,
                           "The dump section has no `file`; add `file=<name of the dump>`.");
    }
    if (!dump_keys_.address) {
      return parser_.error(
          dump_.line,
          "The dump section has no `address`; add `address=0x<where it is in target memory>`.");
    }
    parser_.check_path(dump_.file, dump_.line);
    device_.dumps.push_back(std::move(dump_));
    return {};
  }

  Result<void> entry() {
    if (section_ == Section::kOther) return {};
    WAYMARK_TRY(parser_.need_entry());
    switch (section_) {
      case Section::kDevice:
        return device_entry();
      case Section::kRegisters:
        return register_entry();
      case Section::kDump:
        return dump_entry();
      case Section::kGlobal:
        return global_entry();
      case Section::kExtended:
        return extended_entry();
      case Section::kNone:
      case Section::kOther:
        break;
    }
    return parser_.error(
        fmt::format("{} is before the first section; move it below its header, such as `[device]`.",
                    in_quotes(parser_.line().key)));
  }

  Result<void> device_entry() {
    const std::string_view key = parser_.line().key;
    if (key == "name") return parser_.set_once(name_);
    if (key == "class") return parser_.set_once(class_);
    if (key == "type") return parser_.set_once(type_);
    return {};
  }

  Result<void> register_entry() {
    const IniLine& line = parser_.line();
    if (registers_.size() == kMaxRegistersPerDevice)
      return parser_.limit("registers", kMaxRegistersPerDevice);
    const std::string text(ini_unquote(line.value));
    const auto [at, added] = registers_.try_emplace(
        std::string(line.key), Register{std::string(line.key), text, line.number});
    if (!added) {
      return parser_.error(
          fmt::format("Register {} is given twice, first in line {} as {}; remove one of the two.",
                      in_quotes(line.key), at->second.line, in_quotes(at->second.name)));
    }
    if (!ini_number(text)) {
      parser_.problem(ProblemKind::kRegisterNotNumber, Severity::kWarning, line.number,
                      fmt::format("The value {} of {} is not a number and reads as 0x{:X}.",
                                  in_quotes(text), in_quotes(line.key), ini_number_prefix(text)),
                      {std::string(line.key), text});
    }
    const std::string_view name = line.key.substr(0, line.key.find('('));
    if (name != ini_trim(name)) {
      parser_.problem(ProblemKind::kRegisterNameBlank, Severity::kWarning, line.number,
                      fmt::format("The space before the bracket is part of the name of {}, so the "
                                  "register is not found; remove it.",
                                  in_quotes(line.key)),
                      {std::string(line.key)});
    }
    return {};
  }

  Result<void> dump_entry() {
    const IniLine& line = parser_.line();
    if (line.key == "file") {
      WAYMARK_TRY(parser_.set_once(dump_keys_.file));
      dump_.file = ini_unquote(line.value);
      return {};
    }
    if (line.key == "space") {
      WAYMARK_TRY(parser_.set_once(dump_keys_.space));
      dump_.space = ini_unquote(line.value);
      return {};
    }
    if (line.key == "address") return dump_number(dump_keys_.address, dump_.address);
    if (line.key == "length") return dump_number(dump_keys_.length, dump_.length);
    if (line.key == "offset") return dump_number(dump_keys_.offset, dump_.offset);
    return parser_.error(
        fmt::format("A dump section has no key {}; it has `file`, `address`, "
                    "`length`, `offset` and `space`.",
                    in_quotes(line.key)));
  }

  Result<void> dump_number(std::optional<std::string>& slot, std::uint64_t& value) {
    WAYMARK_TRY(parser_.set_once(slot));
    const Result<std::uint64_t> number = parser_.number();
    if (!number) return std::unexpected(number.error());
    value = *number;
    return {};
  }

  Result<void> global_entry() {
    if (parser_.line().key == "core") return parser_.set_once(global_core_);
    return parser_.error(fmt::format("Section `[global]` has no key {}; it has `core` only.",
                                     in_quotes(parser_.line().key)));
  }

  Result<void> extended_entry() {
    const IniLine& line = parser_.line();
    if (extended_.size() == kMaxRegistersPerDevice)
      return parser_.limit("extended registers", kMaxRegistersPerDevice);
    const Result<std::uint64_t> number = parser_.number(line.key);
    if (!number) return std::unexpected(number.error());
    const Result<std::uint64_t> value = parser_.number();
    if (!value) return std::unexpected(value.error());
    const bool added =
        extended_
            .try_emplace(static_cast<std::uint32_t>(*number), static_cast<std::uint32_t>(*value))
            .second;
    if (!added) {
      return parser_.error(fmt::format(
          "Extended register {} is given twice; remove one of the two.", in_quotes(line.key)));
    }
    return {};
  }

  Result<Device> finish() {
    if (name_.value_or("").empty()) {
      parser_.problem(
          ProblemKind::kDeviceNameMissing, Severity::kWarning, 0,
          "The device has no name, so no trace source can name it; add `name=<device>` below "
          "`[device]`.",
          {});
    }
    device_.name = name_.value_or("");
    device_.class_name = class_.value_or("");
    device_.type = type_.value_or("");
    device_.global_core = global_core_.value_or("");
    device_.registers.reserve(registers_.size());
    for (auto& [name, value] : registers_) device_.registers.push_back(std::move(value));
    device_.extended_registers.assign(extended_.begin(), extended_.end());
    return std::move(device_);
  }

  struct DumpKeys {
    std::optional<std::string> file, address, length, offset, space;
  };

  IniParser parser_;
  Device device_;
  Section section_ = Section::kNone;
  Dump dump_;
  DumpKeys dump_keys_;
  bool has_global_ = false;
  std::optional<std::string> name_, class_, type_, global_core_;
  std::map<std::string, Register, CaseIgnored> registers_;
  std::map<std::uint32_t, std::uint32_t> extended_;
};

}  // namespace

Result<Device> parse_device_ini(const std::string& file, std::string_view text,
                                std::vector<Problem>& problems) {
  return DeviceParser(file, text, problems).run();
}

}  // namespace waymark::inputs
