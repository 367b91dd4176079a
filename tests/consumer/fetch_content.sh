#!/usr/bin/env bash
# fetch_content.sh SOURCE OUT GENERATOR COMPILER [--build]: a project that takes the library with FetchContent gets
# nothing else. With --build, which compiles the library, its program decodes the sample.
set -euo pipefail
source=$1 out=$2 generator=$3 compiler=$4
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$out"
# Not optimised, which takes a fifth of the time.
cmake -S "$here/fetch_content" -B "$out" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DWAYMARK_SOURCE="$source" \
  -DWAYMARK_UNITE=ON -Werror=dev
rules=$(find "$out" -name cmake_install.cmake -exec grep -l 'file(INSTALL' {} +) || true
[ -z "$rules" ] || { echo "The project would install files of Waymark: $rules" >&2; exit 1; }
[ "${5:-}" = --build ] || exit 0
cmake --build "$out" --target consumer
said=$("$out/consumer" "$source/samples/quicksort")
[ "$said" = 'ID 0x10: 44901 instructions' ] || { echo "The example says: $said" >&2; exit 1; }
