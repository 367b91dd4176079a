/*
 * Decodes the ETMv4 trace of one core through the OpenCSD C API and counts the instructions.
 *
 *   count_elements TRACE CODE ADDRESS
 *
 * TRACE is the stream of one trace unit, without CoreSight frames; CODE is the contents of
 * the core's memory at ADDRESS (hexadecimal).  This file also builds with OpenCSD's own headers:
 *
 *   cc count_elements.c $(pkg-config --cflags --libs libopencsd) -lopencsd_c_api
 */
#include <opencsd/c_api/opencsd_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file {
  uint8_t *bytes;
  size_t size;
};

struct program {
  struct file code;
  uint64_t address;
};

struct counts {
  unsigned long elements;
  unsigned long instructions;
};

/* Called for each element, in the order of execution. */
static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t trace_id,
                                       const ocsd_generic_trace_elem *element) {
  struct counts *counts = (struct counts *)context;
  (void)index;
  (void)trace_id;
  ++counts->elements;
  if (element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE)
    counts->instructions += element->num_instr_range;
  return OCSD_RESP_CONT;
}

/* The decoder reads the code that the core executed. */
static uint32_t read_code(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint8_t trace_id,
                          const uint32_t wanted, uint8_t *bytes) {
  const struct program *program = (const struct program *)context;
  uint64_t offset, left;
  (void)space;
  (void)trace_id;
  if (address < program->address) return 0;
  offset = address - program->address;
  if (offset >= program->code.size) return 0;
  left = program->code.size - offset;
  if (left > wanted) left = wanted;
  memcpy(bytes, program->code.bytes + offset, (size_t)left);
  return (uint32_t)left;
}

static int read_file(const char *path, struct file *file) {
  FILE *in = fopen(path, "rb");
  long size = -1;
  if (in != NULL && fseek(in, 0, SEEK_END) == 0) size = ftell(in);
  if (size >= 0) {
    rewind(in);
    file->size = (size_t)size;
    file->bytes = (uint8_t *)malloc(file->size + 1);
    if (file->bytes == NULL || fread(file->bytes, 1, file->size, in) != file->size) size = -1;
  }
  if (in != NULL) fclose(in);
  if (size < 0) fprintf(stderr, "count_elements: cannot read %s\n", path);
  return size >= 0;
}

static int fail(const char *what, ocsd_err_t error) {
  char text[256];
  ocsd_err_str(error, text, sizeof(text));
  fprintf(stderr, "count_elements: %s: %s\n", what, text);
  return 1;
}

static int decode(dcd_tree_handle_t tree, const struct file *trace, const struct program *program,
                  struct counts *counts) {
  ocsd_etmv4_cfg config;
  unsigned char trace_id = 0;
  ocsd_err_t error;
  size_t at = 0;

  /* The registers of the trace unit: an ETMv4.0, as on Arm's Juno board. */
  memset(&config, 0, sizeof(config));
  config.reg_idr0 = 0x28000EA1;
  config.reg_idr1 = 0x4100F403;
  config.reg_idr2 = 0x00000488;
  config.reg_configr = 0x000000C1;
  config.reg_traceidr = 0x10;
  config.arch_ver = ARCH_V8;
  config.core_prof = profile_CortexA;

  error = ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER,
                                 &config, &trace_id);
  if (error != OCSD_OK) return fail("creating the decoder", error);
  error = ocsd_dt_set_gen_elem_outfn(tree, on_element, counts);
  if (error != OCSD_OK) return fail("setting the element function", error);
  error = ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~(ocsd_vaddr_t)0, OCSD_MEM_SPACE_ANY,
                                             read_code, program);
  if (error != OCSD_OK) return fail("setting the memory function", error);

  while (at < trace->size) {
    const size_t left = trace->size - at;
    const uint32_t size = left > 65536 ? 65536 : (uint32_t)left;
    uint32_t used = 0;
    const ocsd_datapath_resp_t answer = ocsd_dt_process_data(
        tree, OCSD_OP_DATA, (ocsd_trc_index_t)at, size, trace->bytes + at, &used);
    at += used;
    if (OCSD_DATA_RESP_IS_FATAL(answer) || used == 0) {
      fprintf(stderr, "count_elements: decoding stopped at byte %lu\n", (unsigned long)at);
      return 1;
    }
  }
  ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
  return 0;
}

int main(int argc, char **argv) {
  struct file trace = {NULL, 0};
  struct program program = {{NULL, 0}, 0};
  struct counts counts = {0, 0};
  dcd_tree_handle_t tree;
  int status = 1;

  if (argc != 4) {
    fprintf(stderr, "Usage: count_elements TRACE CODE ADDRESS\n");
    return 2;
  }
  program.address = strtoull(argv[3], NULL, 16);
  tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
  if (tree == C_API_INVALID_TREE_HANDLE) return 1;
  if (read_file(argv[1], &trace) && read_file(argv[2], &program.code))
    status = decode(tree, &trace, &program, &counts);
  if (status == 0) printf("%lu elements, %lu instructions\n", counts.elements, counts.instructions);
  ocsd_destroy_dcd_tree(tree);
  free(trace.bytes);
  free(program.code.bytes);
  return status;
}
