#!/usr/bin/env python3
"""power_cuts.py STEWARD [--rounds 50] [--seed N] [--keep]: cuts the power while the agent works. See README.md.

State and places lie on two file systems of their own (ext4 in images, mounted by loop devices); one holds the home, the other
a place and the backups. Captures, notes, comics for library and vault, files that move across file systems, drafts with
answers to their reviews, and backups come all the time. At a random moment both file systems are shut down without a flush of
their journals (EXT4_IOC_SHUTDOWN): what was not synced is gone, as after a power cut. They are mounted again, the agent
starts, and when it is at rest everything is looked for.

Ends with 0 where nothing was lost, done twice or torn, with 1 where something was (the images then stay), and with 77 where
this cannot be done here.
"""
import argparse
import collections
import contextlib
import fcntl
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib

EXT4_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2
PASSWORD = b"correct horse battery staple\n"
KINDS = ["capture"] * 4 + ["note"] * 3 + ["moved"] * 3 + ["shelved"] * 2 + ["sealed"] * 2 + ["draft"] * 2
RULES = """
- rule: Captures
  in: dropbox
  settle: 50ms
  where: { extension: md }
  do:
    - index-capture
    - append-block: { heading: Captures, text: "got {{ capture.text }}" }
    - trash
- rule: Notes
  in: dropbox
  settle: 50ms
  where: { extension: nt }
  do:
    - write-note: { place: notes, folder: nt, name: "{{ file.stem }}", text: "{{ file.text }}" }
    - trash
- rule: Across
  in: dropbox
  settle: 50ms
  where: { extension: mv }
  do:
    - tag: { add: [seen] }
    - move: { place: away, folder: moved }
- rule: Seal
  in: comics
  settle: 50ms
  where: { extension: cbz, path: "sealed/**" }
  do: [import-comic: { vault: main }]
- rule: Shelve
  in: comics
  settle: 50ms
  where: { extension: cbz, path: "shelved/**" }
  do: [import-comic: {}]
- rule: Review
  in: drafts
  on: [arrived, changed]
  settle: 50ms
  do: [review]
"""


