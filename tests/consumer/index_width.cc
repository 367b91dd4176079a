// Begins in each way in which a client of the C++ interface can.
#include "opencsd.h"

int main() {
  const TrcPktProcEtmV3 etmv3;
  const TrcPktProcPtm ptm(1);
  const TrcPktProcEtmV4I etmv4;
  const TrcPktProcItm itm(1);
  const TrcPktProcStm stm;
  const TraceFormatterFrameDecoder frames(1);
  DecodeTree* const tree = DecodeTree::CreateDecodeTree(OCSD_TRC_SRC_SINGLE, 0);
  if (tree == nullptr) return 1;
  DecodeTree::DestroyDecodeTree(tree);
  return 0;
}
