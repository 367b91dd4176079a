// All kinds of memory accessor, and the map over them.
#pragma once

#include "mem_acc/trc_mem_acc_base.h"
#include "mem_acc/trc_mem_acc_bufptr.h"
#include "mem_acc/trc_mem_acc_cache.h"
#include "mem_acc/trc_mem_acc_cb.h"
#include "mem_acc/trc_mem_acc_cb_if.h"
#include "mem_acc/trc_mem_acc_file.h"
#include "mem_acc/trc_mem_acc_mapper.h"
