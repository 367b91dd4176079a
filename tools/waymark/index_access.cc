#include "index_access.h"

#include <fmt/format.h>

#include "exit_code.h"
#include "interrupt.h"
#include "progress.h"

namespace waymark::cli {
namespace {

/// Bytes of trace to begin with where not all of it may be needed.
constexpr std::uint64_t kFirstGoal = std::uint64_t{4} << 20;

}  // namespace

void add_index_option(CLI::App& command, std::string& path) {
  command
      .add_option("--index", path,
                  "The index that waymark index made (default: beside the trace, if it is there)")
      ->type_name("FILE");
}

KnownIdBytes IndexAccess::known_id_bytes() {
  return
      [this](const MappedFile& trace, inputs::Framing framing) -> std::optional<inputs::IdBytes> {
        open(trace, inputs::framing_name(framing));
        // What came since is in no count.
        if (!index_ || !index_->header().complete ||
            index_->header().indexed != inputs::trace_bytes(framing, trace.size())) {
          return std::nullopt;
        }
        return index_->header().id_bytes;
      };
}

void IndexAccess::drop(const std::string& sentence) {
  index_.reset();
  complain(fmt::format("note: the index is not used: {}", sentence), kOk);
}

void IndexAccess::open(const MappedFile& trace, std::string_view framing) {
  if (looked_) return;
  looked_ = true;
  const bool named = !path_.empty();
  auto opened = index::open_store(named ? path_ : index::store_path(trace.path()), {});
  if (!opened) {
    const ErrorCode code = opened.error().code;
    const bool absent = code == ErrorCode::kNotFound || code == ErrorCode::kUnsupported;
    if (named || !absent) drop(opened.error().detail);
    return;
  }
  index_ = std::move(*opened);
  if (index_->header().streams.empty()) {
    index_.reset();
  } else if (const auto good = index::check_file(trace.bytes(), framing, *index_); !good) {
    drop(good.error().detail);
  }
}

index::Index* IndexAccess::ready(const inputs::Capture& capture) {
  open(capture.trace(), inputs::framing_name(capture.framing()));
  if (!index_) return nullptr;
  if (const auto good = index::check(capture, *index_); !good) {
    drop(good.error().detail);
  } else if (!index_->header().complete || index_->header().indexed != capture.trace_bytes()) {
    drop(fmt::format("{} ends at byte {}, and the capture at {}; waymark index goes on with it.",
                     index_->place(), index_->header().indexed, capture.trace_bytes()));
  }
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

index::Index* IndexAccess::get(const inputs::Capture& capture,
                               const std::function<bool(index::Index&)>& enough) {
  index::Index* const found = ready(capture);
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
