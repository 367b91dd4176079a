#!/usr/bin/env bash
# symbols_test.sh LIBRARY_FOLDER [REFERENCE]: the symbols that the libraries export.
#
# REFERENCE is the reference's libopencsd_c_api.so.1; without it, or where it does not exist, only
# Waymark's libraries are checked.
set -euo pipefail
folder=$1 reference=${2:-}
export LC_ALL=C
fail() {
  echo "$*" >&2
  exit 1
}
symbols() { nm -D --defined-only "$1" | awk '$2 == "T" && $3 ~ /^ocsd_/ {print $3}' | sort; }
dynamic() { objdump -p "$1" | awk -v key="$2" '$1 == key {print $2}'; }

ours=$folder/libopencsd_c_api.so.1
[ "$(dynamic "$ours" SONAME)" = libopencsd_c_api.so.1 ] || fail "$ours has another SONAME."
[ "$(dynamic "$folder/libopencsd.so.1" SONAME)" = libopencsd.so.1 ] || fail "libopencsd has another SONAME."
dynamic "$ours" NEEDED | grep -qx libopencsd.so.1 || fail "$ours does not need libopencsd.so.1."
others=$(nm -D --defined-only "$ours" | awk '$3 !~ /^ocsd_/')
[ -z "$others" ] || fail "$ours shows more than the C API: $others"
[ "$(symbols "$ours" | wc -l)" = 34 ] || fail "$ours shows $(symbols "$ours" | wc -l) functions, not 34."
if objdump -p "$ours" | grep -q 'Version definitions'; then fail "$ours has symbol versions."; fi

if [ -z "$reference" ] || [ ! -e "$reference" ]; then
  echo "Skipped: the comparison with 1.3.3 needs the package libopencsd1."
  exit 0
fi
missing=$(comm -23 <(symbols "$reference") <(symbols "$ours"))
[ -z "$missing" ] || fail "The reference has functions that we have not: $missing"
added=$(comm -13 <(symbols "$reference") <(symbols "$ours"))
[ "$added" = ocsd_dt_set_mem_acc_cacheing ] || [ -z "$added" ] || fail "We add other functions: $added"
echo "34 functions, all of the reference's among them."
