#!/usr/bin/env bash
# A program that traces itself: its messages, with texts that come from its own ELF file.
# WAYMARK and PROGRAM name the programs.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$PROGRAM" >itself.log
"$WAYMARK" collateral "$PROGRAM" -o itself.xml
"$WAYMARK" syst itself.log --collateral itself.xml >out

expect() {
  grep -qF -- "$1" out && return
  printf 'the output lacks: %s\n' "$1"
  cat out
  exit 1
}
expect 'trace_itself:1  27 needs 111 steps'
expect 'that took "long": 100% of 0.5 s'
expect 'trace_itself.cc:'
expect 'enter main'
expect 'a format on the wire: -1, text'
if grep -q 'catalog id' out; then
  echo 'a message without text:'
  cat out
  exit 1
fi
[ "$(wc -l <out)" -eq 10 ] || { cat out; exit 1; }
echo 'all cases passed'
