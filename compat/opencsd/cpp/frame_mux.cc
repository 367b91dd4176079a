// CSFrameMuxData over waymark::frames::Mux.
#include <algorithm>
#include <vector>

#include "common/cs_frame_mux_data.h"
#include "waymark/frames/mux.h"

using waymark::frames::kFrameSize;

class CSFrameMuxDataImpl {
 public:
  // The reference repeats the ID after 15 frames, and begins with ID 0.
  CSFrameMuxDataImpl() : mux_({.id_repeat = 15}) {}

  int mux_in(const uint8_t* data, uint32_t size, uint8_t id, bool last) {
    if (id > 0x7E || (data == nullptr && size != 0)) return -1;
    if (size != 0) {
      if (!mux_.write(id, {data, size})) return -1;
    }
    if (last) {
      mux_.finish();
    }
    take();
    return static_cast<int>(frames_.size() / kFrameSize);
  }

  void clear(int count) {
    const auto all = frames_.size() / kFrameSize;
    const auto asked = count > 0 ? static_cast<std::size_t>(count) : all;
    frames_.erase(frames_.begin(),
                  frames_.begin() + static_cast<std::ptrdiff_t>(std::min(asked, all) * kFrameSize));
  }

  [[nodiscard]] const std::vector<uint8_t>& frames() const { return frames_; }
  [[nodiscard]] bool incomplete() const { return mux_.pending(); }

 private:
  void take() {
    const std::vector<uint8_t> finished = mux_.take();
    frames_.insert(frames_.end(), finished.begin(), finished.end());
  }

  waymark::frames::Mux mux_;
  std::vector<uint8_t> frames_;
};

CSFrameMuxData::CSFrameMuxData() : m_pImpl(new CSFrameMuxDataImpl) {}
CSFrameMuxData::~CSFrameMuxData() { delete m_pImpl; }

int CSFrameMuxData::muxInData(const uint8_t* pData, uint32_t size, uint8_t trcID, bool lastData) {
  return m_pImpl->mux_in(pData, size, trcID, lastData);
}

const uint8_t* CSFrameMuxData::getFrameBuffer() const { return m_pImpl->frames().data(); }

const uint32_t CSFrameMuxData::getFrameBufferSize() const {
  return static_cast<uint32_t>(m_pImpl->frames().size());
}

const bool CSFrameMuxData::hasIncompleteFrame() const { return m_pImpl->incomplete(); }

void CSFrameMuxData::clearFrames(int numFrames) { m_pImpl->clear(numFrames); }
