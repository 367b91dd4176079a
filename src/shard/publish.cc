// Files that are whole or absent, whatever kills the process or the machine.
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "waymark/base/escape.h"
#include "waymark/shard/folder.h"

namespace waymark::shard {
namespace {

std::unexpected<Error> cannot(std::string_view what, const std::string& path, int code) {
  return fail(
      ErrorCode::kIo,
      fmt::format(
          "Cannot {} {}: {}. Check the free space and the permissions there, and try again.", what,
          escaped(path), std::generic_category().message(code)));
}

Result<void> write_all(int descriptor, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return cannot("write", path, written < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  // Some file systems report a full disk only here, or in close().
  if (::fsync(descriptor) != 0) return cannot("write", path, errno);
  return {};
}

/// So that the name is there after a loss of power.  Not every file system can do it.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);
  (void)::close(descriptor);
}

/// 0: done; EEXIST: there is a file of this name; another error.
int rename_to_new_name(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // NFS and others: a second name, then without the first.
  if (::link(from.c_str(), to.c_str()) != 0) {
    const int code = errno;
    // If the reply of a server is lost, link() fails although it was done.
    struct stat status{};
    if (::stat(from.c_str(), &status) != 0 || status.st_nlink != 2) return code;
  }
  (void)::unlink(from.c_str());
  return 0;
}

}  // namespace

Result<bool> publish(const std::string& temporary, const std::string& path,
                     std::string_view bytes) {
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) return cannot("write", temporary, errno);
  auto written = write_all(descriptor, temporary, bytes);
  if (::close(descriptor) != 0 && written) written = cannot("write", temporary, errno);
  if (!written) {
    (void)::unlink(temporary.c_str());
    return std::unexpected(written.error());
  }
  const int code = rename_to_new_name(temporary, path);
  if (code != 0) (void)::unlink(temporary.c_str());
  if (code == EEXIST) return false;
  if (code != 0) return cannot("make", path, code);
  sync_folder_of(path);
  return true;
}

Result<void> move_into_place(const std::string& temporary, const std::string& path) {
  const int descriptor = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return cannot("write", temporary, errno);
  const int code = ::fsync(descriptor) == 0 ? 0 : errno;
  (void)::close(descriptor);
  if (code != 0) return cannot("write", temporary, code);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return cannot("make", path, errno);
  sync_folder_of(path);
  return {};
}

}  // namespace waymark::shard
