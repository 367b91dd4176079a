#include "image_checker.h"

#include <algorithm>
#include <array>

namespace waymark::inputs {
namespace {

constexpr std::uint64_t kWindow = std::uint64_t{256} << 10;
constexpr std::size_t kStep = std::size_t{64} << 10;

/// Shows the finder what the decoders report, among the elements.
class Listener final : public Observer {
 public:
  explicit Listener(mismatch::Finder* finder) : finder_(finder) {}
  [[nodiscard]] bool wants_packets() const override { return false; }
  void on_diagnostic(const Diagnostic& record) override {
    if (finder_ != nullptr) finder_->observe(record);
  }

 private:
  mismatch::Finder* finder_;
};

}  // namespace

std::vector<TraceWindow> spread_windows(const Capture& capture, std::uint64_t most) {
  std::vector<TraceWindow> windows;
  const std::uint64_t all = capture.trace_bytes();
  const std::uint64_t count = (all + kWindow - 1) / kWindow;
  const std::uint64_t used = std::min(count, std::max<std::uint64_t>(most / kWindow, 2));
  for (std::uint64_t i = 0; i < used; ++i) {
    const std::uint64_t number = used == count ? i : i * (count - 1) / (used - 1);
    windows.push_back({number * kWindow, std::min(all, (number + 1) * kWindow)});
  }
  return windows;
}

ImageChecker::ImageChecker(Capture& capture, DecodeTree& tree, std::uint64_t most)
    : capture_(capture), tree_(tree), memory_(capture), windows_(spread_windows(capture, most)) {}

std::uint64_t ImageChecker::bytes(std::size_t window) const {
  return windows_[window].end - windows_[window].begin;
}

void ImageChecker::refresh() {
  for (Source* const source : tree_.sources()) source->refresh();
}

void ImageChecker::run(std::size_t window, const mismatch::Finder::Found& found) {
  run(windows_[window], found, {});
}

void ImageChecker::run_all(const mismatch::Finder::Found& found,
                           const mismatch::Finder::Passed& passed) {
  for (std::size_t i = 0; i < windows_.size();) {
    std::size_t last = i;
    while (last + 1 < windows_.size() && windows_[last + 1].begin == windows_[last].end) ++last;
    run({windows_[i].begin, windows_[last].end}, found, passed);
    i = last + 1;
  }
}

void ImageChecker::run(TraceWindow window, const mismatch::Finder::Found& found,
                       const mismatch::Finder::Passed& passed) {
  mismatch::Finder finder(
      [&](const Element& element, std::uint64_t address, std::span<std::uint8_t> scratch) {
        return memory_.read(element, address, scratch);
      },
      found, passed);
  decode_window(capture_, tree_, window, &finder, [&](std::span<const Element> elements) {
    finder.observe(elements);
    return true;
  });
}

void decode_window(Capture& capture, DecodeTree& tree, TraceWindow window, mismatch::Finder* finder,
                   const std::function<bool(std::span<const Element>)>& take) {
  Listener listener(finder);
  tree.reset();
  tree.set_observer(&listener);
  std::array<Element, 256> batch;
  bool wanted = true;
  const auto take_all = [&] {
    while (const std::size_t given = wanted ? tree.next(batch) : 0)
      wanted = take(std::span<const Element>(batch).first(given));
  };
  capture.seek(window.begin);
  for (auto block = capture.next_block(); wanted && block && block->index < window.end;
       block = capture.next_block()) {
    const auto size = static_cast<std::size_t>(
        std::min<std::uint64_t>(block->bytes.size(), window.end - block->index));
    for (std::size_t at = 0; wanted && at < size; at += kStep) {
      wanted = tree.feed(block->index + at, block->bytes.subspan(at, std::min(kStep, size - at)))
                   .has_value();
      take_all();
    }
  }
  if (wanted) {
    tree.finish();
    take_all();
  }
  tree.set_observer(nullptr);
  tree.reset();
  capture.seek(0);
}

void check_image(Capture& capture, const mismatch::Finder::Found& found, std::uint64_t most,
                 const mismatch::Finder::Passed& passed) {
  if (capture.checking_tree() == nullptr) return;
  ImageChecker(capture, *capture.checking_tree(), most).run_all(found, passed);
}

}  // namespace waymark::inputs
