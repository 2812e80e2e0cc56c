#!/usr/bin/env python3
"""order.py STEWARD LIST: writes LIST, the functions that the agent calls while it starts, takes captures and answers, the
busiest first. The linker lays them side by side (docs/design/release.md).

STEWARD is what `make release` has built, not stripped. It runs under valgrind, which counts each instruction: some minutes.
"""
import os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

import captures
from agent import Agent

COUNT = 300
# Under valgrind all takes thirty times as long: no file may stand still for too short a time because of that.
RULES = captures.FULL.replace("200ms", "2s")
COMMANDS = [["--version"], ["status"], ["log"], ["rules", "list"], ["check"]]


def counted(program, words, out, environment, **options):
    """Starts the program under valgrind, which writes its counts to `out`."""
    return subprocess.Popen(
        ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}", program, *words],
        env={**environment, "LD_PRELOAD": str(shim(out.parent))}, **options)


def shim(folder):
    """valgrind before 3.21 does not know openat2(2), without which the agent opens nothing: what the agent asks of it here
    openat(2) does as well."""
    made = folder / "openat2.so"
    if not made.exists():
        source = pathlib.Path(__file__).with_name("openat2.c")
        subprocess.run([shutil.which("clang") or "cc", "-shared", "-fPIC", "-O1", "-o", made, source], check=True)
    return made


class CountedAgent(Agent):
    def start(self, out):
        with open(self.home / "log", "a") as log:
            self.process = counted(self.binary, ["run"], out, self.environment, stderr=log, stdout=log)
        for _ in range(240):
            status = subprocess.run([self.binary, "status", "--json"], env=self.environment, capture_output=True, text=True)
            if 'isRunning" : true' in status.stdout:
                return
            time.sleep(0.5)
        sys.exit("the agent has not started:\n" + (self.home / "log").read_text())


def counts(file):
    """Instructions of each function, by its name."""
    names, found, current, is_call = {}, {}, None, False
    for line in file.read_text(errors="replace").splitlines():
        if match := re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line):
            kind, number, name = match.groups()
            if name is not None:
                # Recursion is told apart by a number.
                names[number] = re.sub(r"'\d+$", "", name)
            if kind == "fn":
                current = names[number]
        elif line.startswith("calls="):
            is_call = True
        elif match := re.match(r"[-+*\d]\S* (\d+)$", line):
            if not is_call:
                found[current] = found.get(current, 0) + int(match[1])
            is_call = False
    return found


def symbols(program):
    """The program's functions, by the names that valgrind gives them: it writes those of C++ as they stand in the source."""
    lines = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines()
    named = [fields[2] for fields in map(str.split, lines) if len(fields) == 3 and fields[1] in "tTwW"]
    cpp = [name for name in named if name.startswith("_Z")]
    shown = subprocess.run(["c++filt"], input="\n".join(cpp), check=True, capture_output=True, text=True).stdout.splitlines()
    return {**{name: name for name in named}, **dict(zip(shown, cpp))}


def main():
    program, list_file = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="steward-order-"))
    with CountedAgent(program, RULES) as agent:
        agent.start(folder / "agent")
        for number in range(COUNT):
            (agent.dropbox / f"c{number}.txt").write_text(f"capture number {number}\n")
        agent.wait()
        for number, words in enumerate(COMMANDS):
            counted(program, words, folder / f"command-{number}", agent.environment, stdout=subprocess.DEVNULL).wait()
        agent.process.send_signal(signal.SIGTERM)
        agent.process.wait()
    known, total = symbols(program), {}
    for file in [folder / "agent", *sorted(folder.glob("command-*"))]:
        for name, count in counts(file).items():
            if name in known:
                total[known[name]] = total.get(known[name], 0) + count
    ordered = sorted(total, key=lambda name: (-total[name], name))
    list_file.write_text("".join(name + "\n" for name in ordered))
    print(f"{len(ordered)} functions of {len(known)}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
