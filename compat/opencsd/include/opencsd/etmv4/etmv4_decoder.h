// All headers of the ETMv4.
#pragma once

#include "opencsd/etmv4/trc_cmp_cfg_etmv4.h"
#include "opencsd/etmv4/trc_pkt_elem_etmv4i.h"
#include "opencsd/etmv4/trc_pkt_proc_etmv4i.h"
#include "opencsd/etmv4/trc_pkt_types_etmv4.h"
