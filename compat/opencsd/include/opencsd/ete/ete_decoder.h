// All headers of the ETE, whose packets are those of the ETMv4.
#pragma once

#include "opencsd/ete/trc_cmp_cfg_ete.h"
#include "opencsd/ete/trc_pkt_types_ete.h"
#include "opencsd/etmv4/etmv4_decoder.h"
