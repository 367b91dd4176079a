#!/usr/bin/env bash
# headers.sh INCLUDE COMPILER: every C++ header of the interface compiles alone, from C++11 to C++23,
# without a warning; with the other compiler, where there is one, in the oldest and the newest.
set -uo pipefail
include=$1
compilers=("$2")
for other in g++ clang++-19; do
  if [ "$other" != "$(basename "$2")" ] && command -v "$other" >/dev/null; then
    compilers+=("$other")
  fi
done

failed=0
try() { # COMPILER STANDARD HEADER
  if ! echo "#include \"$3\"" |
    "$1" "-std=c++$2" -Wall -Wextra -Werror -fsyntax-only "-I$include" -x c++ -; then
    echo "$3 does not compile with $1 in C++$2." >&2
    failed=1
  fi
}
cd "$include" || exit 1
headers=$(find interfaces common mem_acc i_dec pkt_printers opencsd -name '*.h' \
  ! -path 'opencsd/c_api/*' | sort)
[ -n "$headers" ] || { echo "There are no headers in $include." >&2; exit 1; }
for compiler in "${compilers[@]}"; do
  for standard in 11 14 17 20 23; do
    chosen=opencsd.h
    case $compiler:$standard in "$2":* | *:11 | *:23) chosen="opencsd.h $headers" ;; esac
    for header in $chosen; do try "$compiler" "$standard" "$header"; done
  done
done
exit $failed
