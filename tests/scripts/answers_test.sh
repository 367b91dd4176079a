#!/usr/bin/env bash
# The answers of the scripts before they do any work: help, misuse, the package list.
set -uo pipefail
repository=$1
failures=0

# expect STATUS TEXT COMMAND...: the exit status and a text that the output must hold.
expect() {
  local status=$1 text=$2 output got=0
  shift 2
  output=$("$@" 2>&1 </dev/null) || got=$?
  if [ "$got" -ne "$status" ] || [[ $output != *"$text"* ]]; then
    printf 'FAILED: %s\n  expected status %s and "%s"\n  got status %s and:\n%s\n' \
      "$*" "$status" "$text" "$got" "$output"
    failures=$((failures + 1))
  fi
}

# From another folder, as the scripts must not depend on where they are called.
cd / || exit 1
for script in install build test demo bench fuzz lint packages release sources check-cross; do
  expect 0 "" bash -n "$repository/scripts/$script"
done
for script in install build test demo bench fuzz lint packages release check-abi check-cross; do
  expect 0 "scripts/$script [" "$repository/scripts/$script" --help
done

expect 2 "There is no group 'nothing'" "$repository/scripts/install" nothing
expect 2 "the groups are: build test python opencsd lint bench site packaging cross cluster." "$repository/scripts/install" nothing
expect 2 "Unknown option '--wrong'" "$repository/scripts/install" --wrong
expect 2 "Unknown option '--wrong'" "$repository/scripts/packages" --wrong
expect 2 "Unknown option '--wrong'" "$repository/scripts/release" --wrong
expect 2 "--sysroot takes an architecture" "$repository/scripts/install" --sysroot
expect 2 "--sysroot takes no group" "$repository/scripts/install" --sysroot arm64 build
expect 2 "There is no target 'nothing'" "$repository/scripts/check-cross" nothing
expect 2 "--from takes the folder of a configured build" "$repository/scripts/site" --from nothing
expect 0 "libfmt-dev" "$repository/scripts/install" --list build
expect 2 "There is no preset 'nothing'" "$repository/scripts/build" nothing
expect 2 "There is no suite 'nothing'" "$repository/scripts/test" nothing
expect 2 "'many' is not a number of seconds" "$repository/scripts/fuzz" many
expect 2 "'many' is not a number of lines" "$repository/scripts/demo" many

# The list names each package once, and nothing but packages.
double=$(sed -n 's/#.*//; s/[[:space:]]*$//; /^[^[]/p' "$repository/scripts/packages.txt" | sort | uniq -d)
[ -z "$double" ] || { echo "FAILED: named twice in packages.txt: $double"; failures=$((failures + 1)); }
listed=$("$repository/scripts/install" --list build test lint bench)
odd=$(grep -vE '^[a-z0-9][a-z0-9+.-]+$' <<<"$listed")
[ -z "$odd" ] || { echo "FAILED: no package names: $odd"; failures=$((failures + 1)); }

# No copy of the list anywhere else: nothing but scripts/install calls apt, except in the bare systems of scripts/packages
# and scripts/release.
others=$(grep -lE 'apt(-get)? .*install' "$repository"/scripts/* "$repository/.ci/run" |
  grep -vE '/scripts/(install|packages|release)$')
[ -z "$others" ] || { echo "FAILED: these install packages themselves: $others"; failures=$((failures + 1)); }

# The Debian packages: what they are built with is in the list, and what the list calls [build] is among it. The compiler
# is always there, and debhelper has a package for each level.
cd "$repository" || exit 1
needed=$(sed -n '/^Build-Depends/,/^Package:/{s/^ \([a-z0-9.+-]*\).*/\1/p;}' debian/control | sed 's/^debhelper-compat$/debhelper/' | sort)
unlisted=$(comm -23 <(echo "$needed") <(scripts/install --list build test python site packaging | sort))
[ -z "$unlisted" ] || { echo "FAILED: debian/control needs what packages.txt has not: $unlisted"; failures=$((failures + 1)); }
forgotten=$(comm -13 <(echo "$needed") <(scripts/install --list build | grep -vxF g++ | sort))
[ -z "$forgotten" ] || { echo "FAILED: debian/control lacks: $forgotten"; failures=$((failures + 1)); }
version=$(sed -n 's/^project(waymark VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
expect 0 "waymark ($version)" head -n 1 debian/changelog

exit $((failures > 0))
