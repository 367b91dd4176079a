// All headers of the STM.
#pragma once

#include "opencsd/stm/trc_cmp_cfg_stm.h"
#include "opencsd/stm/trc_pkt_elem_stm.h"
#include "opencsd/stm/trc_pkt_proc_stm.h"
#include "opencsd/stm/trc_pkt_types_stm.h"
