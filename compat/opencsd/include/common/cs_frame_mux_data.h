// Builds CoreSight frames, for tests and for tools that make trace.  Not part of opencsd.h.
#pragma once

#include <stdint.h>

#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class CSFrameMuxDataImpl;

/// Makes frames of 16 bytes, in the order of the input.
class CSFrameMuxData {
 public:
  CSFrameMuxData();
  ~CSFrameMuxData();

  /// Appends bytes of the source `trcID`.  `lastData` fills the unfinished frame with ID 0 and
  /// zeros.  Returns how many frames are finished; -1: no data, or an ID that a frame cannot hold.
  int muxInData(const uint8_t *pData, const uint32_t size, const uint8_t trcID,
                const bool lastData = false);

  /// The finished frames, and their size in bytes.
  const uint8_t *getFrameBuffer() const;
  const uint32_t getFrameBufferSize() const;

  /// Bytes wait for their frame to be filled.
  const bool hasIncompleteFrame() const;

  /// Forgets the first `numFrames` finished frames; 0: all.
  void clearFrames(const int numFrames = 0);

 private:
  CSFrameMuxData(const CSFrameMuxData &);
  CSFrameMuxData &operator=(const CSFrameMuxData &);

  CSFrameMuxDataImpl *m_pImpl;
};

#pragma GCC diagnostic pop
