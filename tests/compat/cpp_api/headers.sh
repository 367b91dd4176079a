#!/usr/bin/env bash
# headers.sh INCLUDE COMPILER [STANDARD...]: the C++ headers of the interface compile together without a warning, in each
# C++ from 11 to 23, with each installed compiler; and each header alone in these versions of C++.
set -uo pipefail
include=$1
standards=("${@:3}")
compilers=("$2")
for other in g++ clang++-19; do
  if [ "$other" != "$(basename "$2")" ] && command -v "$other" >/dev/null; then
    compilers+=("$other")
  fi
done

failed=0
try() { # COMPILER STANDARD HEADER...
  if ! printf '#include "%s"\n' "${@:3}" |
    "$1" "-std=c++$2" -Wall -Wextra -Werror -fsyntax-only "-I$include" -x c++ -; then
    echo "${*:3} does not compile with $1 in C++$2." >&2
    failed=1
  fi
}
cd "$include" || exit 1
headers=$(find interfaces common mem_acc i_dec pkt_printers opencsd -name '*.h' \
  ! -path 'opencsd/c_api/*' | sort)
[ -n "$headers" ] || { echo "There are no headers in $include." >&2; exit 1; }
for header in $headers; do
  for standard in "${standards[@]}"; do try "${compilers[0]}" "$standard" "$header"; done
done
for compiler in "${compilers[@]}"; do
  # shellcheck disable=SC2086  # One word for each header.
  for standard in 11 14 17 20 23; do try "$compiler" "$standard" opencsd.h $headers; done
done
exit $failed
