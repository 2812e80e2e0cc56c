"""How long the programs take to start, against others that start and end, and how large they are."""
import os, pathlib, statistics, subprocess, tempfile, time, zipfile

import measure

# Milliseconds.
AIMS = {"steward --version": 10, "tk --version": 8, "tk --help": 8, "tk roles list": 8}
FIRST_BYTE = 4
RESOURCES = pathlib.Path(__file__).resolve().parent.parent / "Sources/Core/TK/TKCore/Resources"
PEERS = ["/bin/true", "python3 -I -c ''"]


def _first_byte(words, archive, descriptor):
    """Seconds from the start of a command to the first byte that it writes to `descriptor`, and its CPU seconds."""
    read, write = os.pipe()
    with open(archive, "rb") as given, open(os.devnull, "r+b") as nothing:
        # The worker is given the archive on 3. Far numbers first, so that nothing is closed that is still needed.
        far_archive, far_write = 103, 104
        os.dup2(given.fileno(), far_archive)
        os.dup2(write, far_write)
        actions = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), number) for number in (0, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, far_archive, 3), (os.POSIX_SPAWN_DUP2, far_write, descriptor)]
        start = time.perf_counter()
        process = os.posix_spawn(words[0], words, os.environ, file_actions=actions)
        for number in (far_archive, far_write, write):
            os.close(number)
        byte = os.read(read, 1)
        took = time.perf_counter() - start
        while os.read(read, 65536):
            pass
        os.close(read)
    _, status, used = os.wait4(process, 0)
    if status or not byte:
        raise SystemExit(f"{words} said nothing, or ended with {os.waitstatus_to_exitcode(status)}")
    return measure.Cost(took, used.ru_utime + used.ru_stime)


def _line(cost, peers):
    """Milliseconds, and how many times the CPU time of each peer, which a busy machine changes least."""
    ratios = ", ".join(f"{cost.cpu / peer.cpu:.2f} × {name}" for name, peer in peers.items())
    return f"{cost.wall * 1e3:.1f} ms, {cost.cpu * 1e3:.1f} CPU ms" + (f"; {ratios}" if ratios else "")


def start(binary, quick):
    built = pathlib.Path(binary).resolve().parent
    rounds = 10 if quick else 60
    report = {}
    with tempfile.TemporaryDirectory(prefix="steward-start-") as home:
        home = pathlib.Path(home)
        sizes = {}
        # As `make install` installs them.
        for name in ("steward", "tk", "steward-worker"):
            subprocess.run(["strip", "-o", home / name, built / name], check=True)
            sizes[name] = [path.stat().st_size / 1e6 for path in (built / name, home / name)]
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "STEWARD_TK_RESOURCES": str(RESOURCES)}

        commands = {name: [str(home / name.split()[0]), *name.split()[1:]] for name in AIMS}
        commands |= {"/bin/true": ["/bin/true"], "python3 -I -c ''": ["python3", "-I", "-c", ""]}
        costs = measure.medians(commands, rounds, environment=environment)
        peers = {name: costs[name] for name in PEERS}
        report |= {f"{name} (aim: at most {aim} ms)": _line(costs[name], peers) for name, aim in AIMS.items()}
        report |= {name: _line(peer, {}) for name, peer in peers.items()}

        archive = home / "one.cbz"
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("1.txt", "one")
        seen = {"steward-worker": [], "bsdtar": []}
        for turn in range(rounds + 1):
            ours = _first_byte([str(home / "steward-worker"), "archive", "list"], archive, 4)
            theirs = _first_byte(["/usr/bin/bsdtar", "-tf", str(archive)], archive, 1)
            # The first turn fills the page cache.
            if turn:
                seen["steward-worker"].append(ours)
                seen["bsdtar"].append(theirs)
        ours, theirs = (
            measure.Cost(statistics.median(c.wall for c in found), statistics.median(c.cpu for c in found))
            for found in seen.values())
        report[f"steward-worker archive list, to its first byte (aim: at most {FIRST_BYTE} ms)"] = _line(ours, {"bsdtar": theirs})
        report["bsdtar -tf, to its first byte"] = _line(theirs, {})
    return report | {f"{name}, MB": f"{size:.1f}, stripped {less:.1f}" for name, (size, less) in sizes.items()}


BENCHMARKS = {"start": start}
