#!/bin/bash
# boot.sh FOLDER: boots a systemd of its own in FOLDER/root, in namespaces of its own, on the programs of this machine, or
#   on those in FOLDER/root where a Debian was installed there (package.sh).
# boot.sh check: only says whether that can be done here.
#
# FOLDER/opt/steward is what install.sh has put there, for the programs of this machine. Prints the process that is the
# machine's first, and ends it with all that it has started when the standard input ends: nothing stays, however a test
# ends. What cannot be done is said on standard error, with status 77.
set -eu

folder=$1 stage=${2-}
root=$folder/root
cannot() { echo "$*" >&2; exit 77; }

# Whether FOLDER/root is a system of its own.
is_system() { [ -e "$root/var/lib/dpkg/status" ]; }

# The first process of the machine, on its way to become systemd.
become() {
    # This is still the /proc of whoever asked for the machine.
    local outside
    read -r outside _ < /proc/self/stat
    mount --bind "$root" "$root"
    if ! is_system; then
        mount --bind /usr "$root/usr"
        mount -o remount,bind,ro "$root/usr"
    fi
    mount -t proc proc "$root/proc"
    # The kernel's settings are this machine's as well.
    mount --bind "$root/proc/sys" "$root/proc/sys"
    mount -o remount,bind,ro "$root/proc/sys"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    mkdir -p "$root/dev/pts" "$root/dev/shm"
    chmod 1777 "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
    local name
    for name in null zero full random urandom tty; do
        touch "$root/dev/$name"
        mount --bind "/dev/$name" "$root/dev/$name"
    done
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    ldconfig -r "$root" 2> /dev/null
    hostname machine
    echo "$outside"
    mkdir "$root/before"
    cd "$root"
    pivot_root . before
    # Shared, as systemd expects it: it hands credentials to services by mounts that come to them from elsewhere.
    exec chroot . /bin/sh -c 'umount -l /before && rmdir /before && mount --make-rshared / && exec env -i container=test PATH=/usr/bin:/usr/sbin \
        /lib/systemd/systemd --system --unit=machine.target --log-target=journal --show-status=no' \
        < /dev/null > /dev/null 2>&1
}

# What there is to start, without services that look after hardware, networks and clocks, which are this machine's own.
direct() {
    cat > "$root/etc/systemd/system/machine.target" << 'END'
[Unit]
Requires=basic.target
After=basic.target
Wants=dbus.socket systemd-logind.service
END
    local name
    for name in systemd-udevd systemd-udev-trigger systemd-networkd systemd-resolved systemd-timesyncd; do
        ln -sf /dev/null "$root/etc/systemd/system/$name.service"
    done
}

# What systemd needs of a root folder, and no more of this machine than that.
furnish() {
    mkdir -p "$root"/{dev,etc/systemd/system,etc/systemd/user,home/anna,opt,proc,root,run,srv,sys,tmp,usr} \
        "$root"/var/{lib/systemd/linger,log,tmp}
    chmod 755 "$folder" "$root"
    chmod 1777 "$root/tmp" "$root/var/tmp"
    local name kind
    for name in bin sbin lib lib32 lib64; do
        if [ -L "/$name" ]; then ln -s "$(readlink "/$name")" "$root/$name"; fi
    done
    for name in ld.so.conf ld.so.conf.d pam.d security dbus-1 login.defs alternatives; do
        if [ -e "/etc/$name" ]; then cp -a "/etc/$name" "$root/etc/"; fi
    done
    echo /opt/steward/runtime >> "$root/etc/ld.so.conf"
    printf '%s: files\n' passwd group shadow hosts > "$root/etc/nsswitch.conf"
    cat > "$root/etc/passwd" << 'END'
root:x:0:0:root:/root:/bin/sh
messagebus:x:100:100::/nonexistent:/usr/sbin/nologin
anna:x:1000:1000::/home/anna:/bin/sh
END
    printf '%s\n' root:x:0: messagebus:x:100: anna:x:1000: > "$root/etc/group"
    printf '%s:*:1::::::\n' root messagebus anna > "$root/etc/shadow"
    chown 1000:1000 "$root/home/anna"
    touch "$root/var/lib/systemd/linger/anna"
    tr -d - < /proc/sys/kernel/random/uuid > "$root/etc/machine-id"
    direct
    cp -a "$folder/opt/steward" "$root/opt/"
    for kind in systemd/system systemd/user sysusers.d tmpfiles.d; do
        mkdir -p "$root/etc/$kind"
        cp "$root/opt/steward/lib/$kind"/*.* "$root/etc/$kind/"
    done
}

machine=
end() {
    trap - EXIT
    if [ -n "$machine" ]; then
        kill -KILL "$machine" 2> /dev/null || true
        wait "$machine" 2> /dev/null || true
    fi
    # The kernel lets go of the processes of an ended namespace a moment later.
    local attempt
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        find "$group" -depth -type d -exec rmdir {} + 2> /dev/null || true
        [ -d "$group" ] || return 0
        sleep 0.2
    done
}

if [ "$stage" = inside ]; then become; fi
if [ "$stage" != apart ]; then
    [ "$EUID" = 0 ] || cannot "only root can start a systemd of its own"
    for program in /lib/systemd/systemd dbus-daemon unshare nsenter setpriv; do
        command -v "$program" > /dev/null || cannot "there is no $program here: apt install systemd dbus"
    done
    [ -L /lib ] || cannot "programs lie outside of /usr here"
    if [ "$folder" = check ]; then
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        unshare --mount --net --ipc --uts --cgroup --pid --fork --mount-proc --propagation private \
            mount -t cgroup2 cgroup2 "$folder" 2> /dev/null || cannot "there are no namespaces with a cgroup2 here"
        exit 0
    fi
    exec unshare --mount --net --ipc --uts --propagation private "$0" "$folder" apart
fi

# A group of its own, which the systemd within takes for all there are.
mkdir "$folder/groups"
mount -t cgroup2 cgroup2 "$folder/groups"
group=$folder/groups/steward-machine-$$
mkdir "$group" || cannot "no group can be made below cgroup2 here"
trap end EXIT
trap 'exit 1' HUP INT TERM
if is_system; then direct; else furnish; fi
(
    echo "$BASHPID" > "$group/cgroup.procs"
    exec setpriv --pdeathsig KILL unshare --mount --cgroup --pid --fork --kill-child "$0" "$folder" inside < /dev/null
) &
machine=$!
exec 3<&0
cat <&3 > /dev/null &
wait -n "$machine" "$!" || true