def cannot(why):
    print(f"power_cuts: {why}", file=sys.stderr)
    sys.exit(77)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def picture(number):
    """A small PNG that no other number has."""
    noise = random.Random(number)
    rows = b"".join(b"\0" + bytes(noise.randrange(256) for _ in range(3 * 40)) for _ in range(40))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 40, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Disk:
    """An ext4 of its own in an image, which outlives its power cuts."""

    def __init__(self, image, folder, megabytes):
        self.image, self.folder = image, folder
        with open(image, "wb") as file:
            file.truncate(megabytes << 20)
        os.makedirs(folder)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
        self.mount()

    def mount(self):
        done = subprocess.run(["mount", "-o", "loop", self.image, self.folder], capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(f"{self.image} cannot be mounted: {done.stderr}")

    def cut(self):
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(folder)

    def unmount(self):
        # The kernel lets go of the files of ended processes a moment later.
        for _ in range(200):
            done = subprocess.run(["umount", self.folder], capture_output=True, text=True)
            if done.returncode == 0:
                return
            time.sleep(0.05)
        raise OSError(f"{self.folder} stays busy: {done.stderr}")

    def examine(self):
        """What e2fsck says of it, unmounted; nothing where it is sound."""
        done = subprocess.run(["e2fsck", "-fn", self.image], capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout


class Input:
    def __init__(self, kind, number):
        self.kind, self.number, self.is_synced = kind, number, False
        # Of a draft: whether its answer is on the disk.
        self.is_answered = False
        self.text = f"Heron {number} of {kind}s at dawn."
        self.stem = f"{kind}-{number}"

    def place(self, campaign):
        steward = os.path.join(campaign.home, "Steward")
        return {
            "capture": f"{steward}/dropbox/{self.stem}.md", "note": f"{steward}/dropbox/{self.stem}.nt",
            "moved": f"{steward}/dropbox/{self.stem}.mv", "shelved": f"{steward}/comics/shelved/{self.stem}.cbz",
            "sealed": f"{steward}/comics/sealed/{self.stem}.cbz", "draft": f"{steward}/drafts/{self.stem}.md",
        }[self.kind]

    def draft(self, words):
        return f"# Essay {self.number}\n\nWe met {words} talk of heron {self.number}.\n\nThen we went home.\n"

    def content(self):
        if self.kind == "draft":
            return self.draft("in order to").encode()
        if self.kind not in ("shelved", "sealed"):
            return self.text.encode() + b"\n"
        with tempfile.TemporaryFile() as file:
            with zipfile.ZipFile(file, "w") as archive:
                for page in range(2):
                    # With a time of its own, so that it is the same whenever it is asked for.
                    archive.writestr(zipfile.ZipInfo(f"{page}.png", (2026, 1, 1, 0, 0, 0)), picture(10 * self.number + page))
            file.seek(0)
            return file.read()


class Campaign:
    def __init__(self, program, folder, seed):
        self.program, self.folder, self.random = program, folder, random.Random(seed)
        self.first = Disk(f"{folder}/first.img", f"{folder}/first", 768)
        self.second = Disk(f"{folder}/second.img", f"{folder}/second", 512)
        self.home = f"{folder}/first/home"
        self.backups = f"{folder}/second/backups"
        self.log = f"{folder}/agent.log"
        self.inputs, self.agent, self.finished, self.faults = [], None, [], []
        self.counts = collections.Counter()
        self.runtime = f"{folder}/run"
        # What is done is repeatable: nothing of this machine's environment gets in.
        self.environment = {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": self.home, "LANG": "C.UTF-8", "STEWARD_RUNTIME": self.runtime,
            "STEWARD_RULES": f"{self.home}/.config/steward/rules.d",
        }
        for path in (self.home, f"{self.home}/stage", f"{folder}/second/away", self.backups, self.runtime):
            os.makedirs(path, mode=0o700)
        self.steward("init")
        configuration = f"{self.home}/.config/steward/steward.yaml"
        with open(configuration) as file:
            text = file.read()
        with open(configuration, "w") as file:
            file.write(text.replace("\nplaces:\n", f"\nplaces:\n  away: {{ kind: folder, path: {folder}/second/away }}\n", 1))
        os.makedirs(f"{self.home}/.config/steward/rules.d", exist_ok=True)
        with open(f"{self.home}/.config/steward/rules.d/10-cuts.yaml", "w") as file:
            file.write(RULES)
        for name in ("shelved", "sealed"):
            os.makedirs(f"{self.home}/Steward/comics/{name}")
        self.steward("vault", "init", "--password-fd", "0", given=PASSWORD)
        os.sync()

    # -- the agent

    def steward(self, *words, given=None, timeout=300, fails=False):
        done = subprocess.run([self.program, *words], env=self.environment, input=given, capture_output=True, timeout=timeout)
        if done.returncode != 0 and not fails:
            raise RuntimeError(f"steward {' '.join(words)} ended with {done.returncode}: "
                               f"{done.stdout.decode(errors='replace')}{done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="replace") if not fails else done

    def start(self):
        with open(self.log, "ab") as log:
            self.agent = subprocess.Popen([self.program, "run"], env=self.environment, stdout=log, stderr=log,
                                          stdin=subprocess.DEVNULL, start_new_session=True)
        self.until("the agent answers", lambda: b'"isRunning" : true' in self.steward("status", "--json", fails=True).stdout)

    def until(self, what, condition, seconds=300):
        end = time.monotonic() + seconds
        while not condition():
            if self.agent.poll() is not None:
                raise RuntimeError(f"the agent ended with {self.agent.returncode} before {what}")
            if time.monotonic() > end:
                raise RuntimeError(f"waited in vain until {what}: {self.steward('status')}")
            time.sleep(0.05)

    def kill(self):
        os.killpg(self.agent.pid, signal.SIGKILL)
        self.agent.wait()

    def unlock(self):
        self.steward("vault", "unlock", "--password-fd", "0", given=PASSWORD)

    # -- what comes

    def put(self, target, data):
        """As an editor saves: whole, with its name, and on the disk when this returns."""
        staged = f"{self.home}/stage/{os.path.basename(target)}"
        file = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(file, data)
            os.fsync(file)
        finally:
            os.close(file)
        os.rename(staged, target)
        folder = os.open(os.path.dirname(target), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def add(self):
        one = Input(self.random.choice(KINDS), len(self.inputs))
        self.inputs.append(one)
        self.put(one.place(self), one.content())
        one.is_synced = True
        self.counts[one.kind] += 1

    def answer(self, one):
        """Ticks the box in a draft's sidecar, where there is one; says whether it did."""
        sidecar = one.place(self)[:-len(".md")] + ".review.md"
        try:
            with open(sidecar) as file:
                text = file.read()
        except FileNotFoundError:
            return False
        if text.count("- [ ] **") != 1:
            return False
        self.put(sidecar, text.replace("- [ ] **", "- [x] **").encode())
        one.is_answered = True
        self.counts["answer"] += 1
        return True

    def work(self, until):
        """Goes on until the power is cut, which ends every call with an error."""
        try:
            while time.monotonic() < until + 5:
                drafts = [one for one in self.inputs if one.kind == "draft" and one.is_synced and not one.is_answered]
                if drafts and self.random.random() < 0.3:
                    self.answer(self.random.choice(drafts))
                elif len(self.inputs) < self.most:
                    self.add()
                time.sleep(self.random.uniform(0, 0.12))
        except OSError:
            pass

    def back_up(self, after):
        """A backup that begins after so many seconds; it may be cut off."""
        time.sleep(after)
        try:
            done = self.steward("backup", self.backups, "--json", fails=True, timeout=60)
        except subprocess.TimeoutExpired:
            return
        if done.returncode == 0:
            try:
                self.finished.append(max(name for name in os.listdir(self.backups) if name.startswith("steward-")))
                self.counts["backup"] += 1
            except (OSError, ValueError):
                pass  # the cut came right after it

    # -- what is left

    def wrong(self, text):
        self.faults.append(text)
        print(f"  WRONG: {text}", flush=True)

    def files(self, folder):
        found = {}
        for base, _, names in os.walk(folder):
            # The lock of a place stays for as long as the place is there.
            for name in set(names) - {".steward-lock"}:
                with open(os.path.join(base, name), "rb") as file:
                    found[os.path.join(base, name)] = file.read()
        return found

    def rest(self):
        """Waits until the agent has nothing to do, and no deposit is left."""
        self.unlock()
        for _ in range(3):
            self.steward("wait")
            self.until("no deposit is left", lambda: not os.listdir(f"{self.home}/Steward/vault/drop"))
        # Answers that the cut took are given again; each draft is to have its own in the end.
        for one in self.inputs:
            if one.kind == "draft" and os.path.exists(one.place(self)):
                self.answer(one)
        self.steward("wait")

    def expect(self, one, what, count):
        """What was on the disk is there once; what may not have been is there at most once."""
        if count > 1 or (count == 0 and one.is_synced):
            self.wrong(f"{one.stem} ({'synced' if one.is_synced else 'not synced'}) is {count} times in {what}")

    def check(self):
        steward = f"{self.home}/Steward"
        notes = self.files(f"{steward}/notes")
        for path, data in notes.items():
            if b"\0" in data:
                self.wrong(f"{path} holds zero bytes")
        lines = collections.Counter(
            line for data in notes.values() for line in data.decode(errors="replace").splitlines() if line.startswith("got "))
        known = {f"got {one.text}" for one in self.inputs}
        for line in lines:
            if line not in known:
                self.wrong(f"a torn or foreign line is in the notes: {line}")
        trash = collections.Counter(self.files(f"{self.home}/.local/share/Trash/files").values())
        moved, library = self.files(f"{self.folder}/second/away"), self.files(f"{steward}/library")
        shelved = collections.Counter(digest(data) for data in library.values())
        sealed = collections.Counter(comic["name"] for comic in json.loads(self.steward("vault", "list", "--json"))["comics"])
        captures = f"{self.home}/.local/share/steward/captures/captures.sqlite"
        # It is made with the first capture, which may not have come before the cut.
        store = self.database(captures, "SELECT noteText FROM experience") if os.path.exists(captures) else collections.Counter()
        self.database(f"{self.home}/.local/state/steward/ledger.sqlite", "SELECT 1")
        for one in self.inputs:
            whole = one.content()
            if one.kind == "capture":
                self.expect(one, "the notes", lines[f"got {one.text}"])
                self.expect(one, "the capture store", store[one.text])
            if one.kind in ("capture", "note"):
                self.expect(one, "the trash", trash[whole])
            if one.kind == "note":
                found = [data for path, data in notes.items() if os.path.basename(path).startswith(f"{one.stem}.")
                         or os.path.basename(path).startswith(f"{one.stem} ")]
                self.expect(one, "the notes", len(found))
                if found and one.text.encode() not in found[0]:
                    self.wrong(f"the note of {one.stem} is torn: {found[0]!r}")
            if one.kind == "moved":
                found = [path for path in moved if os.path.basename(path).startswith(f"{one.stem}.")
                         or os.path.basename(path).startswith(f"{one.stem} ")]
                self.expect(one, "the other file system", len(found))
                for path in found:
                    if moved[path] != whole:
                        self.wrong(f"{path} is torn: {moved[path]!r}")
                    if b"seen" not in dict((name, os.getxattr(path, name)) for name in os.listxattr(path)).get("user.xdg.tags", b""):
                        self.wrong(f"{path} has lost its tag")
            if one.kind == "shelved":
                self.expect(one, "the library", shelved[digest(whole)])
            if one.kind == "sealed":
                self.expect(one, "the vault", sealed[f"{one.stem}.cbz"])
            if one.kind == "draft":
                self.check_draft(one)
            elif os.path.exists(one.place(self)):
                self.wrong(f"{one.place(self)} was left where it came")
        strange = set(shelved) - {digest(one.content()) for one in self.inputs if one.kind == "shelved"}
        if strange:
            self.wrong(f"{len(strange)} files of the library are torn or foreign")
        for path in [*notes, *moved, *library, *self.files(f"{steward}/dropbox"), *self.files(f"{steward}/comics")]:
            if os.path.basename(path).startswith(".steward-"):
                self.wrong(f"{path} was left behind")
        status = json.loads(self.steward("status", "--json"))
        jobs = {state: count for state, count in status["jobs"].items() if count}
        if not set(jobs) <= {"done", "superseded"}:
            self.wrong(f"jobs are {jobs}: {[job['problem'] for job in status['parked'] + status['waiting']]}")
        if status["quarantined"]:
            self.wrong(f"{status['quarantined']} files are in quarantine")
        self.check_backups()

    def check_draft(self, one):
        try:
            with open(one.place(self)) as file:
                text = file.read()
        except FileNotFoundError:
            if one.is_synced:
                self.wrong(f"{one.place(self)} is lost")
            return
        if text not in (one.draft("in order to"), one.draft("to")):
            self.wrong(f"{one.place(self)} is torn, or was changed twice: {text!r}")
        elif one.is_answered and text != one.draft("to"):
            self.wrong(f"the answer to {one.stem}, which was on the disk, has come to nothing")

    def database(self, path, query):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            sound = connection.execute("PRAGMA integrity_check").fetchall()
            if sound != [("ok",)]:
                self.wrong(f"{path} is damaged: {sound[:3]}")
            return collections.Counter(row[0] for row in connection.execute(query))

    def check_backups(self):
        there = sorted(name for name in os.listdir(self.backups) if name.startswith("steward-"))
        for name in self.finished:
            if name not in there:
                self.wrong(f"the backup {name}, which was finished, is lost")
        if there:
            proved = self.steward("restore", "--verify", f"{self.backups}/{there[-1]}", fails=True)
            if proved.returncode != 0:
                self.wrong(f"the backup {there[-1]} is damaged: {proved.stdout.decode()}{proved.stderr.decode()}")
        # Room for those to come.
        for name in there[:-2]:
            shutil.rmtree(f"{self.backups}/{name}")
            self.finished = [other for other in self.finished if other != name]

    def check_vault(self):
        """Every byte of every comic that went into the vault."""
        self.unlock()
        self.steward("vault", "verify")
        for one in self.inputs:
            if one.kind == "sealed" and one.is_synced:
                target = f"{self.folder}/comic"
                self.steward("vault", "extract", f"{one.stem}.cbz", "--output", target)
                with open(target, "rb") as file:
                    if digest(file.read()) != digest(one.content()):
                        self.wrong(f"{one.stem} is another comic in the vault")
                os.remove(target)

    def round(self):
        self.start()
        if self.random.random() < 0.6:
            self.unlock()
        self.most = len(self.inputs) + 25
        life = self.random.uniform(0.05, 4)
        worker = threading.Thread(target=self.work, args=(time.monotonic() + life,))
        backup = threading.Thread(target=self.back_up, args=(self.random.uniform(0, life),))
        worker.start()
        if self.random.random() < 0.5:
            backup.start()
        time.sleep(life)
        alive = self.agent.poll() is None
        for disk in (self.first, self.second):
            disk.cut()
        self.kill()
        worker.join()
        if backup.ident:
            backup.join()
        if not alive:
            self.wrong("the agent had ended by itself")
        for disk in (self.first, self.second):
            disk.unmount()
            disk.mount()
        shutil.rmtree(f"{self.home}/stage")
        os.mkdir(f"{self.home}/stage")
        self.start()
        self.rest()
        self.check()
        # The next one starts from what was seen.
        self.agent.terminate()
        self.agent.wait(120)
        os.sync()
        return life


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("STEWARD_TEST_SEED") or random.randrange(1 << 32)))
    parser.add_argument("--keep", action="store_true", help="leave the images where they are, also where all is well")
    options = parser.parse_args()
    if os.geteuid() != 0:
        cannot("only root can mount a file system and shut it down")
    for name in ("mkfs.ext4", "e2fsck", "mount", "umount", "unshare"):
        if shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
            cannot(f"there is no {name} here: apt install e2fsprogs mount")
    # In a mount namespace of its own: one that is made meanwhile, by whomever, would hold a copy of the mounts, and a file
    # system that somebody holds stays shut down.
    if os.environ.get("STEWARD_CUTS") != "apart":
        os.environ["STEWARD_CUTS"] = "apart"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])
    print(f"seed {options.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="steward-cuts-")
    campaign = None
    try:
        try:
            campaign = Campaign(os.path.realpath(options.program), folder, options.seed)
        except (OSError, subprocess.CalledProcessError) as error:
            cannot(f"no file system can be made and mounted here: {error}")
        for number in range(1, options.rounds + 1):
            faults = len(campaign.faults)
            life = campaign.round()
            print(f"round {number}: cut after {life:.2f} s, {len(campaign.inputs)} inputs in all, "
                  f"{len(campaign.faults) - faults} faults", flush=True)
        campaign.start()
        campaign.check_vault()
        campaign.agent.terminate()
        campaign.agent.wait(120)
        for disk in (campaign.first, campaign.second):
            disk.unmount()
            if said := disk.examine():
                campaign.wrong(f"{disk.image} is damaged:\n{said}")
        synced = sum(one.is_synced for one in campaign.inputs)
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(campaign.counts.items()))
        print(f"{options.rounds} power cuts, {synced} inputs on the disk ({counts}): {len(campaign.faults)} faults")
    finally:
        if campaign is not None:
            if campaign.agent is not None and campaign.agent.poll() is None:
                campaign.kill()
            for disk in (campaign.first, campaign.second):
                subprocess.run(["umount", "--lazy", disk.folder], capture_output=True)
        if campaign is not None and (campaign.faults or sys.exc_info()[0] or options.keep):
            print(f"what is left lies in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if campaign.faults else 0)


if __name__ == "__main__":
    main()
