#include "waymark/base/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <utility>

namespace waymark {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(std::exchange(ends[end], -1));
  }
  std::array<int, 2> ends{};
};

/// The status of a child that runs `body` and then exits with its result.
template <typename Body>
int status_of(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(StandardStreams, APipeWithoutReaderIsAnErrorAndNoSignal) {
  const int status = status_of([] {
    (void)std::signal(SIGPIPE, SIG_DFL);
    Pipe pipe;
    pipe.close_end(0);
    if (write_all(pipe.ends[1], "text") != EPIPE) return 1;
    // The signal is not pending either: the program's own writes raise it as before.
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1 ? 2 : 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(StandardStreams, WhateverStandardErrorIsNothingHappens) {
  for (const char* place : {"", "/dev/full"}) {
    const int status = status_of([place] {
      ::close(STDERR_FILENO);
      if (*place != '\0') (void)::open(place, O_WRONLY);
      errno = 77;
      write_to_standard_error("lost");
      return errno == 77 ? 0 : 1;
    });
    EXPECT_EQ(status, 0) << place;
  }
}

TEST(StandardStreams, WaitsForADescriptorThatDoesNotBlock) {
  Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK), 0);
  const std::string text(std::size_t{1} << 20, 'x');
  std::string read;
  std::thread reader([&] {
    std::array<char, 4096> block{};
    while (read.size() < text.size()) {
      const ssize_t count = ::read(pipe.ends[0], block.data(), block.size());
      if (count <= 0) return;
      read.append(block.data(), static_cast<std::size_t>(count));
    }
  });
  EXPECT_EQ(write_all(pipe.ends[1], text), 0);
  reader.join();
  EXPECT_EQ(read, text);
}

TEST(StandardStreams, ClosedDescriptorsAreOccupiedAndStillFail) {
  const int status = status_of([] {
    for (int descriptor = 0; descriptor < 3; ++descriptor) ::close(descriptor);
    occupy_standard_descriptors();
    const int next = ::open("/dev/null", O_WRONLY);
    if (next < 3) return 1;
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) != -1) return 2;
    if (write_all(STDOUT_FILENO, "text") != EBADF) return 3;
    return write_all(STDERR_FILENO, "text") == EBADF ? 0 : 4;
  });
  EXPECT_EQ(status, 0);
}

TEST(StandardStreams, OpenDescriptorsAreLeftAlone) {
  const int status = status_of([] {
    Pipe pipe;
    ::dup2(pipe.ends[1], STDERR_FILENO);
    occupy_standard_descriptors();
    write_to_standard_error("x");
    char byte = 0;
    return ::read(pipe.ends[0], &byte, 1) == 1 && byte == 'x' ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace waymark
