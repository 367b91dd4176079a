/*
 * The functions that make up a custom decoder's factory, under their usual names: declare them by
 * this header in the one file that defines them.
 */
#ifndef OPENCSD_C_API_OCSD_C_API_CUST_FACT_H
#define OPENCSD_C_API_OCSD_C_API_CUST_FACT_H

#include "ocsd_c_api_custom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Without the library's callbacks, which fnCreateCustomDecoder has; kept for old programs. */
ocsd_err_t CreateCustomDecoder(const int create_flags, const void *decoder_cfg,
                               ocsd_extern_dcd_inst_t *p_decoder_inst);
ocsd_err_t DestroyCustomDecoder(const void *decoder_handle);
ocsd_err_t GetCSIDFromConfig(const void *decoder_cfg, unsigned char *pCSID);
ocsd_err_t PacketToString(const void *trc_pkt, char *buffer, const int buflen);

#ifdef __cplusplus
}
#endif

#endif
