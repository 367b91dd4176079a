// The base of all interfaces that have a packet type as parameter, so that they can be passed
// through places that do not know it and be found again with dynamic_cast.
#pragma once

class ITrcTypedBase {
 public:
  ITrcTypedBase() {}
  virtual ~ITrcTypedBase() {}
};
