#!/bin/bash
# package.sh PACKAGE.deb [BASE]: puts the package through its life on a Debian 12 of its own, under a systemd of its own:
# install, work, reload, a nightly backup, stop with work under way, upgrade with work under way and of an agent that is not
# enabled, remove, purge, install again, move to another machine, a backup with a vault in a home.
#
# BASE is a Debian 12 as debootstrap makes it; made there where it is missing (.build/debian-12), which needs Debian's
# archive, as does the first download of what the package depends on. Needs root. Ends with 77 where this cannot be done
# here, with 1 at the first thing that is not as it should be.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$(realpath "$1")
base=$(realpath -m "${2:-$here/../../.build/debian-12}")
# Where this machine's own packages come from.
archive=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "bookworm" { print $2; exit }')

cannot() { echo "package.sh: $*" >&2; exit 77; }
[ "$EUID" = 0 ] || cannot "only root can do this"
for program in debootstrap dpkg-deb python3 nsenter; do
    command -v "$program" > /dev/null || cannot "there is no $program here: make prove-package installs it"
done
"$here/boot.sh" check
[ -n "$archive" ] || cannot "this machine's apt names no archive with Debian 12"

if ! [ -e "$base/var/lib/dpkg/status" ] || [ -d "$base/debootstrap" ]; then
    rm -rf "$base"
    debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,libpam-systemd bookworm "$base" "$archive" \
        > "$base.log" 2>&1 || { tail -5 "$base.log" >&2; cannot "debootstrap made no Debian 12"; }
fi

folder=$(mktemp -d /var/tmp/steward-package-XXXXXX)
root=$folder/root
booted=
dropping=
end() {
    if [ -n "$dropping" ]; then kill "$dropping" 2> /dev/null || true; fi
    if [ -n "$booted" ]; then
        exec 5>&- 6<&-
        wait "$booted" 2> /dev/null || true
    fi
    rm -rf "$folder"
}
trap end EXIT

