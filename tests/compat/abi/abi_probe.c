/*
 * Prints sizes, offsets and values of the headers that it is compiled against, a line each, as
 * abi_1_8_0.txt has them.  abi_test.sh makes abi_table.inc from that file.  With PROBE_NEW, the
 * headers are newer than 1.3.3.
 */
#include <opencsd/c_api/opencsd_c_api.h>
#include <stdio.h>
#include <string.h>
#ifdef PROBE_NEW
#include <opencsd/itm/trc_pkt_types_itm.h>
#endif

/* First bit and number of bits that are set; little endian. */
static void print_bits(const char *kind, const char *object, const char *field, const void *bytes,
                       size_t size) {
  const unsigned char *at = (const unsigned char *)bytes;
  size_t first = 0, count = 0, bit;
  for (bit = 0; bit < size * 8; ++bit) {
    if ((at[bit / 8] >> (bit % 8) & 1) == 0) continue;
    if (count++ == 0) first = bit;
  }
  printf("bits %s %s.%s %zu %zu\n", kind, object, field, first, count);
}

#define SIZEOF(kind, tag) printf("sizeof " #kind " " #tag " %zu\n", sizeof(kind tag));
#define ALIGNOF(kind, tag) printf("alignof " #kind " " #tag " %zu\n", __alignof__(kind tag));
#define OFFSET(kind, tag, field) \
  printf("offset " #kind " " #tag "." #field " %zu\n", offsetof(kind tag, field));
#define BITS(kind, tag, field)                                \
  do {                                                        \
    kind tag object;                                          \
    memset(&object, 0, sizeof(object));                       \
    object.field = 0;                                         \
    --object.field;                                           \
    print_bits(#kind, #tag, #field, &object, sizeof(object)); \
  } while (0);
#define VALUE(name)                                      \
  if ((name) < 0)                                        \
    printf("value " #name " %lld\n", (long long)(name)); \
  else                                                   \
    printf("value " #name " %llu\n", (unsigned long long)(name));

int main(void) {
#include "abi_table.inc"
  return 0;
}
