#!/usr/bin/env bash
# abi_test.sh ROOT: what scripts/check-abi says of a small library whose interface changes.
set -euo pipefail
root=$1
command -v abidiff >/dev/null || { echo "Skipped: install the package abigail-tools."; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

mkdir -p "$work/scripts" "$work/include/waymark" "$work/src"
cp "$root/scripts/check-abi" "$work/scripts/"
cd "$work"
git init -q
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(waymark VERSION 0.1.0 LANGUAGES CXX)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_library(waymark src/inside.cc src/public.cc)
target_include_directories(waymark PRIVATE include)
add_custom_target(waymark_api_headers
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/include/waymark/public.h
          ${PROJECT_BINARY_DIR}/api/waymark/public.h)
END
cat >include/waymark/public.h <<'END'
struct Point {
  int x;
};
int first(const Point& point);
int second(const Point& point);
END
echo 'int inside(int number);' >include/waymark/inside.h
printf '#include "waymark/inside.h"\nint inside(int number) { return number; }\n' >src/inside.cc
cat >src/public.cc <<'END'
#include "waymark/public.h"
int first(const Point& point) { return point.x; }
int second(const Point& point) { return point.x; }
END
printf '/build/\n' >.gitignore
save() {
  git add -A
  git -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m "$1"
}

# expect STATUS TEXT [OPTION...]: of scripts/check-abi.
expect() {
  local status=0 output
  output=$(scripts/check-abi "${@:3}" 2>&1) || status=$?
  if [ "$status" -ne "$1" ] || [[ $output != *"$2"* ]]; then
    printf 'FAILED: expected status %s and "%s"; got %s and:\n%s\n' "$1" "$2" "$status" "$output"
    failures=1
  fi
}

save first
expect 0 'There is no release yet'
git tag v0.1.0

# Another function, and what no installed header declares.
echo 'int third();' >>include/waymark/public.h
echo 'int third() { return 3; }' >>src/public.cc
printf '#include "waymark/inside.h"\nint outside(int number) { return number; }\n' >src/inside.cc
expect 0 'Programs that were built with it work'

# A structure grows.
sed -i 's/  int x;/  int x;\n  int y;/' include/waymark/public.h
expect 1 'the interface has changed since v0.1.0, but the version is still 0.1'
sed -i '/int y;/d' include/waymark/public.h

# A function is missing, first without and then with another version.
sed -i '/second/d' include/waymark/public.h src/public.cc
expect 1 'second'
sed -i 's/VERSION 0.1.0/VERSION 0.2.0/' CMakeLists.txt
expect 0 'The interface has changed, as version 0.2 may after 0.1'

# A record comes before tags, and needs neither them nor the old sources.
expect 0 'The interface is recorded in abi/' --record
recorded=$(sha256sum abi/*-0.2.0.abi.xz)
expect 0 'The interface is recorded in abi/' --record
[ "$recorded" = "$(sha256sum abi/*-0.2.0.abi.xz)" ] || { echo "FAILED: two records differ."; failures=1; }
if xz -dc abi/*.xz | grep -F "$work"; then
  echo "FAILED: the record names a folder of this machine."
  failures=1
fi
expect 0 'Comparing with 0.2.0'
sed -i '/third/d' include/waymark/public.h src/public.cc
expect 1 'the interface has changed since 0.2.0, but the version is still 0.2'
expect 1 'the interface has changed since 0.2.0' --record
[ "$recorded" = "$(sha256sum abi/*-0.2.0.abi.xz)" ] || { echo "FAILED: a record was replaced."; failures=1; }
sed -i 's/VERSION 0.2.0/VERSION 0.10.0/' CMakeLists.txt
expect 0 'The interface has changed, as version 0.10 may after 0.2' --record
expect 0 'Comparing with 0.10.0'
exit "$failures"
