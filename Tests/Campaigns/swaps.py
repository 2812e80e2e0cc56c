"""The attacker of the tests, and the guard of what he is after. See README.md.

    swaps.py guard FOLDER...                     say all that happens below the folders
    swaps.py once (OPENING GOOD BAD FILE)...     exchange GOOD and BAD when FILE is opened for the n-th time
    swaps.py fifo (OPENING FILE)...              put a FIFO in the place of FILE when it is opened for the n-th time
    swaps.py storm --kind KIND ...               exchange at full speed whenever the agent opens a file

It says `ready` when it is watching. All end at SIGTERM, or with the process that has started them; `once` and `fifo`
when all is exchanged, and `storm` when enough is.
"""

import argparse
import ctypes
import errno
import json
import os
import random
import select
import signal
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
RENAME_EXCHANGE = 2
IN_ACCESS, IN_OPEN, IN_ISDIR = 0x1, 0x20, 0x40000000
NAMES = {
    0x1: "read", 0x2: "written", 0x4: "changed (attributes)", 0x20: "opened", 0x40: "moved away", 0x80: "moved in",
    0x100: "made", 0x200: "removed",
}


def fail(what):
    code = ctypes.get_errno()
    raise OSError(code, f"{what}: {os.strerror(code)}")


def exchange(one, other):
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        fail(f"exchange {one} and {other}")


class Watch:
    """Events of inotify."""

    def __init__(self):
        self.raw = libc.inotify_init1(0o4000)
        if self.raw < 0:
            fail("inotify")

    def add(self, path, mask):
        # Watches are counted for all of a user's processes, and another test may be at the limit on purpose.
        for _ in range(600):
            watch = libc.inotify_add_watch(self.raw, os.fsencode(path), mask)
            if watch >= 0 or ctypes.get_errno() != errno.ENOSPC:
                break
            time.sleep(0.1)
        if watch < 0:
            fail(f"watch {path}")
        return watch

    def events(self, timeout):
        """(watch, mask, name) of what happens within so many seconds."""
        if not select.select([self.raw], [], [], timeout)[0]:
            return []
        data, found = os.read(self.raw, 65536), []
        while data:
            watch, mask, _, length = struct.unpack_from("iIII", data)
            found.append((watch, mask, os.fsdecode(data[16:16 + length].rstrip(b"\0"))))
            data = data[16 + length:]
        return found


parent, told = os.getppid(), []


def go_on():
    return not told and os.getppid() == parent


def guard(folders):
    watch, names = Watch(), {}
    for folder in folders:
        for path, _, _ in os.walk(folder):
            names[watch.add(path, sum(NAMES))] = path
    print("ready", flush=True)

    def say(events):
        for number, mask, name in events:
            # Looking for a name in a folder is no use of what lies in it.
            if mask & IN_ISDIR and mask & (IN_OPEN | IN_ACCESS):
                continue
            for bit, word in NAMES.items():
                if mask & bit:
                    print(f"{word}: {names.get(number, '?')}/{name}", flush=True)

    while go_on():
        say(watch.events(0.1))
    while events := watch.events(0):
        say(events)


def at_opening(cases):
    """Does each case's work when its file is opened for the n-th time; cases are (opening, file, work)."""
    watch, waiting = Watch(), {}
    for opening, file, work in cases:
        waiting[watch.add(file, IN_OPEN)] = [opening, work]
    print("ready", flush=True)
    done = late = 0
    while waiting and go_on():
        for number, mask, _ in watch.events(0.1):
            if mask & IN_OPEN and number in waiting:
                waiting[number][0] -= 1
                if waiting[number][0] == 0:
                    try:
                        waiting.pop(number)[1]()
                        done += 1
                    except FileNotFoundError:
                        late += 1  # the agent has taken it away
    print(json.dumps({"done": done, "late": late, "missed": len(waiting)}))


def once(words):
    cases = [words[start:start + 4] for start in range(0, len(words), 4)]
    at_opening([(int(n), file, lambda good=good, bad=bad: exchange(good, bad)) for n, good, bad, file in cases])


