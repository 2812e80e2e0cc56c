"""What one run of a command costs, with all the processes that it starts."""
import collections, os, pathlib, statistics, subprocess, tempfile, threading, time

Cost = collections.namedtuple("Cost", "wall cpu")


def run(words, output=subprocess.DEVNULL, environment=None, accepted=(0,)):
    """Runs a command to its end: seconds by the clock, and CPU seconds (user and system).

    `accepted` are the exit codes that are no failure: linters report findings by one.

    wait4(2) adds to the CPU time of a process that of all its children, and theirs, which it waited for: steward waits
    for its workers, so they are counted.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, env=environment)
    # Reads to the end before the process is waited for; nothing here writes much to it.
    complaint = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in accepted:
        raise SystemExit(f"{words} ended with {process.returncode}: {complaint.decode(errors='replace')}")
    return Cost(wall, used.ru_utime + used.ru_stime)


def medians(commands, rounds, before=None, pick=statistics.median, **options):
    """The median cost of each of several commands, by name; they take turns, so that a busy moment meets all.

    `pick=min` is for those that write much: what the disk is busy with besides only ever adds.
    """
    seen = collections.defaultdict(list)
    for turn in range(rounds + 1):
        for name, words in commands.items():
            if before:
                before()
            cost = run(words, **options)
            # The first turn fills the page cache.
            if turn:
                seen[name].append(cost)
    return {
        name: Cost(pick(c.wall for c in costs), pick(c.cpu for c in costs))
        for name, costs in seen.items()
    }


def peaks(words, environment=None):
    """The peak resident memory in MiB of a command and of the processes under it, by program, and of all together.

    Looks at VmHWM every millisecond: the kernel keeps the peak itself, so only growth in a process's last millisecond
    can be missed.
    """
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    found, over = {}, threading.Event()

    def look():
        while not over.is_set():
            for id in _tree(process.pid):
                try:
                    lines = pathlib.Path(f"/proc/{id}/status").read_text().splitlines()
                except OSError:
                    continue
                fields = dict(line.split(":", 1) for line in lines)
                key = id, fields["Name"].strip()
                found[key] = max(int(fields.get("VmHWM", "0 kB").split()[0]) / 1024, found.get(key, 0))
            time.sleep(0.001)

    watcher = threading.Thread(target=look)
    watcher.start()
    complaint = process.stderr.read()
    process.wait()
    over.set()
    watcher.join()
    if process.returncode != 0:
        raise SystemExit(f"{words} ended with {process.returncode}: {complaint.decode(errors='replace')}")
    by_program = collections.defaultdict(float)
    for (_, program), peak in found.items():
        by_program[program] = max(by_program[program], peak)
    return dict(by_program), sum(by_program.values())


def _tree(root):
    """A process and all those under it."""
    found = [root]
    for id in found:
        try:
            for task in os.listdir(f"/proc/{id}/task"):
                found += map(int, pathlib.Path(f"/proc/{id}/task/{task}/children").read_text().split())
        except OSError:
            continue
    return found


def disk():
    """What the disk takes just now, by which figures of two days can be told apart: fdatasync(2) of a page that was appended,
    and making a small file."""
    def median(count, work):
        found = []
        for number in range(count):
            start = time.perf_counter()
            work(number)
            found.append(time.perf_counter() - start)
        return statistics.median(found)

    def make(number):
        with open(f"{name}/{number}", "w") as file:
            file.write("a line\n")

    with tempfile.TemporaryDirectory(prefix="steward-disk-") as name:
        log = os.open(f"{name}/log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        synced = median(200, lambda _: (os.write(log, bytes(4096)), os.fdatasync(log)))
        os.close(log)
        made = median(1_000, make)
    return {"fdatasync of a page, ms": round(synced * 1e3, 2), "making a file, µs": round(made * 1e6)}
