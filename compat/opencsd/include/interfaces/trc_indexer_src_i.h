// An index over trace sources.  It can be attached to the frame decoder, which never calls it.
#pragma once

#include "interfaces/trc_abs_typed_base_i.h"

class ITrcSrcIndexCreator : public ITrcTypedBase {
 public:
  ITrcSrcIndexCreator() {}
  virtual ~ITrcSrcIndexCreator() {}
};