def fifo(words):
    def work(file):
        other = os.path.join(os.path.dirname(file), ".fifo-" + os.path.basename(file))
        os.mkfifo(other)
        return lambda: exchange(file, other)

    cases = [words[start:start + 2] for start in range(0, len(words), 2)]
    at_opening([(int(n), file, work(file)) for n, file in cases])


class Storm:
    """Drops files and, whenever the agent opens one of them, exchanges something for a link at full speed."""

    BATCH = 8

    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.content = open(options.content, "rb").read()
        self.watch = Watch()
        self.swaps = self.files = 0
        if options.kind == "target":
            self.bad = os.path.join(os.path.dirname(options.target), ".bad-" + os.path.basename(options.target))
            os.makedirs(options.target, 0o777, exist_ok=True)
            if not os.path.islink(self.bad):
                os.symlink(options.link, self.bad)

    def drop(self):
        """A new file; returns its path and the pair that is exchanged."""
        options, name = self.options, f"{self.options.kind}-{self.files}"
        self.files += 1
        folder = os.path.join(options.folder, name)
        staged = os.path.join(options.folder, "." + name)
        os.mkdir(staged)
        file = os.path.join(folder, options.name)
        with open(os.path.join(staged, options.name), "wb") as out:
            out.write(self.content)
            if options.numbered:
                out.write(b"%d\n" % self.files)
        pair = (options.target, getattr(self, "bad", ""))
        if options.kind == "file":
            os.symlink(os.path.join(options.link, options.name), os.path.join(staged, ".bad"))
            pair = (file, os.path.join(folder, ".bad"))
        elif options.kind == "folder":
            pair = (folder, os.path.join(options.folder, ".bad-" + name))
            os.symlink(options.link, pair[1])
        os.rename(staged, folder)
        return file, pair

    def burst(self, good, bad):
        most = max(8, self.options.swaps // 50)  # so that many files meet some
        for _ in range(min(self.random.randint(1, most), self.options.swaps - self.swaps)):
            try:
                exchange(good, bad)
            except FileNotFoundError:
                return  # the agent has taken it away
            self.swaps += 1
            # From at once to as long as a hash takes.
            until = time.perf_counter() + 10 ** self.random.uniform(-7, -3.5)
            while time.perf_counter() < until:
                pass

    def run(self):
        print("ready", flush=True)
        while self.swaps < self.options.swaps and go_on():
            pairs = {}
            for _ in range(self.BATCH):
                file, pair = self.drop()
                try:
                    pairs[self.watch.add(file, IN_OPEN | IN_ACCESS)] = pair
                except FileNotFoundError:
                    pass  # the agent was quicker
            # Only so that files which nobody opens again do not hold up the rest.
            quiet = 0
            while self.swaps < self.options.swaps and quiet < 10:
                events = self.watch.events(self.options.settle / 4)
                quiet = 0 if events else quiet + 1
                for number in {event[0] for event in events} & set(pairs):
                    self.burst(*pairs[number])
        if self.options.kind == "target" and os.path.islink(self.options.target):
            exchange(self.options.target, self.bad)
        print(json.dumps({"swaps": self.swaps, "files": self.files}))


def storm(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["folder", "file", "target"], required=True)
    parser.add_argument("--folder", required=True, help="the place's folder in which files are dropped")
    parser.add_argument("--target", help="the folder that the rule puts things in")
    parser.add_argument("--link", required=True, help="the victim's folder")
    parser.add_argument("--name", required=True, help="of the files, as in the victim's folder")
    parser.add_argument("--content", required=True, help="a file that holds what is dropped")
    parser.add_argument("--numbered", action="store_true", help="give each file a last line of its own")
    parser.add_argument("--swaps", type=int, default=10_000)
    parser.add_argument("--settle", type=float, default=0.1, help="seconds, as in the rules")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    Storm(parser.parse_args(words)).run()


if __name__ == "__main__":
    os.umask(0)
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    # Whoever starts this may have blocked it.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        if sys.argv[1] == "guard":
            guard(sys.argv[2:])
        else:
            {"once": once, "fifo": fifo, "storm": storm}[sys.argv[1]](sys.argv[2:])
    except (IndexError, KeyError):
        sys.exit(__doc__)
