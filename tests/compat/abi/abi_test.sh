#!/usr/bin/env bash
# abi_test.sh OUR_INCLUDE COMPILER...: the C headers have the required names, values and layouts.
#
# Waymark's headers are compared with the list of the interface, abi_1_8_0.txt.  If libopencsd-dev is
# installed, its 1.3.3 headers are compared with the same list, except for the listed differences.
set -euo pipefail
include=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# make_probe FOLDER OPTION...: compiles a program there that prints what the list on the standard input names.
make_probe() {
  local folder=$1
  shift
  mkdir -p "$folder"
  sed -E -e '/^#/d' -e 's/^value ([^ ]*) .*/VALUE(\1)/' -e 's/^(sizeof|alignof) ([^ ]*) ([^ ]*) .*/\U\1\E(\2, \3)/' \
    -e 's/^(offset|bits) ([^ ]*) ([^ .]*)\.([^ ]*) .*/\U\1\E(\2, \3, \4)/' >"$folder/abi_table.inc"
  "$@" -std=c99 -w "-I$folder" "$here/abi_probe.c" -o "$folder/probe"
}

make_probe "$work/new" "$@" -DPROBE_NEW "-I$include" <"$here/abi_1_8_0.txt"
"$work/new/probe" | sort >"$work/ours.txt"
grep -v '^#' "$here/abi_1_8_0.txt" | sort >"$work/list.txt"
diff "$work/list.txt" "$work/ours.txt" || { echo "Our headers differ from the interface." >&2; exit 1; }
"$@" -std=c99 -Wall -Wextra -Werror -DPROBE_NEW "-I$include" -c "$here/abi_functions.c" -o "$work/ours.o"

# Every header alone, from C99 to C17 and from C++11 to C++23.
for header in "$include"/opencsd/ocsd_if_*.h "$include"/opencsd/trc_*_types.h \
  "$include"/opencsd/waymark_level.h \
  "$include"/opencsd/*/trc_pkt_types_*.h "$include"/opencsd/c_api/*.h; do
  echo "#include \"$header\"" >"$work/alone.c"
  for standard in 99 11 17; do
    "$@" "-std=c$standard" -pedantic -Wall -Wextra -Werror -fsyntax-only "$work/alone.c"
  done
  for standard in 11 14 17 20 23; do
    "$@" -x c++ "-std=c++$standard" -pedantic -Wall -Wextra -Werror -fsyntax-only "$work/alone.c"
  done
done

if ! echo '#include <opencsd/c_api/opencsd_c_api.h>' | "$@" -x c -fsyntax-only - 2>/dev/null; then
  echo "Skipped: the comparison with 1.3.3 needs the package libopencsd-dev."
  exit 0
fi
sed '/^# New since 1.3.3/,$d' "$here/abi_1_8_0.txt" | make_probe "$work/old" "$@"
"$work/old/probe" | sort >"$work/theirs.txt"
version=$(sed -n 's/^value OCSD_VER_NUM //p' "$work/theirs.txt")
if [ "$version" != 66307 ]; then
  echo "Skipped: the installed libopencsd-dev is not 1.3.3 (OCSD_VER_NUM $version)."
  exit 0
fi
"$@" -std=c99 -Wall -Wextra -Werror -c "$here/abi_functions.c" -o "$work/theirs.o"
# The names with a different value there must be the listed ones.
comm -23 "$work/theirs.txt" "$work/ours.txt" >"$work/differences.txt"
grep -v '^#' "$here/abi_1_3_3_differences.txt" | cut -f 1 | sort >"$work/expected.txt"
diff "$work/expected.txt" "$work/differences.txt" ||
  { echo "1.3.3 differs from us otherwise than listed." >&2; exit 1; }
echo "$(wc -l <"$work/ours.txt") values are those of 1.8.0; $(wc -l <"$work/expected.txt") are known to differ in 1.3.3."
