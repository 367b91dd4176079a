/* A client that prints every answer.  With the reference's library and with Waymark's, the output
 * must be the same, except for the lines that beside_reference.sh removes.  It tests the flags for
 * bad packets, then traces in blocks of random sizes with a client that answers WAIT at random. */
#include <stdio.h>
#include <string.h>

#include "opencsd/c_api/opencsd_c_api.h"

enum { ETMV4, ETMV3, PTM, STM, PROTOCOLS };
static const char *const names[] = {"ETMV4I", "ETMV3", "PTM", "STM"};
static const ocsd_trace_protocol_t numbers[] = {OCSD_PROTOCOL_ETMV4I, OCSD_PROTOCOL_ETMV3,
                                                OCSD_PROTOCOL_PTM, OCSD_PROTOCOL_STM};
static ocsd_etmv4_cfg etmv4;
static const ocsd_etmv3_cfg etmv3 = {0x410CF250, 0x10000000, 0x344008F2,
                                     0x10,       ARCH_V7,    profile_CortexA};
static const ocsd_ptm_cfg ptm = {0x4100F310, 0, 0x30800000, 0x10, ARCH_V7, profile_CortexA};
static const ocsd_stm_cfg stm = {0x00100003, 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};

static int protocol;
static int waits;
static unsigned seed;

static unsigned below(unsigned count) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 10) % count;
}

static int answer(void) { return waits && below(5) == 0 ? OCSD_RESP_WAIT : OCSD_RESP_CONT; }

static void on_monitor(const void *context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                       const uint8_t *bytes) {
  char text[512];
  (void)context;
  (void)bytes;
  if (op != OCSD_OP_DATA) {
    printf("monitor: operation %d\n", (int)op);
    return;
  }
  ocsd_pkt_str(numbers[protocol], packet, text, sizeof(text));
  printf("monitor: %u, %u bytes, %s\n", index, size, text);
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet) {
  char text[512] = "";
  const int said = op == OCSD_OP_DATA ? answer() : OCSD_RESP_CONT;
  (void)context;
  if (packet != NULL) ocsd_pkt_str(numbers[protocol], packet, text, sizeof(text));
  printf("sink: %d, %u, %s -> %d\n", (int)op, index, text, said);
  return (ocsd_datapath_resp_t)said;
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element) {
  char text[512];
  const int said = answer();
  (void)context;
  ocsd_gen_elem_str(element, text, sizeof(text));
  printf("element: %u, %x, %s -> %d\n", index, id, text, said);
  return (ocsd_datapath_resp_t)said;
}

static void on_text(const void *context, const char *text, const int size) {
  (void)context;
  (void)size;
  printf("log: %s%s", text, strchr(text, '\n') != NULL ? "" : "\n");
}

static uint8_t trace[4096];
static unsigned size;

static void put(const char *hex) {
  unsigned value;
  for (; *hex != '\0'; ++hex) {
    if (*hex == ' ') continue;
    if (sscanf(hex, "%2x", &value) == 1) trace[size++] = (uint8_t)value;
    ++hex;
  }
}

static dcd_tree_handle_t make(int frames, int flags) {
  static const uint32_t nops[] = {0xE1A00000, 0xE1A00000, 0xE1A00000, 0xE1A00000,
                                  0xE1A00000, 0xE1A00000, 0xE1A00000, 0xE1A00000};
  static const uint32_t loop[] = {0xD503201F, 0x54FFFFE1};
  const void *const configs[] = {&etmv4, &etmv3, &ptm, &stm};
  const int decodes = (flags & OCSD_CREATE_FLG_FULL_DECODER) != 0;
  unsigned char id = 0;
  const dcd_tree_handle_t tree = ocsd_create_dcd_tree(
      frames ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE, OCSD_DFRMTR_FRAME_MEM_ALIGN);
  ocsd_def_errlog_set_strprint_cb(tree, NULL, on_text);
  printf("== %s, flags %x, %s: %d\n", names[protocol], (unsigned)flags, frames ? "frames" : "none",
         (int)ocsd_dt_create_decoder(tree, names[protocol], flags, configs[protocol], &id));
  ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL);
  ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor, NULL);
  if (!decodes)
    ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK, (void *)on_packet, NULL);
  ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY,
                             (const uint8_t *)(protocol == ETMV4 ? loop : nops),
                             protocol == ETMV4 ? sizeof(loop) : sizeof(nops));
  return tree;
}

static int operate(dcd_tree_handle_t tree, ocsd_datapath_op_t op) {
  const int said = (int)ocsd_dt_process_data(tree, op, 0, 0, NULL, NULL);
  printf("operation %d: %d\n", (int)op, said);
  return said;
}

