// A client of the memory accessors and their map, without any trace; and of the error texts.
#include <cstring>
#include <iostream>

#include "opencsd.h"

namespace {

int failures = 0;

void check(bool good, const char *what) {
  if (good) return;
  ++failures;
  std::cout << "Failed: " << what << std::endl;
}

uint32_t readMemory(const void *, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t space,
                    const uint8_t trcID, const uint32_t reqBytes, uint8_t *buffer) {
  for (uint32_t i = 0; i < reqBytes; ++i)
    buffer[i] = static_cast<uint8_t>(address + i + space + trcID);
  return reqBytes;
}

}  // namespace

int main() {
  ocsdMsgLogger logger;
  logger.setLogOpts(ocsdMsgLogger::OUT_STDOUT);
  logger.setLogFileName("");
  ocsdDefaultErrorLogger err_log;
  err_log.initErrorLogger(OCSD_ERR_SEV_INFO);
  err_log.setOutputLogger(&logger);
  const ocsd_hndl_err_log_t handle = err_log.RegisterErrorSource("accessor_client");

  uint8_t block[256];
  for (int i = 0; i < 256; ++i) block[i] = static_cast<uint8_t>(i);
  TrcMemAccMapGlobalSpace mapper;
  mapper.setErrorLog(&err_log);
  check(mapper.enableCaching(true) == OCSD_OK, "caching");

  // Accessors are borrowed.
  TrcMemAccBufPtr buffer;
  buffer.initAccessor(0x8000, block, sizeof(block));
  buffer.setMemSpace(OCSD_MEM_SPACE_EL1N);
  check(mapper.AddAccessor(&buffer, 0) == OCSD_OK, "a buffer");
  TrcMemAccBufPtr moved;
  moved.initAccessor(0x8000, block, sizeof(block));
  check(mapper.AddAccessor(&moved, 0) == OCSD_ERR_MEM_ACC_OVERLAP, "an overlap");
  moved.setRange(0x9000, 0x90FF);
  check(mapper.AddAccessor(&moved, 0) == OCSD_OK, "another range");
  TrcMemAccCB callback;
  callback.initAccessor(0xA000, 0xAFFF, OCSD_MEM_SPACE_S);
  callback.setCBIDIfFn(readMemory, 0);
  check(mapper.AddAccessor(&callback, 0) == OCSD_OK, "a callback");
  mapper.logMappedRanges();

  uint8_t got[8];
  uint32_t count = 4;
  check(mapper.ReadTargetMemory(0x80FC, 0x10, OCSD_MEM_SPACE_EL1N, &count, got) == OCSD_OK &&
            count == 4 && got[0] == 0xFC,
        "the end of a buffer");
  count = 8;
  check(mapper.ReadTargetMemory(0x80FC, 0x10, OCSD_MEM_SPACE_EL1N, &count, got) == OCSD_OK &&
            count == 0,
        "a page that ends too early");
  count = 4;
  mapper.ReadTargetMemory(0x8000, 0x10, OCSD_MEM_SPACE_EL3, &count, got);
  check(count == 0, "another space");
  count = 4;
  mapper.ReadTargetMemory(0xA010, 0x10, OCSD_MEM_SPACE_EL3, &count, got);
  check(count == 4 && got[0] == 0x10 + OCSD_MEM_SPACE_EL3 + 0x10, "what the callback says");

  std::string space;
  TrcMemAccessorBase::getMemAccSpaceString(space, OCSD_MEM_SPACE_R);
  check(space == "Any R", "the name of a space");

  // Ranges that overlap are refused by their ends only.
  TrcMemAccBufPtr into(0x80F0, block, 32);
  TrcMemAccBufPtr onto(0x7FF0, block, 32);
  TrcMemAccBufPtr around(0x7F80, block, sizeof(block));
  into.setMemSpace(OCSD_MEM_SPACE_EL1N);
  check(mapper.AddAccessor(&into, 0) == OCSD_ERR_MEM_ACC_OVERLAP, "a range that begins inside");
  check(mapper.AddAccessor(&onto, 0) == OCSD_ERR_MEM_ACC_OVERLAP, "a range that ends inside");
  around.setRange(0x7F80, 0x81FF);
  check(mapper.AddAccessor(&around, 0) == OCSD_OK, "a range around another");
  TrcMemAccBufPtr secure(0x8000, block, sizeof(block));
  secure.setMemSpace(OCSD_MEM_SPACE_EL1S);
  check(mapper.AddAccessor(&secure, 0) == OCSD_ERR_MEM_ACC_OVERLAP,
        "another space, but any has it");
  check(mapper.RemoveAccessorByAddress(0x7F90, OCSD_MEM_SPACE_ANY) == OCSD_OK, "a removal");
  check(mapper.AddAccessor(&secure, 0) == OCSD_OK, "the same range in another space");
  mapper.logMappedRanges();

  // With a cache of other sizes, and without.
  check(mapper.setCacheSizes(32, 2, true) == OCSD_ERR_INVALID_PARAM_VAL,
        "a cache that is too small");
  check(mapper.setCacheSizes(64, 4, true) == OCSD_OK, "a small cache");
  for (int pass = 0; pass < 2; ++pass) {
    for (int at = 0; at < 0x100; at += 4) {
      count = 4;
      check(
          mapper.ReadTargetMemory(0x8000 + at, 0x10, OCSD_MEM_SPACE_EL1S, &count, got) == OCSD_OK &&
              count == 4 && got[0] == at,
          "every word");
    }
    mapper.InvalidateMemAccCache(0x10);
    check(mapper.enableCaching(false) == OCSD_OK, "no cache");
  }

  // The accessors are still the client's.
  mapper.RemoveAllAccessors();
  check(buffer.getRangeStart() == 0x8000 && moved.getRangeEnd() == 0x90FF, "borrowed accessors");
  count = 4;
  mapper.ReadTargetMemory(0xA010, 0x10, OCSD_MEM_SPACE_EL3, &count, got);
  check(count == 0, "nothing left");

  ocsdError error(OCSD_ERR_SEV_ERROR, OCSD_ERR_TEST_SNAPSHOT_READ, "thrown");
  err_log.LogError(handle, &error);
  try {
    throw ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_TEST_SNAPSHOT_PARSE, "Bad line.");
  } catch (ocsdError &caught) {
    check(caught.getMessage() == "Bad line.", "an error that is thrown");
  }
  for (int code = OCSD_OK; code < OCSD_ERR_LAST; ++code) {
    const ocsdError each(OCSD_ERR_SEV_ERROR, static_cast<ocsd_err_t>(code));
    check(ocsdError::getErrorString(each).find("OCSD_") != std::string::npos, "an error's text");
  }
  return failures == 0 ? 0 : 1;
}
