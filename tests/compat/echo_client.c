/* A client with a decoder of its own: as a decoder and as a packet processor, with and without
 * frames, with the library's printer and with functions.  Each step says whether it did what the
 * interface promises. */
#include <stdio.h>
#include <string.h>

#include "echo_decoder.h"

static int failures = 0;

static void check(int good, const char *what) {
  if (good) return;
  ++failures;
  printf("Failed: %s\n", what);
}

typedef struct client {
  ocsd_trace_protocol_t protocol;
  int elements;
  int ends;
  int monitored;
  int sunk;
  char text[4096];
  char packet[128];
} client_t;

static void on_text(const void *context, const char *text, const int size) {
  client_t *client = (client_t *)context;
  strncat(client->text, text, sizeof(client->text) - strlen(client->text) - 1);
  check(size == (int)strlen(text), "the length of a text");
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element) {
  client_t *client = (client_t *)context;
  (void)index;
  check(id == 0x10 || id == 0x11, "the ID of an element");
  if (element->elem_type == OCSD_GEN_TRC_ELEM_CUSTOM) {
    client->elements++;
    ocsd_cust_protocol_to_str(client->protocol, element->ptr_extended_data, client->packet,
                              (int)sizeof(client->packet));
  }
  if (element->elem_type == OCSD_GEN_TRC_ELEM_EO_TRACE) client->ends++;
  return OCSD_RESP_CONT;
}

static void on_monitored(const void *context, const ocsd_datapath_op_t op,
                         const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                         const uint8_t *data) {
  client_t *client = (client_t *)context;
  (void)index;
  if (op != OCSD_OP_DATA) return;
  client->monitored++;
  check(((const echo_packet_t *)packet)->size == size && data != NULL, "a monitored packet");
  ocsd_pkt_str(client->protocol, packet, client->packet, (int)sizeof(client->packet));
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet) {
  client_t *client = (client_t *)context;
  (void)index;
  if (op == OCSD_OP_DATA && packet != NULL) client->sunk++;
  return OCSD_RESP_CONT;
}

static const uint8_t single[16] = {0x55, 1, 2, 3};
/* 15 bytes of ID 0x10. */
static const uint8_t framed[16] = {0x21, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0};
static const uint8_t code[8] = {0x1F, 0x20, 0x03, 0xD5, 0xE1, 0xFF, 0xFF, 0x54};

static dcd_tree_handle_t make_tree(client_t *client, ocsd_dcd_tree_src_t type, int flags,
                                   uint8_t id) {
  echo_config_t config;
  unsigned char given = 0;
  const dcd_tree_handle_t tree = ocsd_create_dcd_tree(type, OCSD_DFRMTR_FRAME_MEM_ALIGN);
  config.cs_id = id;
  check(tree != C_API_INVALID_TREE_HANDLE, "a tree");
  check(ocsd_def_errlog_set_strprint_cb(tree, client, on_text) == OCSD_OK, "a text function");
  check(ocsd_dt_create_decoder(tree, ECHO_DECODER_NAME, flags, &config, &given) == OCSD_OK,
        "a decoder");
  check(given == id, "its ID");
  check(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, code, sizeof(code)) == OCSD_OK,
        "memory");
  return tree;
}