/* With what the client makes of WAIT; the end, unless decoding failed. */
static void decode(dcd_tree_handle_t tree, int frames) {
  unsigned at = 0;
  int said = OCSD_RESP_CONT;
  while (at < size && said < OCSD_RESP_FATAL_NOT_INIT) {
    unsigned block = waits ? (frames ? 16 * (1 + below(3)) : 1 + below(20)) : size;
    uint32_t used = 0;
    if (block > size - at) block = size - at;
    said = (int)ocsd_dt_process_data(tree, OCSD_OP_DATA, at, block, trace + at, &used);
    printf("%u bytes at %u: %d, %u used\n", block, at, said, used);
    at += used;
    while (OCSD_DATA_RESP_IS_WAIT(said)) said = operate(tree, OCSD_OP_FLUSH);
  }
  if (said < OCSD_RESP_FATAL_NOT_INIT) said = operate(tree, OCSD_OP_EOT);
  while (OCSD_DATA_RESP_IS_WAIT(said)) said = operate(tree, OCSD_OP_FLUSH);
  ocsd_destroy_dcd_tree(tree);
}

static void flags_about_bad_packets(void) {
  static const int flags[] = {0x01, 0x11, 0x21, 0x41, 0x02, 0x12, 0x22, 0x42, 0x102, 0x202};
  static const char *const bad[] = {
      ("000000000000000000000080 0100 04 85000800000000000031 000501 04 06057004 04 "
       "000000000000000000000080 0100 04"),
      "000000000080 082100100000 000084 0c 02 0c 12 0c 84 000000000080 0c",
      "000000000080 080010000021 10 0c 84 66 000084 66 000000000080 66",
      "ffffffffffffffffffff0f 0f30 1f1f 4443 ffffffffffffffffffff0f 0f30 1400"};
  unsigned i;
  for (i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
    for (protocol = 0; protocol < PROTOCOLS; ++protocol) {
      size = 0;
      put(bad[protocol]);
      decode(make(0, flags[i]), 0);
    }
  }
}

/* As frames of one ID. */
static void frame(void) {
  static uint8_t bytes[2048];
  const unsigned all = size;
  unsigned at = 0, i;
  memcpy(bytes, trace, all);
  for (size = 0; at < all; size += 16) {
    uint8_t *const out = trace + size;
    memset(out, 0, 16);
    out[0] = 0x21;
    for (i = 1; i < 15; ++i) {
      out[i] = at < all ? bytes[at++] : protocol == ETMV4 ? 0x70 : 0x66;
      if (i % 2 == 0 && (out[i] & 1) != 0) {
        out[15] |= (uint8_t)(1u << i / 2);
        out[i] &= 0xFE;
      }
    }
  }
}

static void random_traces(unsigned count) {
  static const char *const starts[] = {"000000000000000000000080 0100 04 85000800000000000031",
                                       "000000000080 082100100000", "000000000080 080010000021",
                                       "ffffffffffffffffffff0f 0f30"};
  static const char *const parts[][8] = {
      {"f7", "ff", "04", "f7f7f7", "85000800000000000031 f7", "81 21 f7", "73",
       "000000000000000000000080 0100 85000800000000000031"},
      {"84", "88", "8484", "0c", "082100100000", "428180808080808001", "000000000080 082100100000",
       "84"},
      {"84", "88", "0c", "080010000021", "4281808080808001", "000000000080 080010000021", "84",
       "840c"},
      {"4144", "4445", "ee", "44aa44bb", "4411", "1440", "4102", "ee"}};
  unsigned i, k;
  for (i = 0; i < count; ++i) {
    seed = i * 7919u + 1;
    protocol = (int)below(PROTOCOLS);
    {
      const int frames = protocol != STM && below(2);
      size = 0;
      put(starts[protocol]);
      for (k = 3 + below(12); k != 0; --k) put(parts[protocol][below(8)]);
      if (frames) frame();
      /* The reference loses half a byte of STM after a WAIT at the end of a block. */
      waits = protocol != STM;
      decode(make(frames, OCSD_CREATE_FLG_FULL_DECODER), frames);
    }
  }
}

int main(void) {
  setbuf(stdout, NULL);
  memset(&etmv4, 0, sizeof(etmv4));
  etmv4.reg_idr0 = 0x28000EA1;
  etmv4.reg_idr1 = 0x4100F423;
  etmv4.reg_idr2 = 0x1088;
  etmv4.reg_traceidr = 0x10;
  etmv4.arch_ver = ARCH_V8;
  etmv4.core_prof = profile_CortexA;
  ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
  flags_about_bad_packets();
  random_traces(400);
  return 0;
}
