#include "index_access.h"

#include <fmt/format.h>

#include "exit_code.h"
#include "interrupt.h"
#include "progress.h"

namespace waymark::cli {

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
        if (!index_ || !index_->header().complete) return std::nullopt;
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

inputs::Capture* IndexAccess::scout() {
  if (scout_) return &*scout_;
  auto opened = open_capture(input_, {.decode = false}, false,
                             [this](const MappedFile& /*trace*/,
                                    inputs::Framing /*framing*/) -> std::optional<inputs::IdBytes> {
                               if (!index_) return std::nullopt;
                               return index_->header().id_bytes;
                             });
  if (!opened) {
    code_ = opened.error();
    return nullptr;
  }
  scout_.emplace(std::move(*opened));
  return &*scout_;
}

index::Index* IndexAccess::get(const inputs::Capture& capture) {
  if (index::Index* const found = ready(capture)) return found;
  inputs::Capture* const trace = scout();
  if (trace == nullptr) return nullptr;
  index_ = index::make_memory_index();
  Progress progress(trace->trace_bytes());
  const auto built = index::build(*trace, *index_, {.stop = [&](std::uint64_t done) {
    progress.at(done);
    return interrupted();
  }});
  if (!built) {
    code_ = complain(built.error().detail, kInput);
    return nullptr;
  }
  if (!built->complete) {
    code_ = kInterrupted;
    return nullptr;
  }
  return index_.get();
}

}  // namespace waymark::cli
