# Sourced by the scripts of this folder.  Changes to the root of the repository.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
root=$PWD
program=scripts/$(basename "$0")
jobs=$(nproc)
export root jobs

say() { printf '%s\n' "== $*"; }

die() {
  printf '%s: %s\n' "$program" "$*" >&2
  exit 1
}

misuse() {
  printf '%s: %s\n' "$program" "$*" >&2
  exit 2
}

# The comment after the first line of a script is its help text.
help_if_asked() {
  local argument
  for argument in "$@"; do
    if [ "$argument" = --help ] || [ "$argument" = -h ]; then
      sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p;};}' "$root/$program"
      exit 0
    fi
  done
}

# configure PRESET [OPTION...]
configure() {
  local preset=$1
  shift
  say "Configuring build/$preset"
  cmake --preset "$preset" "$@" --log-level=WARNING >"$root/build/$preset.configure.log" 2>&1 || {
    cat "$root/build/$preset.configure.log" >&2
    return 1
  }
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  say "Building build/$preset with $jobs jobs"
  if [ $# -gt 0 ]; then
    cmake --build --preset "$preset" -j "$jobs" --target "$@"
  else
    cmake --build --preset "$preset" -j "$jobs"
  fi
}

# minutes SECONDS: as a person says it.
minutes() {
  if [ "$1" -lt 90 ]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}

# build_with_progress PRESET: builds, and shows how much is done and how long the rest takes, as the steps so far let
# expect; on a terminal in one line, else about every 10 %. What the build says goes to build/PRESET.build.log, and is shown
# if it fails.
build_with_progress() {
  local preset=$1 log=$root/build/$1.build.log line finished total left percent shown=-1 start=$SECONDS
  local step='^\[([0-9]+)/([0-9]+)\]'
  : >"$log"
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ $line =~ $step ]] || continue
    finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    [ "$finished" -gt 0 ] || continue
    percent=$((100 * finished / total))
    left=$(((SECONDS - start) * (total - finished) / finished))
    if [ -t 1 ]; then
      printf '\r   %3d %% of %d steps, about %s left   ' "$percent" "$total" "$(minutes "$left")"
    elif [ $((percent / 10)) -gt "$shown" ]; then
      printf '   %3d %% of %d steps, about %s left\n' "$percent" "$total" "$(minutes "$left")"
    fi
    shown=$((percent / 10))
  done < <(cmake --build --preset "$preset" -j "$jobs" 2>&1 || echo "$preset was not built")
  [ ! -t 1 ] || [ "$shown" -lt 0 ] || printf '\n'
  if [ "$(tail -n 1 "$log")" = "$preset was not built" ]; then
    cat "$log" >&2
    return 1
  fi
}

# The repositories of Debian that this machine uses, as lines of sources.list.
debian_sources() {
  # shellcheck disable=SC2016
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
    awk '$5 == "Debian" && $4 == "main" { print $1, $2, $3, $4 }' | sort -u
}

# junit_attribute REPORT NAME: what ctest counted.
junit_attribute() {
  sed -n "/<testsuite /,/>/s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p" "$1" 2>/dev/null | head -n 1
}

mkdir -p "$root/build"

# Sanitizer reports only contain function names if the symbolizer is found.
symbolizer=/usr/lib/llvm-19/bin/llvm-symbolizer
if [ -x "$symbolizer" ]; then
  export ASAN_SYMBOLIZER_PATH=$symbolizer UBSAN_SYMBOLIZER_PATH=$symbolizer \
    TSAN_SYMBOLIZER_PATH=$symbolizer
fi
