/* A custom decoder as a library of its own, in C: it gives back what it gets. */
#ifndef WAYMARK_ECHO_DECODER_H
#define WAYMARK_ECHO_DECODER_H

#include "opencsd/c_api/opencsd_c_api.h"

#define ECHO_DECODER_NAME "ECHO_LIBRARY"

typedef struct echo_config {
  uint8_t cs_id;
} echo_config_t;

/* Each block of data is a packet. */
typedef struct echo_packet {
  uint32_t number;
  uint32_t size;
  uint8_t first;
} echo_packet_t;

/* Fills in a factory for ocsd_register_custom_decoder(). */
ocsd_err_t echo_decoder_factory(ocsd_extern_dcd_fact_t *factory);

/* What the library answered to the decoder: its log, its memory and its instruction decoder. */
typedef struct echo_answers {
  ocsd_err_t log_message;
  ocsd_err_t log_error;
  ocsd_err_t memory;
  uint32_t memory_size;
  ocsd_err_t instruction;
  ocsd_instr_type instruction_type;
} echo_answers_t;

/* Those of the last block of any decoder. */
const echo_answers_t *echo_last_answers(void);

#endif
