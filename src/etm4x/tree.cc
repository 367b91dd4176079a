#include "waymark/etm4x/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "waymark/etm4x/sysfs_text.h"

namespace waymark::etm4x {
namespace {

constexpr long kSysfsMagic = 0x62656572;
constexpr std::size_t kMostText = 65536;  // One page on any machine.

std::string system_words(int error) {
  // errno 524 exists only in the kernel and has no text.
  if (error == static_cast<int>(Errno::kNotSupp)) return "not supported (ENOTSUPP)";
  return std::generic_category().message(error);
}

class FileTree final : public DeviceTree {
 public:
  FileTree(std::string root, bool is_live) : root_(std::move(root)), live_(is_live) {}

  Result<std::string> read(std::string_view path) override {
    const std::string full = full_path(path);
    const auto opened = open_regular(full, O_RDONLY, "read");
    if (!opened) return std::unexpected(opened.error());
    const int file = *opened;
    std::string text(kMostText, '\0');
    const ssize_t size = ::read(file, text.data(), text.size());
    const int error = errno;
    close(file);
    if (size < 0) return refused(full, error, "read");
    text.resize(static_cast<std::size_t>(size));
    return text;
  }

  Result<void> write(std::string_view path, std::string_view text) override {
    const std::string full = full_path(path);
    return write_to(full, text, O_WRONLY | O_TRUNC);
  }

  Result<void> create(std::string_view path, std::string_view text) override {
    return write_to(full_path(path), text, O_WRONLY | O_CREAT | O_TRUNC);
  }

  Result<void> remove(std::string_view path) override {
    const std::string full = full_path(path);
    if (unlink(full.c_str()) != 0) return refused(full, errno, "removed");
    return {};
  }

  [[nodiscard]] bool live() const override { return live_; }

  std::vector<std::string> units() override {
    std::vector<std::pair<unsigned long, std::string>> found;
    DIR* folder = opendir(root_.c_str());
    if (folder == nullptr) return {};
    // No other thread uses this stream, so that readdir() is safe.
    while (const dirent* entry = readdir(folder)) {  // NOLINT(concurrency-mt-unsafe)
      const std::string name = entry->d_name;
      if (!name.starts_with("etm") && !name.starts_with("ete")) continue;
      const auto number = strict_number(std::string_view(name).substr(3), 10);
      if (number) found.emplace_back(*number, name);
    }
    closedir(folder);
    std::ranges::sort(found);
    std::vector<std::string> names;
    names.reserve(found.size());
    for (auto& [number, name] : found) names.push_back(std::move(name));
    return names;
  }

 private:
  // Opening a FIFO could wait, and opening a device could have an effect.
  static Result<int> open_regular(const std::string& full, int flags, std::string_view verb) {
    struct stat entry{};
    const bool exists = stat(full.c_str(), &entry) == 0;
    if (!exists && (errno != ENOENT || (flags & O_CREAT) == 0)) return refused(full, errno, verb);
    if (exists && !S_ISREG(entry.st_mode)) return not_regular(full, verb);
    constexpr mode_t kMode = 0666;
    const int file = open(full.c_str(), flags | O_NONBLOCK | O_CLOEXEC, kMode);
    if (file < 0) return refused(full, errno, verb);
    if (fstat(file, &entry) == 0 && S_ISREG(entry.st_mode)) return file;
    close(file);
    return not_regular(full, verb);
  }

  static std::unexpected<Error> not_regular(const std::string& full, std::string_view verb) {
    return fail(ErrorCode::kIo,
                fmt::format("{} cannot be {}: it is not a regular file, as the files of a trace "
                            "unit are.",
                            full, verb));
  }

  static Result<void> write_to(const std::string& full, std::string_view text, int flags) {
    const auto opened = open_regular(full, flags, "written");
    if (!opened) return std::unexpected(opened.error());
    const int file = *opened;
    const ssize_t size = ::write(file, text.data(), text.size());
    const int error = size < 0 ? errno : ENOSPC;
    const bool closed = close(file) == 0;
    if (size != static_cast<ssize_t>(text.size())) return refused(full, error, "written");
    if (!closed) return refused(full, errno, "written");
    return {};
  }

