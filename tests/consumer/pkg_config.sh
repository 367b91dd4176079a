#!/usr/bin/env bash
# pkg_config.sh LIBDIR VERSION OUT COMPILER...: builds an example with the flags of waymark.pc and
# runs it on the sample.
set -euo pipefail
libdir=$1 version=$2 out=$3
shift 3
root=$(dirname "$0")/../..
export PKG_CONFIG_PATH=$libdir/pkgconfig

found=$(pkg-config --modversion waymark)
[ "$found" = "$version" ] || { echo "waymark.pc says version $found, expected $version" >&2; exit 1; }
mkdir -p "$out"
read -r -a flags <<<"$(pkg-config --cflags waymark)"
read -r -a libraries <<<"$(pkg-config --libs waymark)"
"$@" -std=c++23 "${flags[@]}" "$root/examples/count_instructions.cc" -o "$out/consumer" "${libraries[@]}"
said=$(LD_LIBRARY_PATH=$libdir "$out/consumer" "$root/samples/quicksort")
[ "$said" = 'ID 0x10: 44901 instructions' ] || { echo "The example says: $said" >&2; exit 1; }