static void decode(client_t *client) {
  uint32_t used = 0;
  const dcd_tree_handle_t tree =
      make_tree(client, OCSD_TRC_SRC_SINGLE, OCSD_CREATE_FLG_FULL_DECODER, 0x10);
  const echo_answers_t *answers = echo_last_answers();
  check(ocsd_dt_set_gen_elem_outfn(tree, on_element, client) == OCSD_OK, "an element function");
  check(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitored,
                                       client) == OCSD_OK,
        "a monitor");
  check(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1) == OCSD_ERR_INVALID_PARAM_VAL,
        "no printer of its packets");
  check(
      ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(single), single, &used) == OCSD_RESP_CONT,
      "data");
  check(used == sizeof(single), "all data");
  check(client->elements == 1 && client->monitored == 1, "an element and its packet");
  check(strcmp(client->packet, "ECHO{1} [0x55]; 16 bytes") == 0, client->packet);
  check(strcmp(client->text,
               "ECHO_0016 : ECHO: a message of the decoder.\n"
               "ECHO_0016 : 0x0000 (OCSD_OK) [No Error.]; TrcIdx=0; CS ID=10; "
               "ECHO: an error that is none.\n") == 0,
        client->text);
  check(answers->log_message == OCSD_OK && answers->log_error == OCSD_OK, "the log's answers");
  check(answers->memory == OCSD_OK && answers->memory_size == 4, "the memory's answer");
  check(answers->instruction == OCSD_OK && answers->instruction_type == OCSD_INSTR_OTHER,
        "the instruction's answer");
  check(ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 0, 0, NULL, NULL) == OCSD_RESP_CONT, "a flush");
  check(ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL) == OCSD_RESP_CONT, "the end");
  check(client->ends == 1, "the end of the trace");
  check(ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL) == OCSD_RESP_CONT, "a reset");
  ocsd_destroy_dcd_tree(tree);
}

static void process_packets(client_t *client) {
  uint32_t used = 0;
  const dcd_tree_handle_t tree =
      make_tree(client, OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_CREATE_FLG_PACKET_PROC, 0x10);
  check(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK, (void *)on_packet,
                                       client) == OCSD_OK,
        "a sink");
  check(ocsd_dt_set_raw_frame_printer(tree, OCSD_DFRMTR_UNPACKED_RAW_OUT) == OCSD_OK,
        "a printer of frames");
  check(
      ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(framed), framed, &used) == OCSD_RESP_CONT,
      "a frame");
  check(used == sizeof(framed) && client->sunk == 1, "a packet of a frame");
  check(strstr(client->text, "ID_DATA[0x10]; ") != NULL, client->text);
  check(ocsd_dt_remove_decoder(tree, 0x10) == OCSD_OK, "the end of the decoder");
  ocsd_destroy_dcd_tree(tree);
}

/* Each with its own log. */
static void two_trees(ocsd_trace_protocol_t protocol) {
  client_t first, second;
  dcd_tree_handle_t one, other;
  uint32_t used = 0;
  memset(&first, 0, sizeof(first));
  memset(&second, 0, sizeof(second));
  first.protocol = second.protocol = protocol;
  ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
  one = make_tree(&first, OCSD_TRC_SRC_SINGLE, OCSD_CREATE_FLG_FULL_DECODER, 0x10);
  check(ocsd_dt_set_gen_elem_printer(one) == OCSD_OK, "a printer of elements");
  ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
  other = make_tree(&second, OCSD_TRC_SRC_SINGLE, OCSD_CREATE_FLG_FULL_DECODER, 0x11);
  check(ocsd_dt_set_gen_elem_printer(other) == OCSD_OK, "another printer of elements");
  ocsd_dt_process_data(one, OCSD_OP_DATA, 0, sizeof(single), single, &used);
  ocsd_dt_process_data(other, OCSD_OP_DATA, 0, sizeof(single), single, &used);
  check(strcmp(first.text, "Idx:0; ID:10; OCSD_GEN_TRC_ELEM_CUSTOM()\n") == 0, first.text);
  check(strcmp(second.text, "Idx:0; ID:11; OCSD_GEN_TRC_ELEM_CUSTOM()\n") == 0, second.text);
  ocsd_destroy_dcd_tree(one);
  ocsd_destroy_dcd_tree(other);
}

int main(void) {
  ocsd_extern_dcd_fact_t factory;
  client_t client;
  ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
  check(echo_decoder_factory(&factory) == OCSD_OK, "a factory");
  check(ocsd_register_custom_decoder(ECHO_DECODER_NAME, &factory) == OCSD_OK, "its registration");
  check(OCSD_PROTOCOL_IS_CUSTOM(factory.protocol_id), "its protocol");
  memset(&client, 0, sizeof(client));
  client.protocol = factory.protocol_id;
  decode(&client);
  memset(&client, 0, sizeof(client));
  client.protocol = factory.protocol_id;
  process_packets(&client);
  two_trees(factory.protocol_id);
  check(ocsd_deregister_decoders() == OCSD_OK, "the end of the register");
  return failures == 0 ? 0 : 1;
}
