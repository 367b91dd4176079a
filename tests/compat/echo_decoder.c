#include "echo_decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/c_api/ocsd_c_api_cust_fact.h"
#include "opencsd/c_api/ocsd_c_api_cust_impl.h"

typedef struct echo_decoder {
  ocsd_extern_dcd_cb_fns library;
  echo_config_t config;
  int decodes;
  char name[32];
  echo_packet_t packet;
} echo_decoder_t;

static echo_answers_t answers;

const echo_answers_t *echo_last_answers(void) { return &answers; }

static void ask_the_library(echo_decoder_t *decoder, ocsd_trc_index_t index) {
  ocsd_instr_info instruction;
  uint8_t bytes[4];
  answers.log_message =
      lib_cb_LogMsg(&decoder->library, OCSD_ERR_SEV_INFO, "ECHO: a message of the decoder.\n");
  answers.log_error = lib_cb_LogError(&decoder->library, OCSD_ERR_SEV_ERROR, OCSD_OK, index,
                                      decoder->config.cs_id, "ECHO: an error that is none.\n");
  answers.memory_size = sizeof(bytes);
  answers.memory = lib_cb_MemAccess(&decoder->library, 0x1000, decoder->config.cs_id,
                                    OCSD_MEM_SPACE_EL1N, &answers.memory_size, bytes);
  memset(&instruction, 0, sizeof(instruction));
  instruction.pe_type.arch = ARCH_V8;
  instruction.pe_type.profile = profile_CortexA;
  instruction.isa = ocsd_isa_aarch64;
  instruction.instr_addr = 0x1000;
  memcpy(&instruction.opcode, bytes, answers.memory_size);
  answers.instruction = lib_cb_DecodeArmInst(&decoder->library, &instruction);
  answers.instruction_type = instruction.type;
}

static ocsd_datapath_resp_t echo_element(echo_decoder_t *decoder, ocsd_trc_index_t index,
                                         ocsd_gen_trc_elem_t type) {
  ocsd_generic_trace_elem element;
  ocsd_gen_elem_init(&element, type);
  if (type == OCSD_GEN_TRC_ELEM_CUSTOM) {
    element.extended_data = 1;
    element.ptr_extended_data = &decoder->packet;
  }
  return lib_cb_GenElemOp(&decoder->library, index, decoder->config.cs_id, &element);
}

static ocsd_datapath_resp_t echo_data(echo_decoder_t *decoder, ocsd_trc_index_t index,
                                      uint32_t size, const uint8_t *data, uint32_t *used) {
  ask_the_library(decoder, index);
  decoder->packet.number++;
  decoder->packet.size = size;
  decoder->packet.first = data[0];
  *used = size;
  if (lib_cb_usePktMon(&decoder->library))
    lib_cb_PktMon(&decoder->library, OCSD_OP_DATA, index, &decoder->packet, size, data);
  if (decoder->decodes) return echo_element(decoder, index, OCSD_GEN_TRC_ELEM_CUSTOM);
  if (lib_cb_usePktSink(&decoder->library))
    return lib_cb_PktDataSink(&decoder->library, OCSD_OP_DATA, index, &decoder->packet);
  return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t echo_data_in(const void *handle, const ocsd_datapath_op_t op,
                                         const ocsd_trc_index_t index, const uint32_t size,
                                         const uint8_t *data, uint32_t *used) {
  echo_decoder_t *decoder = (echo_decoder_t *)handle;
  if (op == OCSD_OP_DATA) return echo_data(decoder, index, size, data, used);
  lib_cb_PktMon(&decoder->library, op, index, NULL, 0, NULL);
  if (!decoder->decodes) return lib_cb_PktDataSink(&decoder->library, op, index, NULL);
  return op == OCSD_OP_EOT ? echo_element(decoder, index, OCSD_GEN_TRC_ELEM_EO_TRACE)
                           : OCSD_RESP_CONT;
}

static void echo_flags(const void *handle, const int flags) {
  lib_cb_updatePktCBFlags(&((echo_decoder_t *)handle)->library, flags);
}

static ocsd_err_t echo_create(const int create_flags, const void *config,
                              const ocsd_extern_dcd_cb_fns *library,
                              ocsd_extern_dcd_inst_t *instance) {
  echo_decoder_t *decoder = calloc(1, sizeof(*decoder));
  if (decoder == NULL) return OCSD_ERR_MEM;
  decoder->library = *library;
  decoder->config = *(const echo_config_t *)config;
  decoder->decodes = (create_flags & OCSD_CREATE_FLG_FULL_DECODER) != 0;
  strcpy(decoder->name, "ECHO");
  instance->fn_data_in = echo_data_in;
  instance->fn_update_pkt_mon = echo_flags;
  instance->decoder_handle = decoder;
  instance->p_decoder_name = decoder->name;
  instance->cs_id = decoder->config.cs_id;
  return OCSD_OK;
}

/* Under the names that ocsd_c_api_cust_fact.h declares. */
ocsd_err_t DestroyCustomDecoder(const void *decoder_handle) {
  free((void *)decoder_handle);
  return OCSD_OK;
}

ocsd_err_t GetCSIDFromConfig(const void *decoder_cfg, unsigned char *pCSID) {
  *pCSID = ((const echo_config_t *)decoder_cfg)->cs_id;
  return OCSD_OK;
}

ocsd_err_t PacketToString(const void *trc_pkt, char *buffer, const int buflen) {
  const echo_packet_t *packet = trc_pkt;
  snprintf(buffer, (size_t)buflen, "ECHO{%u} [0x%02x]; %u bytes", (unsigned)packet->number,
           (unsigned)packet->first, (unsigned)packet->size);
  return OCSD_OK;
}

ocsd_err_t echo_decoder_factory(ocsd_extern_dcd_fact_t *factory) {
  if (factory == NULL) return OCSD_ERR_INVALID_PARAM_VAL;
  memset(factory, 0, sizeof(*factory));
  factory->createDecoder = echo_create;
  factory->destroyDecoder = DestroyCustomDecoder;
  factory->csidFromConfig = GetCSIDFromConfig;
  factory->pktToString = PacketToString;
  return OCSD_OK;
}
