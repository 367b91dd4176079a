#!/usr/bin/env bash
# perf_test.sh LIBRARY_FOLDER: the output of the system's perf on Waymark's libraries equals that on
# the reference's 1.8.0: sample ../shared/data/perf/two-process, byte for byte.
set -euo pipefail
folder=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
sample=${WAYMARK_SHARED:-$root/../shared}/data/perf/two-process

skip() {
  echo "Skipped: $*"
  exit 77
}
[ -d "$sample" ] || skip "the sample needs the folder ../shared beside the repository."
perf=$(command -v perf) || skip "there is no perf; install the package linux-perf."
# The recordings were made with one version of perf; other versions have different texts.
case $("$perf" --version) in
  "perf version 6.1."*) ;;
  *) skip "the sample was recorded with perf 6.1, this is $("$perf" --version)." ;;
esac
case $(LD_DEBUG=libs "$perf" --version 2>&1) in
  *"find library=libopencsd_c_api"*) ;;
  *) skip "this perf was built without OpenCSD." ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$sample"
failed=0

# compare NAME ARGUMENT...
compare() {
  local name=$1
  shift
  # perf has settings and a build-id cache in the home folder; neither is used here.
  HOME=$work LD_LIBRARY_PATH=$folder "$perf" "$@" 2>"$work/errors" | grep -v '(Tip:' >"$work/$name.txt" || true
  if cmp -s "$work/$name.txt" "expected/$name.1.8.0.txt"; then
    echo "equal: $name"
  else
    echo "DIFFERS: $name" >&2
    diff "expected/$name.1.8.0.txt" "$work/$name.txt" | head -n 10 >&2 || true
    head -n 3 "$work/errors" >&2
    failed=1
  fi
}

input=(-i perf.data --symfs symfs)
compare i1i script "${input[@]}" --itrace=i1i -F comm,tid,cpu,period,event,ip,sym,symoff,dso
compare i100il script "${input[@]}" --itrace=i100il
compare b script "${input[@]}" --itrace=b
compare script-D script "${input[@]}" -D
compare report-i100i report "${input[@]}" --stdio --itrace=i100i
compare report-i100il report "${input[@]}" --stdio --itrace=i100il

# Check that perf used Waymark's library.
case $(HOME=$work LD_DEBUG=libs LD_LIBRARY_PATH=$folder "$perf" --version 2>&1) in
  *"calling init: $folder/libopencsd.so.1"*) ;;
  *) echo "perf did not load $folder/libopencsd.so.1." >&2; failed=1 ;;
esac
exit "$failed"
