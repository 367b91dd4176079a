// All printers.
#pragma once

#include "pkt_printers/gen_elem_printer.h"
#include "pkt_printers/item_printer.h"
#include "pkt_printers/pkt_printer_t.h"
#include "pkt_printers/raw_frame_printer.h"