step() { printf '\n== %s\n' "$*"; }
wrong() {
    echo "package.sh: $*" >&2
    inside journalctl --no-pager -u steward -n 30 >&2 || true
    exit 1
}
# Whether what comes has it. To its end: what writes into a pipe that nobody reads any more fails, and with it the whole.
has() { grep "$@" > /dev/null; }
# In the machine: as root, as root for the service, as the service does, as anna.
inside() { nsenter -t "$first" -a env -i PATH=/usr/sbin:/usr/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
for_service() {
    inside env HOME=/var/lib/steward STATE_DIRECTORY=/var/lib/steward RUNTIME_DIRECTORY=/run/steward \
        CONFIGURATION_DIRECTORY=/etc/steward "$@"
}
service() { for_service setpriv --reuid=steward --regid=steward --init-groups "$@"; }
anna() {
    inside setpriv --reuid=anna --regid=anna --init-groups env HOME=/home/anna XDG_RUNTIME_DIR=/run/user/1000 "$@"
}
is() { [ "$(inside systemctl show steward -P "$1")" = "$2" ] || wrong "$1 is $(inside systemctl show steward -P "$1"), not $2"; }
until_so() {
    local attempt
    for attempt in $(seq 120); do
        if "$@" > /dev/null 2>&1; then return 0; fi
        sleep 0.5
    done
    wrong "this did not come about: $*"
}
# NAME FIRST LAST: drops captures, each with a text of its own.
drop_captures() {
    local number
    for number in $(seq "$2" "$3"); do
        echo "The $1 heron number $number." > "$root/srv/steward/dropbox/$1-$number.txt"
        chown 1000:"$group" "$root/srv/steward/dropbox/$1-$number.txt"
    done
}
# NAME FIRST: drops more of them beside what this script does, so that a hundred always wait, until stop_dropping, which sets
# `dropped` to the last one's number.
keep_dropping() {
    python3 - "$root/srv/steward/dropbox" "$group" "$folder/dropped" "$1" "$2" << 'END' &
import os, signal, sys, time
box, group, told, name, number = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
stopped = []
signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
while not stopped:
    for _ in range(100 - len(os.listdir(box))):
        # It has its name when all of it is there, and is anna's.
        with open(f"{box}/.{name}.part", "w") as file:
            file.write(f"The {name} heron number {number}.\n")
        os.chown(f"{box}/.{name}.part", 1000, group)
        os.rename(f"{box}/.{name}.part", f"{box}/{name}-{number}.txt")
        number += 1
    time.sleep(0.01)
with open(told, "w") as file:
    file.write(str(number - 1))
END
    dropping=$!
}
stop_dropping() {
    kill "$dropping"
    wait "$dropping" || wrong "no more captures were dropped"
    dropping=
    dropped=$(cat "$folder/dropped")
}
# Has the unit write down, each time that the agent is told to stop, what it still has to do.
note_stops() {
    cat > "$root/etc/systemd/system/steward.service.d/stops.conf" << 'END'
[Service]
ExecStop=-/bin/sh -c 'ls /srv/steward/dropbox > /run/steward/at-stop.files; steward status --json > /run/steward/at-stop.json'
END
    inside systemctl daemon-reload
}
# It had work open when it was told to stop.
expect_open_work() {
    local files
    files=$(inside cat /run/steward/at-stop.files | wc -l)
    inside cat /run/steward/at-stop.json > "$folder/at-stop.json"
    python3 - "$folder/at-stop.json" "$files" << 'END' || wrong "the agent had nothing to do when it was told to stop"
import json, sys
with open(sys.argv[1]) as file:
    status = json.load(file)
files, jobs = int(sys.argv[2]), sum(status["jobs"].get(state, 0) for state in ("ready", "waiting"))
print(f"told to stop with {files} files there, {len(status['settling'])} of them to be judged, and {jobs} jobs to do")
sys.exit(files == 0 or jobs + len(status["settling"]) == 0)
END
}
# NAME COUNT: each of them is in the notes once, and none is left.
expect_captures() {
    local found
    found=$(cat "$root"/srv/steward/notes/capture/*/*/*.md | grep -oE "The $1 heron number [0-9]+\." | sort | uniq -c |
        awk '{ if ($1 == 1) once++; else other++ } END { print once + 0, other + 0 }')
    [ "$found" = "$2 0" ] || wrong "of $2 captures in the notes once, and more often: $found"
    [ -z "$(find "$root/srv/steward/dropbox" -name "$1-*")" ] || wrong "captures were left in the dropbox"
    echo "$2 captures, each in the notes once"
}
settled() { service timeout 120 steward wait > /dev/null || wrong "the agent does not come to rest"; }

step "A Debian 12, and what the package depends on"
cp -a --reflink=auto "$base" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/root/steward.deb"
cat > "$root/etc/apt/sources.list" << END
deb $archive bookworm main
END
mount -t proc proc "$root/proc"
chroot "$root" sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends --download-only \
    /root/steward.deb' > "$folder/apt.log" 2>&1 || { umount "$root/proc"; tail -5 "$folder/apt.log" >&2; exit 1; }
umount "$root/proc"
chroot "$root" useradd -m -u 1000 anna
mkdir -p "$root/var/lib/systemd/linger"
touch "$root/var/lib/systemd/linger/anna"
echo "the package: $(du -k "$package" | cut -f 1) KiB; installed: $(dpkg-deb -f "$package" Installed-Size) KiB"

# The same package with a higher version and another configuration, as a release to come would have, and one after that.
mkdir "$folder/newer"
dpkg-deb -R "$package" "$folder/newer"
sed -i 's/^Version: .*/&+1/' "$folder/newer/DEBIAN/control"
echo "# A line of the next release." >> "$folder/newer/etc/steward/steward.yaml"
dpkg-deb --root-owner-group -Znone -b "$folder/newer" "$root/root/newer.deb" > "$folder/newer.log"
sed -i 's/^Version: .*/&+1/' "$folder/newer/DEBIAN/control"
dpkg-deb --root-owner-group -Znone -b "$folder/newer" "$root/root/newest.deb" > "$folder/newer.log"

mkfifo "$folder/input" "$folder/output"
"$here/boot.sh" "$folder" < "$folder/input" > "$folder/output" &
booted=$!
exec 5> "$folder/input" 6< "$folder/output"
read -r first <&6
running() { case $(inside systemctl is-system-running || true) in running | degraded) ;; *) return 1 ;; esac; }
until_so running

