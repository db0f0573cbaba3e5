#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Proves that `make check` and `make demo` do all set-up: runs both on a fresh clone of the last commit, inside a
# bare Debian 12 that holds the base system and make. Needs root, debootstrap, and a Debian mirror.
#   tests/clean_room.sh [TARGET...]        default targets: check demo
#   MIRROR=URL  where Debian comes from;   ROOM=FOLDER  keep the room there, and use it again
#   WITH="mpich libmpich-dev"  packages that are there before: set-up takes the MPI that it finds
set -euo pipefail
project=$(cd "$(dirname "$0")/.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
if [ $# -eq 0 ]; then
    set -- check demo
fi
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    echo "clean_room: needs root and debootstrap" >&2
    exit 1
fi

# In a mount namespace of its own, whatever is mounted in the room goes away with the last process.
if [ -z "${IN_NAMESPACE:-}" ]; then
    IN_NAMESPACE=1 exec unshare --mount --pid --fork "$0" "$@"
fi

if [ -n "${ROOM:-}" ]; then
    room=$ROOM
    mkdir -p "$room"
else
    room=$(mktemp -d /var/tmp/distal-clean-room.XXXXXX)
    trap 'umount -R "$room/proc" "$room/sys" "$room/dev/pts" "$room/dev/shm" 2>/dev/null; rm -rf --one-file-system "$room"' EXIT
fi
if [ ! -x "$room/usr/bin/make" ]; then
    echo "clean_room: bare Debian 12 into $room" >&2
    debootstrap --variant=minbase --include=make bookworm "$room" "$mirror" >"$room/debootstrap.log" 2>&1 ||
        { tail -20 "$room/debootstrap.log" >&2; exit 1; }
fi
mkdir -p "$room/dev/pts" "$room/dev/shm"
mount -t proc proc "$room/proc"
mount -t sysfs -o ro sysfs "$room/sys" # where hwloc and UCX look for cores and networks
mount -t devpts devpts "$room/dev/pts"
mount -t tmpfs tmpfs "$room/dev/shm"
cp /etc/resolv.conf "$room/etc/resolv.conf"
# An installed Debian knows its own name; where nobody does, each start of MPI waits for name servers.
printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(hostname)" >"$room/etc/hosts"

in_room() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive chroot "$room" "$@"
}

if [ -n "${WITH:-}" ]; then
    read -ra packages <<<"$WITH"
    in_room apt-get -q update >"$room/with.log" 2>&1 &&
        in_room apt-get -q -y --no-install-recommends install "${packages[@]}" >>"$room/with.log" 2>&1 ||
        { tail -20 "$room/with.log" >&2; exit 1; }
fi

rm -rf "$room/srv/distal"
git clone --quiet --no-hardlinks "$project" "$room/srv/distal"
for target in "$@"; do
    echo "clean_room: make $target" >&2
    in_room make -C /srv/distal "$target"
done