  [[nodiscard]] std::string full_path(std::string_view path) const {
    return fmt::format("{}/{}", root_, path);
  }
  static std::unexpected<Error> refused(const std::string& path, int error, std::string_view verb) {
    const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
    const char* remedy = error == EACCES ? " Run as root." : "";
    return fail(code,
                fmt::format("{} cannot be {}: {}.{}", path, verb, system_words(error), remedy));
  }

  std::string root_;
  bool live_;
};

Result<std::uint64_t> number_in(std::string_view text, std::string_view path, unsigned base) {
  const auto value = strict_number(text, base);
  if (value) return *value;
  return fail(ErrorCode::kParse, fmt::format("{} holds '{}', which is not a number.", path,
                                             text.substr(0, text.find('\n'))));
}

}  // namespace

Result<void> DeviceTree::create(std::string_view path, std::string_view) {
  return fail(ErrorCode::kUnsupported, fmt::format("{} cannot be created in this tree.", path));
}

Result<void> DeviceTree::remove(std::string_view path) {
  return fail(ErrorCode::kUnsupported, fmt::format("{} cannot be removed from this tree.", path));
}

Result<std::unique_ptr<DeviceTree>> open_device_tree(const std::string& root) {
  struct stat entry{};
  if (stat(root.c_str(), &entry) != 0 || !S_ISDIR(entry.st_mode)) {
    return fail(ErrorCode::kNotFound, fmt::format("There is no folder {}. Name the folder of the "
                                                  "CoreSight devices or a copy of it, with --root.",
                                                  root));
  }
  struct statfs system{};
  const bool is_live = statfs(root.c_str(), &system) == 0 && system.f_type == kSysfsMagic;
  return std::unique_ptr<DeviceTree>(std::make_unique<FileTree>(root, is_live));
}

Result<std::uint64_t> read_number(DeviceTree& tree, std::string_view path, unsigned base) {
  const auto text = tree.read(path);
  if (!text) return std::unexpected(text.error());
  return number_in(*text, path, base);
}

Result<IdRegisters> read_ids(DeviceTree& tree, std::string_view unit) {
  IdRegisters id;
  for (unsigned i = 0; i < id.idr.size(); ++i) {
    const auto value = read_number(tree, fmt::format("{}/trcidr/trcidr{}", unit, i));
    if (!value) return std::unexpected(value.error());
    id.idr[i] = static_cast<std::uint32_t>(*value);
  }
  const auto devarch = read_number(tree, fmt::format("{}/mgmt/trcdevarch", unit));
  if (devarch) {
    id.devarch = static_cast<std::uint32_t>(*devarch);
  } else if (devarch.error().code == ErrorCode::kNotFound) {
    id.devarch = 0x47704A13 | (id.idr[1] >> 4 & 0xF) << 16;
  } else {
    return std::unexpected(devarch.error());
  }
  const auto optional = [&](std::string_view file, std::uint32_t& value) {
    const auto read = read_number(tree, fmt::format("{}/{}", unit, file));
    if (read) value = static_cast<std::uint32_t>(*read);
  };
  for (unsigned i = 0; i < id.idr8.size(); ++i) {
    optional(fmt::format("trcidr/trcidr{}", i + 8), id.idr8[i]);
  }
  for (unsigned i = 0; i < id.mgmt.pidr.size(); ++i) {
    optional(fmt::format("mgmt/trcpidr{}", i), id.mgmt.pidr[i]);
  }
  optional("mgmt/trcpdsr", id.mgmt.pdsr);
  optional("mgmt/trclsr", id.mgmt.lsr);
  optional("mgmt/trcauthstatus", id.mgmt.authstatus);
  optional("mgmt/trcdevid", id.mgmt.devid);
  optional("mgmt/trcdevtype", id.mgmt.devtype);
  optional("mgmt/trcoslsr", id.mgmt.oslsr);
  return id;
}

}  // namespace waymark::etm4x
