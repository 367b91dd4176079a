#!/usr/bin/env bash
# golden_test.sh CAPI_LISTING: the recorded listings of ../shared, made by a client of the C API.
set -euo pipefail
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
compare=${WAYMARK_SHARED:-$root/../shared}/tools/golden
if [ ! -x "$compare" ]; then
  echo "Skipped: it needs the folder ../shared beside the repository."
  exit 77
fi
status=0
for set in golden damaged; do
  "$compare" "$program" --set "$set" || status=1
done
# The quick part again with the printers of the library, and with a client that waits.
CAPI_LISTING=printers "$compare" "$program" --only '^(TC2|ete_|stm_only|itm_)' || status=1
CAPI_LISTING=waits "$compare" "$program" --only '^(TC2|ete_|q_elem|juno_r1_1).*decode' || status=1
exit "$status"
