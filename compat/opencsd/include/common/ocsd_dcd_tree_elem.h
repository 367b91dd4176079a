// One decoder of a decode tree.
#pragma once

#include <string>

#include "common/ocsd_dcd_mngr_i.h"
#include "common/trc_component.h"
#include "opencsd/ocsd_if_types.h"

typedef struct _decoder_elements {
  std::string dcd_name;
  TraceComponent *dcd_handle;
  IDecoderMngr *dcd_mngr;
  ocsd_trace_protocol_t protocol;
  bool created; /* Created by the manager, which then destroys it. */
} decoder_element;

class DecodeTreeElement : protected decoder_element {
 public:
  DecodeTreeElement();
  ~DecodeTreeElement();

  void SetDecoderElement(const std::string &name, IDecoderMngr *dcdMngr, TraceComponent *pHandle,
                         bool bCreated);
  void DestroyElem();

  const std::string &getDecoderTypeName() { return dcd_name; }
  IDecoderMngr *getDecoderMngr() { return dcd_mngr; }
  ocsd_trace_protocol_t getProtocol() const { return protocol; }
  TraceComponent *getDecoderHandle() { return dcd_handle; }
};
