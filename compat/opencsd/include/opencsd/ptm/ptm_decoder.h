// All headers of the PTM.
#pragma once

#include "opencsd/ptm/trc_cmp_cfg_ptm.h"
#include "opencsd/ptm/trc_pkt_elem_ptm.h"
#include "opencsd/ptm/trc_pkt_proc_ptm.h"
#include "opencsd/ptm/trc_pkt_types_ptm.h"
