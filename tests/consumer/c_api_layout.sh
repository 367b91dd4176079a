#!/usr/bin/env bash
# c_api_layout.sh LIBDIR INCLUDEDIR OUT COMPILER...: the files of libopencsd1 and libopencsd-dev are
# where Debian has them, and the C example works when it is linked with the static libraries.
set -euo pipefail
libdir=$1 includedir=$2 out=$3
shift 3
root=$(dirname "$0")/../..
export PKG_CONFIG_PATH=$libdir/pkgconfig
fail() {
  echo "$*" >&2
  exit 1
}

for name in libopencsd libopencsd_c_api; do
  for file in "$name.so.1.8.0" "$name.a"; do
    [ -f "$libdir/$file" ] && [ ! -L "$libdir/$file" ] || fail "$libdir/$file is not a file."
  done
  [ "$(readlink "$libdir/$name.so.1")" = "$name.so.1.8.0" ] || fail "$name.so.1 leads elsewhere."
  [ "$(readlink "$libdir/$name.so")" = "$name.so.1" ] || fail "$name.so leads elsewhere."
done
headers='c_api/ocsd_c_api_custom.h c_api/ocsd_c_api_types.h c_api/opencsd_c_api.h
ete/trc_pkt_types_ete.h etmv3/trc_pkt_types_etmv3.h etmv4/trc_pkt_types_etmv4.h ocsd_if_types.h
ocsd_if_version.h ptm/trc_pkt_types_ptm.h stm/trc_pkt_types_stm.h trc_gen_elem_types.h
trc_pkt_types.h itm/trc_pkt_types_itm.h c_api/ocsd_c_api_cust_fact.h c_api/ocsd_c_api_cust_impl.h'
for header in $headers; do
  [ -f "$includedir/opencsd/$header" ] || fail "$includedir/opencsd/$header is missing."
done

mkdir -p "$out"
read -r -a flags <<<"$(pkg-config --cflags libopencsd)"
"$@" -std=c99 -Wno-cast-qual "${flags[@]}" "$root/examples/count_elements.c" -o "$out/consumer" \
  -L"$libdir" -Wl,-Bstatic -lopencsd_c_api -lopencsd -Wl,-Bdynamic -lstdc++ -lm
if objdump -p "$out/consumer" | grep 'NEEDED.*opencsd'; then
  fail "The program still needs the shared library."
fi
{
  printf '\000%.0s' 1 2 3 4 5 6 7 8 9 10 11
  printf '\200\001\000\004\205\000\010\000\000\000\000\000\000\261\007\000\000\000\377'
} >"$out/trace.bin"
printf '\037\040\003\325\341\377\377\124' >"$out/code.bin"
said=$("$out/consumer" "$out/trace.bin" "$out/code.bin" 1000)
[ "$said" = '7 elements, 6 instructions' ] || fail "The example says: $said"
