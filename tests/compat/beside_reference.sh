#!/usr/bin/env bash
# beside_reference.sh CLIENT LIBRARY_FOLDER REFERENCE: the output of beside_reference.c with both libraries.
#
# REFERENCE is the 1.3.3 libopencsd_c_api.so.1; where it does not exist, there is nothing to compare.
set -euo pipefail
client=$1 folder=$2 reference=$3
if [ ! -e "$reference" ]; then
  echo "Skipped: the comparison needs the package libopencsd1."
  exit 77
fi
# Texts of 1.8.0 that 1.3.3 did not have; and warnings for packets before the last one of a block, which
# the reference loses (docs/opencsd-compatibility.md).
listing() {
  LD_LIBRARY_PATH=$1 "$client" |
    sed -e 's/; Decoder Sync point TINFO//' -e 's/; Memspace \[[^]]*\]//' -e 's/ *$//' \
      -e 's/\(0x[0-9a-f]*\) )/\1)/' -e 's/^\([0-9]* bytes at [0-9]*\): 1,/\1: 0,/' \
      -e 's/^operation 2: 1$/operation 2: 0/'
}
ours=$(listing "$folder")
theirs=$(listing "$(dirname "$reference")")
if [ "$ours" != "$theirs" ]; then
  diff -U5 <(echo "$theirs") <(echo "$ours") | head -60 || true
  exit 1
fi
echo "$(echo "$ours" | wc -l) lines, the same as the reference's."
