// Makes printers, and keeps them in a list that destroys them.
#pragma once

#include <vector>

#include "opencsd/ocsd_if_types.h"
#include "pkt_printers/trc_pkt_printers.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class PktPrinterFact {
 public:
  /// NULL: the protocol has no printer.  The result is a PacketPrinter<P> of the protocol.
  static ItemPrinter *createProtocolPrinter(std::vector<ItemPrinter *> &printer_list,
                                            ocsd_trace_protocol_t protocol, uint8_t elemID,
                                            ocsdMsgLogger *pMsgLogger = 0);
  static RawFramePrinter *createRawFramePrinter(std::vector<ItemPrinter *> &printer_list,
                                                ocsdMsgLogger *pMsgLogger = 0);
  static TrcGenericElementPrinter *createGenElemPrinter(std::vector<ItemPrinter *> &printer_list,
                                                        ocsdMsgLogger *pMsgLogger = 0);

  static void destroyPrinter(std::vector<ItemPrinter *> &printer_list, ItemPrinter *pPrinter);
  static void destroyAllPrinters(std::vector<ItemPrinter *> &printer_list);
  static const int numPrinters(std::vector<ItemPrinter *> &printer_list);
};

#pragma GCC diagnostic pop
