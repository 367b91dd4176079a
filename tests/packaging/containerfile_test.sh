#!/usr/bin/env bash
# containerfile_test.sh ROOT: podman accepts the Containerfile. scripts/release --check builds and runs it.
set -euo pipefail
root=$1
skip() {
  echo "Skipped: $*"
  exit 77
}
command -v podman >/dev/null || skip "install the package podman."
work=$(mktemp -d)
trap 'podman --root "$work/root" --runroot "$work/run" rmi -fa >/dev/null 2>&1; chmod -R u+w "$work"; rm -rf "$work"' EXIT
podman_here() { podman --root "$work/root" --runroot "$work/run" --storage-driver vfs "$@"; }
podman_here info >"$work/said" 2>&1 || skip "podman does not work here: $(tail -n 1 "$work/said")"

# A base without any program, so that the first RUN fails, but only after the whole file was read.
mkdir -p "$work/base/etc" "$work/packages"
tar -c -C "$work/base" . | podman_here import - localhost/empty >/dev/null 2>&1
for target in waymark view; do
  if podman_here build --build-arg BASE=localhost/empty --target "$target" -f "$root/Containerfile" "$work/packages" \
    >"$work/said" 2>&1; then
    echo "FAILED: a base without apt-get should not do for $target."
    exit 1
  fi
  grep -q 'RUN --mount=type=bind' "$work/said" || {
    echo "FAILED: podman did not come to the first RUN of $target:"
    cat "$work/said"
    exit 1
  }
done
podman_here build --build-arg BASE=localhost/empty --target nothing -f "$root/Containerfile" "$work/packages" \
  >"$work/said" 2>&1 && { echo "FAILED: there should be no target 'nothing'."; exit 1; }
grep -qi 'nothing' "$work/said"
