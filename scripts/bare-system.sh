# Sourced after common.sh by scripts that try something in a bare Debian, in which only they install packages.
# shellcheck shell=bash
#
# bare is the folder of the bare system, which is kept; system that of a copy, which changes; system_log a file for the
# output of what happens there. Changes of the package lists of these scripts stay in the copy.
root=${root:?}

bare=$root/build/bare
system=
system_log=

# in_system COMMAND...: without anything of the environment but the proxies.
in_system() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" chroot "$system" "$@"
}

# quietly COMMAND...: its output is only shown if it fails.
quietly() {
  "$@" >>"$system_log" 2>&1 || {
    tail -n 30 "$system_log" >&2
    die "This failed: $*. See the lines above, from ${system_log#"$root"/}."
  }
}

# A copy of the bare system of the Debian of this machine, with the package lists of today. What is mounted in it
# disappears with the mount namespace of the caller: unshare --mount.
make_system() {
  local codename mirror
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(debian_sources | awk -v name="$codename" '$3 == name { print $2; exit }')
  [ -n "$mirror" ] || die "apt on this machine has no repository of Debian $codename."
  : >"$system_log"
  if [ ! -f "$bare.complete" ]; then
    say "A bare Debian $codename in ${bare#"$root"/}"
    rm -rf "$bare"
    quietly debootstrap --variant=minbase "$codename" "$bare" "$mirror"
    debian_sources >"$bare/etc/apt/sources.list"
    touch "$bare.complete"
  fi
  rm -rf "$system"
  cp -a "$bare" "$system"
  mount -t proc proc "$system/proc"
  quietly in_system apt-get -q update
}