step "Install"
inside apt-get -qq install -y --no-install-recommends /root/steward.deb > "$folder/apt.log" 2>&1 ||
    { cat "$folder/apt.log" >&2; exit 1; }
is ActiveState active
is UnitFileState enabled
[ "$(inside systemctl is-enabled steward-vault-lock || true)" = disabled ] || wrong "steward-vault-lock is enabled"
group=$(inside getent group steward | cut -d : -f 3)
inside usermod -aG steward anna
inside stat -c '%A %U:%G %n' /etc/steward /etc/steward/steward.yaml /etc/steward/rules.d /var/lib/steward /srv/steward/notes
service steward check
# What the package only recommends is not installed here; all else has to be well.
found=$(service steward doctor | grep '^!' | grep -vE '(thumbnails|PDF|solid RAR): ' || true)
[ -z "$found" ] || wrong "doctor finds: $found"
inside steward --version
inside tk --version
inside systemd-analyze verify --man=no steward.service steward-vault-lock.service
inside systemd-analyze security --no-pager --threshold=25 steward.service | tail -1

step "Work"
python3 - "$root/srv/steward" << 'END'
import struct, sys, zipfile, zlib
base = sys.argv[1]
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
       + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b""))
def put(path, data):
    import os
    os.makedirs(os.path.dirname(f"{base}/{path}"), exist_ok=True)
    with open(f"{base}/{path}", "wb") as file:
        file.write(data)
put("dropbox/idea.md", b"Swap the two chapters, then read it aloud.\n")
put("dropbox/link.url", b"[InternetShortcut]\r\nURL=https://www.swift.org/documentation/\r\n")
put("dropbox/walk.txt", b"moment: today\nTwo herons by the canal.\n")
put("dropbox/now", b"")
put("dropbox/holiday.png", png)
put("dropbox/Canal walk/nest.png", png)
put("dropbox/Canal walk/words.txt", b"A nest under the bridge.\n")
put("dropbox/broken.bin", b"\x01\x02\x03\xff\xfe\x00\x80")
put("drafts/plan.md", b"# Plan\n\nIt was decided by the the committee.\n")
with zipfile.ZipFile(f"{base}/comics/Saga 001.cbz", "w") as comic:
    for page in range(1, 4):
        comic.writestr(f"{page:02}.png", png)
put("comics/Torn.cbz", b"PK\x03\x04 and no more")
END
inside chown -R 1000:"$group" /srv/steward/dropbox /srv/steward/drafts /srv/steward/comics
inside sh -c 'chmod -R g+rwX /srv/steward/dropbox /srv/steward/drafts /srv/steward/comics'
# As anna makes them, who is in the group and whose mask lets nobody else in: by way of the folders' default ACLs.
anna sh -c 'umask 077
    echo "Herons stand still in the the rain." > /srv/steward/drafts/rain.md
    echo "A heron, seen by anna." > /srv/steward/dropbox/anna.txt
    cp "/srv/steward/comics/Saga 001.cbz" "/srv/steward/comics/Saga 002.cbz" 2> /dev/null || true'
