// Packets and elements that have a text.
#pragma once

#include <stdint.h>

#include <string>

class trcPrintableElem {
 public:
  trcPrintableElem() {}
  virtual ~trcPrintableElem() {}

  virtual void toString(std::string &str) const;
  /// With options of the class; without options, the text is the same.
  virtual void toStringFmt(const uint32_t fmtFlags, std::string &str) const;

  /// A value of `valTotalBitSize` bits whose low `valValidBits` bits are known: hexadecimal with
  /// "?" for unknown digits, or decimal.  `updateBits` > 0 adds which bits are new.
  static void getValStr(std::string &valStr, const int valTotalBitSize, const int valValidBits,
                        const uint64_t value, const bool asHex = true, const int updateBits = 0);
};
