#include "index_access.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "command.h"
#include "exit_code.h"
#include "interrupt.h"
#include "progress.h"

namespace waymark::cli {
namespace {

/// Bytes of trace to begin with if not all of it may be needed.
constexpr std::uint64_t kFirstGoal = std::uint64_t{4} << 20;

/// SQLite writes a journal next to the file.
bool can_write(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) return false;
  return ::access(path.c_str(), F_OK) != 0 || ::access(path.c_str(), W_OK) == 0;
}

}  // namespace

void add_index_option(Command& command, std::string& path) {
  command
      .add_option("--index", path,
                  "the index to use; default: that of the capture, if `waymark index` made one")
      ->type_name("FILE");
}

std::vector<std::string> usual_index_places(const std::string& trace) {
  std::vector<std::string> places{index::store_path(trace)};
  if (std::string cached = index::cached_store_path(trace); !cached.empty())
    places.push_back(std::move(cached));
  return places;
}

std::string new_index_place(const std::string& trace) {
  std::string beside = index::store_path(trace);
  if (can_write(beside)) return beside;
  std::string cached = index::cached_store_path(trace);
  if (cached.empty()) return beside;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(cached).parent_path(), error);
  return error ? beside : cached;
}

KnownIdBytes IndexAccess::known_id_bytes() {
  return
      [this](const MappedFile& trace, inputs::Framing framing) -> std::optional<inputs::IdBytes> {
        open(trace, framing);
        if (!index_) return std::nullopt;
        return index_->header().id_bytes;
      };
}

void IndexAccess::drop(const std::string& sentence) {
  index_.reset();
  note(fmt::format("the index is not used: {}", sentence));
}

bool IndexAccess::give_up(const Error& error) {
  if (!index_ || index_->place().empty() || error.code != ErrorCode::kBadData) return false;
  drop(error.detail);
  return true;
}

void IndexAccess::open(const MappedFile& trace, inputs::Framing framing) {
  if (looked_) return;
  looked_ = true;
  const bool named = !path_.empty();
  const std::vector<std::string> places =
      named ? std::vector{path_} : usual_index_places(trace.path());
  std::string fault;
  for (const std::string& place : places) {
    auto opened = index::open_store(place, {.wait = {}, .stop = interrupted});
    if (interrupted()) return;
    std::string wrong;
    if (!opened) {
      const ErrorCode code = opened.error().code;
      const bool absent = code == ErrorCode::kNotFound || code == ErrorCode::kUnsupported;
      if (named || !absent) wrong = opened.error().detail;
    } else if (const index::Header& header = (*opened)->header(); !header.streams.empty()) {
      const std::uint64_t bytes = inputs::trace_bytes(framing, trace.size());
      if (header.indexed < bytes || (header.indexed == bytes && !header.complete)) {
        wrong = fmt::format("{} ends at byte {} of {}; `waymark index` continues it.", place,
                            header.indexed, bytes);
      } else if (const auto good =
                     index::check_file(trace, inputs::framing_name(framing), **opened, interrupted);
                 !good) {
        wrong = good.error().detail;
      } else {
        index_ = std::move(*opened);
        return;
      }
    }
    if (interrupted()) return;
    if (fault.empty()) fault = std::move(wrong);
  }
  if (!fault.empty()) drop(fault);
}

index::Index* IndexAccess::ready(const inputs::Capture& capture) {
  open(capture.trace(), capture.framing());
  if (!index_) return nullptr;
  if (const auto good = index::check_sources(capture, *index_); !good) drop(good.error().detail);
  return index_.get();
}

inputs::Capture* IndexAccess::scout(const inputs::Capture& capture) {
  if (scout_) return &*scout_;
  auto opened = open_capture(input_, {.decode = false}, false,
                             [&](const MappedFile& /*trace*/, inputs::Framing /*framing*/) {
                               return std::optional(capture.id_bytes());
                             });
  if (!opened) {
    code_ = opened.error();
    return nullptr;
  }
  scout_.emplace(std::move(*opened));
  return &*scout_;
}

std::vector<std::string> IndexAccess::input_files(const inputs::Capture& capture) const {
  if (!path_.empty()) return {path_};
  return usual_index_places(capture.trace().path());
}

index::Index* IndexAccess::get(const inputs::Capture& capture,
                               const std::function<bool(index::Index&)>& enough) {
  index::Index* const found = ready(capture);
  if (interrupted()) {
    code_ = kInterrupted;
    return nullptr;
  }
  if (found != nullptr) {
    if (enough) (void)enough(*found);
    return found;
  }
  inputs::Capture* const trace = scout(capture);
  if (trace == nullptr) return nullptr;
  index_ = index::make_memory_index();
  Progress progress(trace->trace_bytes());
  std::uint64_t goal = enough ? kFirstGoal : ~std::uint64_t{0};
  while (true) {
    const auto built = index::build(*trace, *index_, {.stop = [&](std::uint64_t done) {
      progress.at(done);
      return done >= goal || interrupted();
    }});
    if (!built) {
      code_ = complain(built.error().detail, kInput);
      return nullptr;
    }
    if (interrupted()) {
      code_ = kInterrupted;
      return nullptr;
    }
    if (enough && enough(*index_)) return index_.get();
    if (built->complete) return index_.get();
    goal *= 2;
  }
}

}  // namespace waymark::cli
