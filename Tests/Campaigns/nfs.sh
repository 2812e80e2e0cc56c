#!/bin/bash
# nfs.sh STEWARD [FOLDER]: two hosts with one place on a real NFS server, and the network of one of them goes. See README.md.
#
# A kernel of its own (user-mode Linux, from Debian) has the server and the two hosts, as network namespaces: the machine's own
# kernel needs no NFS. Its packages are downloaded into FOLDER, a new one by default, and are not installed.
#
# Ends with 0 where each file was done once, by the host that had the place, and else with 1.
set -euo pipefail

uml_packages=(user-mode-linux nfs-common nfs-kernel-server kmod libkmod2 libevent-core-2.1-7 libtirpc3 libnfsidmap1 libkeyutils1)

# On the machine: gets the packages, and boots a kernel that sees the machine's files and has a disk of its own.
boot() {
    local steward folder
    steward=$(realpath "$1")
    folder=${2:-$(mktemp -d)}
    mkdir -p "$folder/root" "$folder/modules/lib" "$folder/sockets"
    cd "$folder"
    if [[ ! -x root/usr/bin/linux.uml ]]; then
        apt-get download "${uml_packages[@]}"
        for package in ./*.deb; do dpkg-deb -x "$package" root; done
        ln -sfn ../bin/kmod root/sbin/modprobe
        ln -sfn ../../root/usr/lib/uml/modules modules/lib/modules
    fi
    rm -f disk said ended
    truncate -s 512M disk
    mkfs.ext4 -q -F disk
    printf '#!/bin/bash\nexport folder=%q steward=%q\nexec bash %q inside\n' "$folder" "$steward" "$script" >init
    chmod +x init
    timeout 600 root/usr/bin/linux.uml ubd0="$folder/disk" root=/dev/root rootfstype=hostfs rootflags=/ rw mem=1024M \
        init="$folder/init" uml_dir="$folder/sockets" con=null con0=fd:0,fd:1 </dev/null >boot 2>&1 || true
    cat said
    [[ $(cat ended) == 0 ]]
}

# In that kernel, as its first process.
inside() {
    exec >"$folder/said" 2>&1
    export HOME=/root
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$folder/root/sbin:$folder/root/usr/sbin
    export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/lib/x86_64-linux-gnu
    local status=1
    mount -t proc proc /proc
    mount -t sysfs sys /sys
    mount -t tmpfs run /run
    if bash "$script" campaign; then status=0; fi
    echo "$status" >"$folder/ended"
    sync
    echo o >/proc/sysrq-trigger
    sleep 10
}

# A server over the disk, whose leases last ten seconds, and two hosts, each with a network of its own to it.
serve() {
    # Only this kernel sees what is mounted over the machine's folders.
    cp -a /etc /run/etc && mount --bind /run/etc /etc
    mkdir -p /run/lib/nfs/{sm,v4recovery,rpc_pipefs} /run/disk && mount --bind /run/lib /var/lib
    for module in veth nfsd nfsv4; do modprobe -d "$folder/modules" "$module"; done
    mount -t ext4 /dev/ubda /run/disk
    mkdir -p /run/disk/served
    ip link set lo up
    for number in 1 2; do
        ip netns add "host$number"
        ip link add "link$number" type veth peer name eth0 netns "host$number"
        ip addr add "10.0.$number.1/24" dev "link$number"
        ip link set "link$number" up
        ip -n "host$number" addr add "10.0.$number.2/24" dev eth0
        ip -n "host$number" link set eth0 up
    done
    echo '/run/disk/served 10.0.0.0/16(rw,sync,fsid=0,no_root_squash,no_subtree_check)' >/etc/exports
    mount -t nfsd nfsd /proc/fs/nfsd
    mount -t rpc_pipefs pipes /var/lib/nfs/rpc_pipefs
    exportfs -ra
    rpc.mountd --no-nfs-version 3 --foreground >/run/mountd 2>&1 &
    rpc.nfsd -N 3 -G 10 -L 10 4
}

# Mounts the place and runs an agent: host NUMBER, in namespaces of its own.
host() {
    local home=/run/host$1
    hostname "host$1"
    mkdir -p "$home"/.config/steward/rules.d "$home"/{notes,dropbox}
    mount.nfs4 "10.0.$1.1:/" "$home/dropbox" -o vers=4.2,hard,proto=tcp
    cat >"$home/.config/steward/steward.yaml" <<YAML
places:
  notes: { kind: notes, path: $home/notes }
  dropbox: { kind: dropbox, path: $home/dropbox }
poll: 1s
YAML
    cat >"$home/.config/steward/rules.d/10.yaml" <<'YAML'
- rule: Captures
  in: dropbox
  settle: 100ms
  do:
    - append-block: { heading: Captures, anchor: cap, text: "<{{ file.name }}>" }
    - trash
YAML
    echo $$ >"/run/host$1.process"
    HOME=$home exec "$steward" run >"/run/host$1.log" 2>&1
}

start() { ip netns exec "host$1" unshare --uts --mount --propagation private bash "$script" host "$1" & }

status_of() {
    HOME=/run/host$1 timeout 30 nsenter -t "$(cat "/run/host$1.process")" -m -u -n "$steward" status 2>/dev/null
}

in_use() { status_of "$1" | grep -q '/dropbox .*in use by '; }
free() { status_of "$1" | grep '/dropbox ' | grep -q -v 'in use by '; }

# Waits for a condition, 100 s at most.
until_is() {
    for _ in $(seq 200); do
        if "$@"; then return; fi
        sleep 0.5
    done
    echo "waited in vain: $*"
    return 1
}

# Files come to the server itself, from number to number.
come() {
    for number in $(seq "$1" "$2"); do
        echo "capture $number" >/run/disk/coming
        mv /run/disk/coming "/run/disk/served/$number.md"
    done
}

lines() { cat /run/host[12]/notes/capture/*/*/*.md 2>/dev/null | grep '^<' || true; }
are_done() { (($(lines | sort -u | wc -l) >= $1)) && [[ -z $(ls /run/disk/served) ]]; }
check() {
    until_is are_done "$1"
    sleep 3
    echo "$2: $(lines | sort -u | wc -l) files, $(lines | sort | uniq -d | wc -l) of them twice"
    if lines | grep -v '^<[0-9]*\.md>$'; then return 1; fi
    [[ -z $(lines | sort | uniq -d) ]]
}

campaign() {
    serve
    start 1 && until_is test -e /run/host1.process && until_is free 1
    start 2 && until_is test -e /run/host2.process && until_is in_use 2
    come 1 10 && check 10 "one host beside the other"
    kill -KILL "$(cat /run/host1.process)"
    come 11 20 && check 20 "the first was killed"
    free 2
    start 1 && until_is in_use 1
    ip link set link2 down
    come 21 30 && check 30 "the network of the second has gone"
    free 1
    ip link set link2 up
    sleep 20
    come 31 70 && check 70 "it is there again"
    until_is in_use 2
    kill -TERM "$(cat /run/host1.process)"
    come 71 80 && check 80 "the first was ended"
    free 2
    if status_of 2 | grep parked; then return 1; fi
}

script=$(realpath "${BASH_SOURCE[0]}")
case ${1:-} in
    inside) inside ;;
    campaign) campaign ;;
    host) host "$2" ;;
    ?*) boot "$@" ;;
    *) sed -n '2,7s/^# \?//p' "$script" && exit 2 ;;
esac
