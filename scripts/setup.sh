#!/bin/sh
# Installs the Debian packages that a step needs and that are missing, and says what it does. Nothing is upgraded,
# nothing is removed; where nothing is missing, nothing happens.
#
# usage: scripts/setup.sh build|check
set -eu

step=${1:-build}

# A line each: the command (or file) that shows a package is there, the package.
build_needs='gcc gcc
/usr/include/stdio.h libc6-dev
clang clang'
check_needs="$build_needs
g++ g++
gfortran gfortran
valgrind valgrind
lstopo-no-graphics hwloc
chromium chromium
cmake cmake
qemu-system-x86_64 qemu-system-x86
busybox busybox-static
numactl numactl"

case $step in
    build) needs=$build_needs ;;
    check) needs=$check_needs ;;
    *) echo "usage: $0 build|check" >&2; exit 2 ;;
esac

PATH=$PATH:$HOME/.cargo/bin
if ! command -v cargo >/dev/null; then
    echo "setup: cargo is missing: install Rust with rustup, as https://rustup.rs tells, then try again" >&2
    exit 2
fi

missing=
while read -r shown package; do
    case $shown in
        /*) test -e "$shown" || missing="$missing $package" ;;
        *) command -v "$shown" >/dev/null || missing="$missing $package" ;;
    esac
done <<LIST
$needs
LIST

# The lab's tests fetch a kernel, which takes package lists; a new machine may have none yet.
lists=
if [ "$step" = check ] && command -v apt-cache >/dev/null &&
    [ -z "$(apt-cache search --names-only '^linux-image-[0-9].*-cloud-amd64$')" ]; then
    lists=missing
fi

if [ -z "$missing$lists" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "setup: missing:$missing (names as in Debian 12); install them with this system's package manager" >&2
    exit 2
fi
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    echo "setup: missing:$missing; as root: apt-get install$missing" >&2
    exit 2
fi
echo "setup: ${missing:+installing$missing}${lists:+ fetching package lists}" >&2
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words is meant
$as_root apt-get -q update >&2
if [ -z "$missing" ]; then
    exit 0
fi
# shellcheck disable=SC2086
$as_root apt-get -q install -y --no-install-recommends $missing >&2