settled
grep -rhq "Swap the two chapters" "$root/srv/steward/notes" || wrong "the capture is in no note"
service steward dots search nest | has nest || wrong "the folder is no capture"
[ -f "$root/srv/steward/library/Saga/Saga 001.cbz" ] || wrong "the comic is not in the library"
grep -q "the the" "$root/srv/steward/drafts/plan.review.md" || wrong "the draft has no review"
anna grep -rq "A heron, seen by anna" /srv/steward/notes || wrong "anna cannot read what became of her capture"
anna sh -c 'cat /srv/steward/library/Saga/* > /dev/null' || wrong "anna cannot read her comic in the library"
anna grep -q "the the" /srv/steward/drafts/rain.review.md || wrong "anna cannot read the review of her draft"
anna sh -c 'echo "- a line of hers" >> /srv/steward/drafts/rain.review.md' || wrong "anna cannot answer the review of her draft"
settled
parked=$(service steward status --json | python3 -c 'import json, sys; print(*(job["problem"] for job in json.load(sys.stdin)["parked"]))')
[ -z "$parked" ] || wrong "a job is parked: $parked"
service steward quarantine list
service steward status

step "Reload"
cat > "$root/etc/steward/rules.d/60-recipes.yaml" << 'END'
- rule: Collect recipes
  in: dropbox
  on: [arrived]
  where: { path: "*.recipe" }
  do:
    - trash
END
is NRestarts 0
inside systemctl reload steward
service steward rules list | has "Collect recipes" || wrong "the new rule is not in force after a reload"
echo "the new rule is in force when the reload has ended"
cp "$root/etc/steward/rules.d/60-recipes.yaml" "$folder/rule"
echo "  nonsense: [" >> "$root/etc/steward/rules.d/60-recipes.yaml"
if inside systemctl reload steward 2> /dev/null; then wrong "a reload of rules that are not valid succeeds"; fi
is ActiveState active
inside journalctl --no-pager -u steward | has "the ones in force stay" || wrong "nothing is said of the rules before"
cp "$folder/rule" "$root/etc/steward/rules.d/60-recipes.yaml"
inside systemctl reload steward
echo "rules that are not valid fail the reload, and leave those of before in force"

step "A place elsewhere, and a key by systemd"
inside install -d -o steward -g steward /mnt/box
sed -i 's|^  library: .*|&\n  box: { kind: folder, path: /mnt/box }|' "$root/etc/steward/steward.yaml"
service sh -c 'steward vault init --password-fd 3 3<&0' <<< "a heron at dawn" > "$folder/vault.log" ||
    { cat "$folder/vault.log" >&2; wrong "no vault was made"; }
inside systemd-creds setup > /dev/null
printf 'a heron at dawn' | inside systemd-creds encrypt --name=steward-vault-main - /etc/steward/vault-main.cred
mkdir "$root/etc/systemd/system/steward.service.d"
cat > "$root/etc/systemd/system/steward.service.d/override.conf" << 'END'
[Unit]
Wants=mnt-box.mount
After=mnt-box.mount
[Service]
ReadWritePaths=-/mnt/box -/mnt/missing
LoadCredentialEncrypted=steward-vault-main:/etc/steward/vault-main.cred
END
inside systemctl daemon-reload
inside systemctl restart steward
{ service steward doctor || true; } | grep "^ok   agent, place box:" || wrong "the agent cannot work in /mnt/box"
vault_is() { service steward vault status | has -x "  $1.*"; }
until_so vault_is unlocked
inside systemctl start steward-vault-lock
vault_is locked || wrong "the vault is not locked before sleep"
echo "the vault is unlocked at the start, and locked by steward-vault-lock"

