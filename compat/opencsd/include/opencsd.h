// The whole OpenCSD C++ interface, version 1.8.0, except common/cs_frame_mux_data.h.  Everything is
// in the global namespace.
#pragma once

// Standard headers that clients expect to be included.
#include <fstream>
#include <iomanip>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// Shared with the C interface.
#include "opencsd/ocsd_if_types.h"
#include "opencsd/trc_gen_elem_types.h"
#include "opencsd/trc_pkt_types.h"

// Interfaces.
#include "interfaces/trc_abs_typed_base_i.h"
#include "interfaces/trc_data_raw_in_i.h"
#include "interfaces/trc_data_rawframe_in_i.h"
#include "interfaces/trc_error_log_i.h"
#include "interfaces/trc_gen_elem_in_i.h"
#include "interfaces/trc_indexer_pkt_i.h"
#include "interfaces/trc_indexer_src_i.h"
#include "interfaces/trc_instr_decode_i.h"
#include "interfaces/trc_pkt_in_i.h"
#include "interfaces/trc_pkt_raw_in_i.h"
#include "interfaces/trc_tgt_mem_access_i.h"

// Shared by all protocols.
#include "common/ocsd_error.h"
#include "common/ocsd_version.h"
#include "common/trc_core_arch_map.h"
#include "common/trc_frame_deformatter.h"
#include "common/trc_gen_elem.h"

// Protocols.
#include "opencsd/ete/ete_decoder.h"
#include "opencsd/etmv3/etmv3_decoder.h"
#include "opencsd/etmv4/etmv4_decoder.h"
#include "opencsd/itm/itm_decoder.h"
#include "opencsd/ptm/ptm_decoder.h"
#include "opencsd/stm/stm_decoder.h"

// Loggers, instruction decoder, memory, printers.
#include "common/ocsd_error_logger.h"
#include "common/ocsd_msg_logger.h"
#include "i_dec/trc_i_decode.h"
#include "mem_acc/trc_mem_acc.h"
#include "pkt_printers/trc_pkt_printers.h"
#include "pkt_printers/trc_print_fact.h"

// The decoder register and the decode tree.
#include "common/ocsd_dcd_tree.h"
#include "common/ocsd_lib_dcd_register.h"
