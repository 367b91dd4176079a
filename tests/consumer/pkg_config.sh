#!/usr/bin/env bash
# pkg_config.sh LIBDIR VERSION OUT COMPILER...: builds consumer.cc with the flags of waymark.pc and
# runs it.
set -euo pipefail
libdir=$1 version=$2 out=$3
shift 3
here=$(dirname "$0")
export PKG_CONFIG_PATH=$libdir/pkgconfig

found=$(pkg-config --modversion waymark)
[ "$found" = "$version" ] || { echo "waymark.pc says version $found, expected $version" >&2; exit 1; }
mkdir -p "$out"
read -r -a flags <<<"$(pkg-config --cflags waymark)"
read -r -a libraries <<<"$(pkg-config --libs waymark)"
"$@" -std=c++23 "${flags[@]}" "$here/consumer.cc" -o "$out/consumer" "${libraries[@]}"
LD_LIBRARY_PATH=$libdir "$out/consumer"
