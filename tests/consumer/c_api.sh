#!/usr/bin/env bash
# c_api.sh LIBDIR OUT COMPILER...: builds the C example with the flags of libopencsd.pc, as a client
# of the reference is built, and runs it on a trace that is made here.
set -euo pipefail
libdir=$1 out=$2
shift 2
root=$(dirname "$0")/../..
export PKG_CONFIG_PATH=$libdir/pkgconfig

found=$(pkg-config --modversion libopencsd)
[ "$found" = 1.8.0 ] || { echo "libopencsd.pc says version $found, expected 1.8.0" >&2; exit 1; }
mkdir -p "$out"
read -r -a flags <<<"$(pkg-config --cflags libopencsd)"
read -r -a libraries <<<"$(pkg-config --libs libopencsd)"
"$@" -std=c99 -pedantic -Wall -Wextra -Wno-cast-qual -Werror "${flags[@]}" \
  "$root/examples/count_elements.c" -o "$out/consumer" "${libraries[@]}" -lopencsd_c_api

# A-sync, trace info, trace on, address 1000 with its context, and three atoms of a loop of two
# instructions.
{
  printf '\000%.0s' 1 2 3 4 5 6 7 8 9 10 11
  printf '\200\001\000\004\205\000\010\000\000\000\000\000\000\261\007\000\000\000\377'
} >"$out/trace.bin"
printf '\037\040\003\325\341\377\377\124' >"$out/code.bin"
said=$(LD_LIBRARY_PATH=$libdir "$out/consumer" "$out/trace.bin" "$out/code.bin" 1000)
[ "$said" = '7 elements, 6 instructions' ] || { echo "The example says: $said" >&2; exit 1; }