step "A backup by the nightly unit, with work under way"
examples=/usr/share/doc/steward/examples
inside install -d -o steward -g steward -m 700 /var/backups/steward
inside sh -c "cp $examples/steward-backup.service $examples/steward-backup.timer /etc/systemd/system/"
inside systemctl daemon-reload
inside systemd-analyze verify --man=no steward-backup.service steward-backup.timer
inside systemctl enable --now steward-backup.timer 2> "$folder/enable.log" || { cat "$folder/enable.log" >&2; exit 1; }
inside systemctl list-timers --no-pager steward-backup.timer | has steward-backup.service || wrong "no night is planned"
drop_captures backup 1 100
until_so sh -c "grep -rq 'The backup heron' '$root/srv/steward/notes'"
inside systemctl start steward-backup.service || wrong "the nightly unit fails: $(inside journalctl --no-pager -u steward-backup)"
inside journalctl --no-pager -o cat -u steward-backup.service | grep -vE '^(Starting|Finished|steward-backup)'
settled
expect_captures backup 100
# All that the agent knows, from the newest of two: it goes on, and does nothing again.
inside systemctl start steward-backup.service || wrong "the nightly unit fails a second time"
inside systemctl stop steward
service steward restore /var/backups/steward --replace > "$folder/restore.log" ||
    { cat "$folder/restore.log" >&2; wrong "no restore"; }
tail -3 "$folder/restore.log"
inside systemctl start steward
settled
expect_captures backup 100
vault_is unlocked || wrong "the vault is not what it was"
# The configuration is root's, and stays at the restore of the rest.
echo "# Written after the backup." >> "$root/etc/steward/steward.yaml"
inside systemctl stop steward
for_service steward restore /var/backups/steward --only configuration --replace > "$folder/restore.log" ||
    { cat "$folder/restore.log" >&2; wrong "no restore of the configuration"; }
if grep -q "Written after the backup" "$root/etc/steward/steward.yaml"; then wrong "the configuration is not the backup's"; fi
[ "$(inside stat -c '%a %U' /etc/steward/steward.yaml)" = "644 root" ] || wrong "the configuration is somebody else's now"
service steward check
inside systemctl start steward
drop_captures restored 1 10
settled
expect_captures restored 10
inside systemctl disable --now steward-backup.timer 2> "$folder/enable.log"
inside systemctl clean --what=state steward-backup.timer
inside sh -c "rm -r /etc/systemd/system/steward-backup.* /var/backups/steward /var/lib/*.before-restore-* \
    /var/lib/steward/.*.before-restore-* /srv/steward/*.before-restore-* /etc/*.before-restore-* 2> /dev/null; true"
inside systemctl daemon-reload

step "Stop with work under way"
drop_captures stop 1 300
until_so sh -c "grep -rq 'The stop heron' '$root/srv/steward/notes'"
inside systemctl stop steward
is Result success
left=$(find "$root/srv/steward/dropbox" -name 'stop-*' | wc -l)
echo "stopped with $left of 300 captures still to do"
inside systemctl start steward
settled
expect_captures stop 300

step "Upgrade with work under way, the socket in use, and a configuration that was changed"
inside systemctl stop steward
inside systemctl enable --now steward.socket 2> "$folder/enable.log"
inside systemctl start steward
# What an administrator has closed stays closed.
inside chmod 2750 /srv/steward/library
echo "# A line of ours." >> "$root/etc/steward/steward.yaml"
anna steward init > /dev/null
anna systemctl --user enable --now steward
note_stops
drop_captures upgrade 1 300
keep_dropping upgrade 301
until_so sh -c "grep -rq 'The upgrade heron' '$root/srv/steward/notes'"
inside apt-get -qq install -y -o Dpkg::Options::=--force-confold /root/newer.deb > "$folder/apt.log" 2>&1 ||
    { cat "$folder/apt.log" >&2; exit 1; }
