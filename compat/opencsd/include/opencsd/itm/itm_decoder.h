// All headers of the ITM.
#pragma once

#include "opencsd/itm/trc_cmp_cfg_itm.h"
#include "opencsd/itm/trc_pkt_elem_itm.h"
#include "opencsd/itm/trc_pkt_proc_itm.h"
#include "opencsd/itm/trc_pkt_types_itm.h"
