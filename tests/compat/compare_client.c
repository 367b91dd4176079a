/* compare_client PLAN: decodes a trace through the C API as PLAN says, and prints every answer.
 *
 * scripts/compare-opencsd runs it with the reference's library and with Waymark's.  A plan has one
 * directive in each line; numbers are decimal, or hexadecimal after 0x:
 *   tree SOURCE FLAGS               of ocsd_create_dcd_tree
 *   decoder NAME FLAGS REGISTER=N... of ocsd_dt_create_decoder
 *   memory ADDRESS FILE OFFSET LENGTH
 *   raw FLAGS                       of ocsd_dt_set_raw_frame_printer
 *   block N                         bytes in each call; 0: random sizes
 *   waits N                         percent of packets and elements that are answered with WAIT
 *   seed N                          of the sizes and the waits
 *   trace FILE                      last: decodes it
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/c_api/opencsd_c_api.h"

enum { MOST = 16, LINE = 4096, TEXT = 2048 };

static struct source {
  ocsd_trace_protocol_t protocol;
  unsigned char id;
} sources[MOST];
static unsigned count;
static unsigned seed = 1;
static unsigned block = 1024;
static unsigned waits;
static unsigned alignment = 1;
static dcd_tree_handle_t tree;

static unsigned below(unsigned limit) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 10) % limit;
}

static ocsd_datapath_resp_t answer(void) {
  return waits != 0 && below(100) < waits ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

static void on_monitor(const void *context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                       const uint8_t *bytes) {
  const struct source *source = context;
  char text[TEXT] = "";
  uint32_t i;
  if (op != OCSD_OP_DATA) {
    printf("monitor %x: operation %d\n", source->id, (int)op);
    return;
  }
  ocsd_pkt_str(source->protocol, packet, text, sizeof(text));
  printf("monitor %x: %" PRIu64 " [", source->id, (uint64_t)index);
  for (i = 0; i < size; ++i) printf("%02x", bytes[i]);
  printf("] %s\n", text);
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet) {
  const struct source *source = context;
  const ocsd_datapath_resp_t said = op == OCSD_OP_DATA ? answer() : OCSD_RESP_CONT;
  char text[TEXT] = "";
  if (packet != NULL) ocsd_pkt_str(source->protocol, packet, text, sizeof(text));
  printf("sink %x: operation %d, %" PRIu64 " %s\n", source->id, (int)op, (uint64_t)index, text);
  return said;
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element) {
  char text[TEXT] = "";
  (void)context;
  ocsd_gen_elem_str(element, text, sizeof(text));
  printf("element %x: %" PRIu64 " %s\n", id, (uint64_t)index, text);
  return answer();
}

static void on_text(const void *context, const char *text, const int size) {
  (void)context;
  (void)size;
  printf("log: %s%s", text, strchr(text, '\n') != NULL ? "" : "\n");
}

static void fail(const char *what, const char *text) {
  fprintf(stderr, "compare_client: %s: %s\n", what, text);
  exit(2);
}

static uint32_t value_of(char *const *words, const char *name) {
  const size_t length = strlen(name);
  for (; *words != NULL; ++words) {
    if (strncmp(*words, name, length) == 0 && (*words)[length] == '=')
      return (uint32_t)strtoul(*words + length + 1, NULL, 0);
  }
  return 0;
}

static void create(char *const *words) {
  const char *const name = words[0];
  const int flags = (int)strtol(words[1], NULL, 0);
  char *const *const registers = words + 2;
  const int is_ete = strcmp(name, OCSD_BUILTIN_DCD_ETE) == 0;
  struct source *const source = &sources[count];
  ocsd_etmv4_cfg etmv4;
  ocsd_ete_cfg ete;
  ocsd_etmv3_cfg etmv3;
  ocsd_ptm_cfg ptm;
  ocsd_stm_cfg stm;
  const void *config = NULL;
  ocsd_err_t made;
  if (count == MOST) fail("too many decoders", name);
  memset(&etmv4, 0, sizeof(etmv4));
  memset(&ete, 0, sizeof(ete));
  memset(&etmv3, 0, sizeof(etmv3));
  memset(&ptm, 0, sizeof(ptm));
  memset(&stm, 0, sizeof(stm));
  if (strcmp(name, OCSD_BUILTIN_DCD_ETMV4I) == 0) {
    source->protocol = OCSD_PROTOCOL_ETMV4I;
    etmv4.reg_idr0 = value_of(registers, "TRCIDR0");
    etmv4.reg_idr1 = value_of(registers, "TRCIDR1");
    etmv4.reg_idr2 = value_of(registers, "TRCIDR2");
    etmv4.reg_idr8 = value_of(registers, "TRCIDR8");
    etmv4.reg_idr9 = value_of(registers, "TRCIDR9");
    etmv4.reg_idr10 = value_of(registers, "TRCIDR10");
    etmv4.reg_idr11 = value_of(registers, "TRCIDR11");
    etmv4.reg_idr12 = value_of(registers, "TRCIDR12");
    etmv4.reg_idr13 = value_of(registers, "TRCIDR13");
    etmv4.reg_configr = value_of(registers, "TRCCONFIGR");
    etmv4.reg_traceidr = value_of(registers, "TRCTRACEIDR");
    etmv4.arch_ver = ARCH_V8;
    etmv4.core_prof = profile_CortexA;
    config = &etmv4;
  } else if (is_ete) {
    source->protocol = OCSD_PROTOCOL_ETE;
    ete.reg_idr0 = value_of(registers, "TRCIDR0");
    ete.reg_idr1 = value_of(registers, "TRCIDR1");
    ete.reg_idr2 = value_of(registers, "TRCIDR2");
    ete.reg_idr8 = value_of(registers, "TRCIDR8");
    ete.reg_devarch = value_of(registers, "TRCDEVARCH");
    ete.reg_configr = value_of(registers, "TRCCONFIGR");
    ete.reg_traceidr = value_of(registers, "TRCTRACEIDR");
    ete.arch_ver = ARCH_AA64;
    ete.core_prof = profile_CortexA;
    config = &ete;
  } else if (strcmp(name, OCSD_BUILTIN_DCD_ETMV3) == 0) {
    source->protocol = OCSD_PROTOCOL_ETMV3;
    etmv3.reg_idr = value_of(registers, "ETMIDR");
    etmv3.reg_ctrl = value_of(registers, "ETMCR");
    etmv3.reg_ccer = value_of(registers, "ETMCCER");
    etmv3.reg_trc_id = value_of(registers, "ETMTRACEIDR");
    etmv3.arch_ver = ARCH_V7;
    etmv3.core_prof = profile_CortexA;
    config = &etmv3;
  } else if (strcmp(name, OCSD_BUILTIN_DCD_PTM) == 0) {
    source->protocol = OCSD_PROTOCOL_PTM;
    ptm.reg_idr = value_of(registers, "ETMIDR");
    ptm.reg_ctrl = value_of(registers, "ETMCR");
    ptm.reg_ccer = value_of(registers, "ETMCCER");
    ptm.reg_trc_id = value_of(registers, "ETMTRACEIDR");
    ptm.arch_ver = ARCH_V7;
    ptm.core_prof = profile_CortexA;
    config = &ptm;
  } else if (strcmp(name, OCSD_BUILTIN_DCD_STM) == 0) {
    source->protocol = OCSD_PROTOCOL_STM;
    stm.reg_tcsr = value_of(registers, "STMTCSR");
    stm.reg_feat3r = value_of(registers, "STMFEAT3R");
    stm.reg_devid = value_of(registers, "STMDEVID");
    stm.hw_event = HwEvent_Unknown_Disabled;
    config = &stm;
  } else {
    fail("unknown decoder", name);
  }
  made = ocsd_dt_create_decoder(tree, name, flags, config, &source->id);
  printf("decoder %s, flags %#x: %d, id %x\n", name, (unsigned)flags, (int)made, source->id);
  if (made != OCSD_OK) return;
  printf("attach: %d", (int)ocsd_dt_attach_packet_callback(tree, source->id, OCSD_C_API_CB_PKT_MON,
                                                           (void *)on_monitor, source));
  if ((flags & OCSD_CREATE_FLG_PACKET_PROC) != 0)
    printf(", %d", (int)ocsd_dt_attach_packet_callback(tree, source->id, OCSD_C_API_CB_PKT_SINK,
                                                       (void *)on_packet, source));
  printf("\n");
  ++count;
}

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *const file = fopen(path, "rb");
  uint8_t *bytes = NULL;
  long length = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
  if (length < 0) fail("cannot read", path);
  rewind(file);
  bytes = malloc((size_t)length + 1);
  if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length)
    fail("cannot read", path);
  fclose(file);
  *size = (size_t)length;
  return bytes;
}

static int operate(ocsd_datapath_op_t op) {
  const int said = (int)ocsd_dt_process_data(tree, op, 0, 0, NULL, NULL);
  printf("operation %d: %d\n", (int)op, said);
  return said;
}

static void decode(const char *path) {
  size_t size = 0;
  uint8_t *const bytes = read_file(path, &size);
  size_t at = 0;
  unsigned idle = 0;
  int said = OCSD_RESP_CONT;
  ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL);
  while (at < size && said < OCSD_RESP_FATAL_NOT_INIT && idle < 4) {
    size_t most = block != 0 ? block : alignment * (1 + below(200));
    uint32_t used = 0;
    if (most > size - at) most = size - at;
    said = (int)ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)at, (uint32_t)most,
                                     bytes + at, &used);
    printf("%u bytes at %u: %d, %u used\n", (unsigned)most, (unsigned)at, said, used);
    at += used;
    idle = used == 0 ? idle + 1 : 0;
    while (OCSD_DATA_RESP_IS_WAIT(said)) said = operate(OCSD_OP_FLUSH);
  }
  if (said < OCSD_RESP_FATAL_NOT_INIT) said = operate(OCSD_OP_EOT);
  while (OCSD_DATA_RESP_IS_WAIT(said)) said = operate(OCSD_OP_FLUSH);
  free(bytes);
}

static void obey(char *line) {
  char *words[32];
  size_t length = 0;
  char *word = strtok(line, " \n");
  for (; word != NULL && length + 1 < sizeof(words) / sizeof(words[0]); word = strtok(NULL, " \n"))
    words[length++] = word;
  words[length] = NULL;
  if (length < 2) fail("not a directive", line);
  if (strcmp(words[0], "tree") == 0 && length == 3) {
    const unsigned flags = (unsigned)strtoul(words[2], NULL, 0);
    const int framed = atoi(words[1]) == OCSD_TRC_SRC_FRAME_FORMATTED;
    alignment = !framed ? 1 : (flags & OCSD_DFRMTR_FRAME_MEM_ALIGN) != 0 ? 16 : 4;
    tree = ocsd_create_dcd_tree((ocsd_dcd_tree_src_t)atoi(words[1]), flags);
    if (tree == C_API_INVALID_TREE_HANDLE) fail("no tree", words[2]);
    ocsd_def_errlog_set_strprint_cb(tree, NULL, on_text);
  } else if (strcmp(words[0], "decoder") == 0 && length >= 3) {
    create(words + 1);
  } else if (strcmp(words[0], "memory") == 0 && length == 5) {
    ocsd_file_mem_region_t region;
    region.file_offset = (size_t)strtoull(words[3], NULL, 0);
    region.start_address = strtoull(words[1], NULL, 0);
    region.region_size = (size_t)strtoull(words[4], NULL, 0);
    printf("memory: %d\n",
           (int)(region.region_size == 0 ? ocsd_dt_add_binfile_mem_acc(tree, region.start_address,
                                                                       OCSD_MEM_SPACE_ANY, words[2])
                                         : ocsd_dt_add_binfile_region_mem_acc(
                                               tree, &region, 1, OCSD_MEM_SPACE_ANY, words[2])));
  } else if (strcmp(words[0], "raw") == 0) {
    printf("raw: %d\n", (int)ocsd_dt_set_raw_frame_printer(tree, atoi(words[1])));
  } else if (strcmp(words[0], "block") == 0) {
    block = (unsigned)strtoul(words[1], NULL, 0);
  } else if (strcmp(words[0], "waits") == 0) {
    waits = (unsigned)strtoul(words[1], NULL, 0);
  } else if (strcmp(words[0], "seed") == 0) {
    seed = (unsigned)strtoul(words[1], NULL, 0);
  } else if (strcmp(words[0], "trace") == 0) {
    decode(words[1]);
  } else {
    fail("not a directive", words[0]);
  }
}

int main(int argc, char **argv) {
  char line[LINE];
  FILE *const plan = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (plan == NULL) fail("usage", "compare_client PLAN");
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  /* The text goes to the function only: its order among the other lines matters. */
  ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
  ocsd_def_errlog_config_output(0, NULL);
  while (fgets(line, sizeof(line), plan) != NULL) obey(line);
  fclose(plan);
  ocsd_destroy_dcd_tree(tree);
  return 0;
}