is ActiveState active
stop_dropping
expect_open_work
grep -q "A line of ours" "$root/etc/steward/steward.yaml" || wrong "the upgrade took the user's configuration"
[ "$(inside systemctl is-active steward.socket)" = active ] || wrong "the socket is not listening after the upgrade"
[ "$(inside stat -c %a /srv/steward/library)" = 2750 ] || wrong "the upgrade opened a folder that was closed"
[ -f "$root/etc/steward/steward.yaml.dpkg-dist" ] || wrong "the release's own configuration is nowhere"
[ "$(inside dpkg-query -W -f '${Version}' steward)" = "$(dpkg-deb -f "$package" Version)+1" ] || wrong "no upgrade"
settled
expect_captures upgrade "$dropped"
upgraded=$dropped
anna systemctl --user is-active steward
echo "Herons for anna." > "$root/home/anna/Steward/dropbox/anna.txt"
until_so sh -c "grep -rq 'Herons for anna' '$root/home/anna/Steward/notes'"
anna systemctl --user disable --now steward

step "Upgrade of an agent and a socket that run without being enabled, and of ones that do not run"
inside systemctl disable steward.socket steward.service 2> "$folder/enable.log"
keep_dropping started 1
until_so sh -c "grep -rq 'The started heron' '$root/srv/steward/notes'"
inside apt-get -qq install -y /root/newest.deb > "$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 1; }
stop_dropping
expect_open_work
is ActiveState active
is UnitFileState disabled
[ "$(inside systemctl is-active steward.socket)" = active ] || wrong "the socket does not listen, as it did"
settled
expect_captures started "$dropped"
inside systemctl stop steward.socket steward.service
inside apt-get -qq install -y --allow-downgrades /root/newer.deb > "$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 1; }
is ActiveState inactive
[ "$(inside systemctl is-active steward.socket || true)" = inactive ] || wrong "the socket listens, and did not"
echo "what ran runs, what did not does not"
inside rm /etc/systemd/system/steward.service.d/stops.conf
inside systemctl daemon-reload
inside systemctl enable --now steward.socket steward.service 2> "$folder/enable.log"
settled

digest() { (cd "$root" && find srv/steward var/lib/steward home/anna -type f ! -name '*-shm' -print0 | sort -z | xargs -0 sha256sum | sha256sum); }

step "Remove"
inside apt-get -qq remove -y steward > "$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 1; }
before=$(digest)
[ "$(inside systemctl is-active steward.socket || true)" != active ] || wrong "the socket listens for nobody"
[ -f "$root/etc/steward/steward.yaml" ] || wrong "removing took the configuration"
# A small Debian has no pgrep.
left=$(inside sh -c 'stat -c "%U %n" /proc/[0-9]* 2> /dev/null' | grep "^steward " || true)
[ -z "$left" ] || wrong "processes are left: $left"
[ ! -e "$root/usr/bin/steward" ] || wrong "the program is left"

step "Purge"
inside apt-get -qq purge -y steward < /dev/null > "$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 1; }
grep "^steward: kept" "$folder/apt.log" || wrong "nothing was said of what is kept"
[ "$(digest)" = "$before" ] || wrong "purging changed what people own"
rest=$(inside find / -xdev \( -iname '*steward*' -o -user steward \) ! -path '/srv/steward*' ! -path '/var/lib/steward*' \
    ! -path '/home/*' ! -path '/proc/*' ! -path '/root/*' ! -path '/tmp/*' ! -path '/mnt/*' | sort)
echo "left besides /srv/steward and /var/lib/steward:" $rest
[ "$(echo $rest)" = "/etc/steward /etc/systemd/system/steward.service.d" ] || wrong "more is left than the document says"
rest=$(cd "$root/etc/steward" && find . -type f | sort)
[ "$(echo $rest)" = "./rules.d/60-recipes.yaml ./vault-main.cred" ] || wrong "not only files of ours are left:" $rest
inside getent passwd steward > /dev/null || wrong "the user is gone, and its files are not"

step "Install again"
inside apt-get -qq install -y --no-install-recommends /root/steward.deb > "$folder/apt.log" 2>&1 ||
    { cat "$folder/apt.log" >&2; exit 1; }
settled
is ActiveState active
expect_captures upgrade "$upgraded"

