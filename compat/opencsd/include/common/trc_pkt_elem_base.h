// The base of the packet classes: gives the C structure.
#pragma once

class TrcPacketBase {
 public:
  TrcPacketBase() {}
  virtual ~TrcPacketBase() {}

  /// The packet as the structure of the C interface.
  virtual const void *c_pkt() const = 0;
};
