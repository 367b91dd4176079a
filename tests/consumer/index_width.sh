#!/usr/bin/env bash
# index_width.sh LIBDIR INCLUDEDIR OUT CC CXX: a client whose trace indexes have the width of the library is linked and
# works; one of the other width is refused.
set -euo pipefail
libdir=$1 include=$2 out=$3 cc=$4 cxx=$5
here=$(dirname "$0")
export PKG_CONFIG_PATH=$libdir/pkgconfig
mkdir -p "$out"
large=-DENABLE_LARGE_TRACE_SOURCES

# compile FLAG...: builds both clients.
compile() {
  "$cc" -std=c99 -Wall -Wextra -Werror "$@" -I"$include" "$here/index_width.c" -o "$out/c_client" \
    -L"$libdir" -lopencsd_c_api -lopencsd -Wl,-rpath,"$libdir" &&
    "$cxx" -std=c++17 "$@" -I"$include/opencsd-cpp" "$here/index_width.cc" -o "$out/cpp_client" \
      -L"$libdir" -lopencsd -Wl,-rpath,"$libdir"
}

read -r -a flags <<<"$(pkg-config --cflags-only-other libopencsd)"
compile "${flags[@]}"
"$out/cpp_client"
said=$("$out/c_client")
expected=6
other=("$large")
if [ "${flags[*]}" = "$large" ]; then
  expected=4294967302
  other=()
fi
[ "$said" = "$expected" ] || { echo "The index is $said, not $expected." >&2; exit 1; }

# refused_for SYMBOL COMMAND...: the linker misses the symbol.
refused_for() {
  local symbol=$1 report
  shift
  report=$("$@" 2>&1) && { echo "A client of the other width was linked: $*" >&2; exit 1; }
  grep -q "undefined reference to .*$symbol" <<<"$report" || { echo "$report" >&2; exit 1; }
}
refused_for ocsd_create_dcd_tree "$cc" -std=c99 "${other[@]}" -I"$include" "$here/index_width.c" -o "$out/refused" \
  -L"$libdir" -lopencsd_c_api -lopencsd
for begin in TrcPktProcEtmV3 TrcPktProcPtm TrcPktProcEtmV4I TrcPktProcItm TrcPktProcStm TraceFormatterFrameDecoder \
  DecodeTree::CreateDecodeTree; do
  refused_for "$begin" "$cxx" -std=c++17 "${other[@]}" -I"$include/opencsd-cpp" "$here/index_width.cc" \
    -o "$out/refused" -L"$libdir" -lopencsd
done