step "Move to another machine, as docs/operations.md says"
# This machine is both: what the old one keeps lies in /mnt meanwhile, and all that the package has made goes.
inside systemctl disable --now steward.socket steward.service 2> "$folder/enable.log"
inside install -d -o steward -g steward -m 700 /mnt/moved
service steward backup /mnt/moved > "$folder/backup.log" || { cat "$folder/backup.log" >&2; wrong "no backup"; }
inside sh -c 'cp -a /srv/steward /mnt/places && rm -r /mnt/places/vault
    mkdir /mnt/by-hand && mv /etc/systemd/system/steward.service.d /etc/steward/vault-main.cred /mnt/by-hand/'
inside apt-get -qq purge -y steward > "$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 1; }
inside rm -r /srv/steward /var/lib/steward /etc/steward
notes() { (cd "$root/$1/notes" && find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum); }
before=$(notes mnt/places)
# The new one. The agent that the installation starts knows nothing, and must not see the places.
inside apt-get -qq install -y --no-install-recommends /root/newer.deb > "$folder/apt.log" 2>&1 ||
    { cat "$folder/apt.log" >&2; exit 1; }
inside systemctl disable --now steward.socket steward.service 2> "$folder/enable.log"
inside cp -a /mnt/places/. /srv/steward/
for_service steward restore /mnt/moved --only configuration --replace > "$folder/restore.log" ||
    { cat "$folder/restore.log" >&2; wrong "no restore of the configuration"; }
service steward restore /mnt/moved --replace >> "$folder/restore.log" ||
    { cat "$folder/restore.log" >&2; wrong "no restore"; }
inside sh -c 'mv /mnt/by-hand/steward.service.d /etc/systemd/system/ && mv /mnt/by-hand/vault-main.cred /etc/steward/'
inside systemctl daemon-reload
inside systemctl enable --now steward.service 2> "$folder/enable.log"
settled
is ActiveState active
expect_captures upgrade "$upgraded"
[ "$(notes srv/steward)" = "$before" ] || wrong "the agent did something anew with what lay in the places"
vault_is unlocked || wrong "the vault is not what it was"
drop_captures moved 1 10
settled
expect_captures moved 10

step "A vault in somebody's home, in the nightly backup"
# As steward-backup.service says: it sees what its drop-in lets in, as the agent does.
inside install -d -o steward -g steward -m 700 /home/anna/sealed /var/backups/steward
sed -i 's|^  main: .*|&\n  second: { path: /home/anna/sealed/vault }|' "$root/etc/steward/steward.yaml"
service sh -c 'steward vault init --vault second --password-fd 3 3<&0' <<< "a heron at noon" > "$folder/vault.log" ||
    { cat "$folder/vault.log" >&2; wrong "no second vault was made"; }
let_in() {
    mkdir -p "$root/etc/systemd/system/$1.d"
    printf '[Service]\n%s=-/home/anna/sealed\n' "$2" > "$root/etc/systemd/system/$1.d/home.conf"
    inside systemctl daemon-reload
}
let_in steward.service BindPaths
inside systemctl restart steward
settled
inside sh -c "cp $examples/steward-backup.service $examples/steward-backup.timer /etc/systemd/system/"
inside systemctl daemon-reload
if inside systemctl start steward-backup.service 2> /dev/null; then wrong "a backup without a vault that is known succeeds"; fi
let_in steward-backup.service BindReadOnlyPaths
inside systemctl start steward-backup.service || wrong "the nightly unit fails: $(inside journalctl --no-pager -u steward-backup)"
inside sh -c 'ls /var/backups/steward/*/vaults/second/vault.pub' > /dev/null || wrong "the vault in a home is in no backup"
echo "without its drop-in the backup fails, with it the vault is in it"

said=$(inside journalctl --no-pager -u steward -p warning -o cat)
printf 'warnings in the journal:\n%s\n' "${said:-none}"

printf '\nThe package has had its life, and nobody lost anything.\n'
