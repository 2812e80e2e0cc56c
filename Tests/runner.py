#!/usr/bin/env python3
"""Runs the tests that were built, in groups side by side; shows how far they are, and counts what became of them.

Called by run.sh, which says what can be run. What each group prints is in .build/tests.
"""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

# By its whole path: tests look for what else was built beside it.
PROGRAM = [os.path.abspath(".build/debug/stewardPackageTests.xctest"), "--testing-library", "swift-testing"]
LOGS = pathlib.Path(".build/tests")
SEED = os.environ["STEWARD_TEST_SEED"]
CORES = sorted(os.sched_getaffinity(0))
# A process has a thread for tests on each core, and a test that waits for a program keeps one: so there are more processes.
PROCESSES = len(CORES) + 3
# `again` starts no group after so many seconds. Each run has another order, and so another share of the tests.
AGAIN_LIMIT = 120
FILES = r"(A4Core|AgentKit|DotLife|Ledger|Platform|RuleActions|Rules)"
# Groups of suites, each with its number of processes. A suite belongs to the first group that it matches.
GROUPS = {
    "attacks": (r"EndToEnd\.(SwapCampaign|PowerCut|SwappedFolder|BecomesPipe|SparseFile|SystemCall|ForeignFile|Unit)Tests", 1),
    # Their tests take minutes, one after the other or because they start hundreds of processes: others of their process
    # would wait for them.
    "crashes": (r"RuleActionsTests\.ActionCrashTests", 1),
    "editors": (r"EndToEnd\.EditorTests", 1),
    # By itself: libinotifytools cannot handle descriptors above 1,023.
    "watching": (r"WatchingTests\.", 1),
    # Each process has an agent for each core, and one more.
    "agents": (r"EndToEnd\.", 3),
    # Agents in the tests' own process.
    "inside": (r"AgentKitTests\.", 1),
    # These download programs by others first, and wait for the network.
    "peers": (r"\w+Tests\.\w*(Peer|RealModel|KnownAnswer)\w*Tests", 1),
    "comics": (r"Comic(Archive|Vault)Tests\.", 1),
    "drafts": (r"(TKCore|TKCommand|A4Core|A4GoldenParity|DotLife|RonAppSdk)", 1),
    "rules": (r"", 1),
}
# How many tests of a group go side by side, if not as many as usual: each of these has processes of its own, and all at
# once would leave the other groups no time.
WIDTHS = {"crashes": len(CORES)}
# The longest start first.
ORDER = ["peers", "attacks", "crashes", "editors", "rules", "agents", "watching", "inside", "comics", "drafts"]
CLEAR = "\x1b[K" if sys.stdout.isatty() else ""


class Group:
    """Tests that one process runs, and what has become of them so far."""

    def __init__(self, name, pattern, count):
        self.name, self.pattern, self.count = name, pattern, count
        self.log = LOGS / f"{name}.log"
        self.rest = ""
        self.running, self.ended, self.skipped = {}, set(), {}
        self.issues = collections.defaultdict(list)

    @classmethod
    def of(cls, name, suites, tests):
        return cls(name, f"({'|'.join(map(re.escape, suites))})(/|$)", sum(tests[suite] for suite in suites))

    def start(self, cores):
        events = self.log.with_suffix(".jsonl")
        self.unread = events.open("w+")
        with self.log.open("wb") as output:
            # What the caller ignores (nohup, some CI) would be ignored by all that the tests start.
            width = [f"SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH={WIDTHS[self.name]}"] if self.name in WIDTHS else []
            self.process = subprocess.Popen(
                ["env", "--default-signal", *width, "taskset", "--cpu-list", ",".join(map(str, cores)), *PROGRAM]
                + ["--filter", f"^{self.pattern}"]
                + ["--event-stream-version", "6.3", "--event-stream-output-path", events],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def is_done(self):
        """Takes in what has happened since the last call; whether the process has ended."""
        status = self.process.poll()
        *lines, self.rest = (self.rest + self.unread.read()).split("\n")
        for line in lines:
            record = json.loads(line)
            if record["kind"] == "event":
                self.take(**record["payload"])
        if status is not None and (self.running or status not in (0, 1)):
            end = self.log.read_text(errors="replace").splitlines()[-20:]
            self.fail(f"the process of {self.name}", "\n".join([f"ended with {status}", *end]))
            for test in self.running:
                self.fail(test, "was running when its process ended")
        return status is not None

    def take(self, kind, messages=(), testID="", issue=None, **_):
        text = "\n".join(message["text"] for message in messages)
        if kind == "issueRecorded" and issue["isFailure"]:
            self.fail(testID, text)
        elif "(" not in testID:
            return
        elif kind == "testStarted":
            self.running[testID] = time.monotonic()
        elif kind == "testEnded":
            del self.running[testID]
            self.ended.add(testID)
        # A test that was cancelled says why when it ends.
        if kind in ("testSkipped", "testCancelled") or kind == "testEnded" and testID in self.skipped:
            self.skipped[testID] = text.partition(': "')[2].rstrip('"') or "no reason given"

    def fail(self, test, text):
        if test not in self.issues:
            say(f"✘ {test}\n{text}")
        self.issues[test].append(text)

    @property
    def passed(self):
        return self.ended - set(self.skipped) - set(self.issues)

    def __str__(self):
        oldest = min(self.running, key=self.running.get, default="").rpartition("/")[0]
        return f"{self.name} {len(self.ended | set(self.skipped))}/{self.count} {oldest}"


def say(text):
    """Prints lines above the one that shows how far the tests are."""
    print(text.replace("\n", CLEAR + "\n") + CLEAR, flush=True)


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def run(groups, processes=PROCESSES, cores=CORES, limit=None):
    """Runs groups, so many side by side, and starts none after `limit` seconds; returns those that ran."""
    total = sum(group.count for group in groups)
    waiting, at_work, started = collections.deque(groups), [], []
    begun = shown = time.monotonic()
    try:
        while waiting or at_work:
            now = time.monotonic()
            if waiting and limit and now > begun + limit:
                say(f"the time for this is up: {sum(group.count for group in waiting)} tests are left out")
                waiting.clear()
            while waiting and len(at_work) < processes:
                at_work.append(waiting.popleft())
                at_work[-1].start(cores)
                started.append(at_work[-1])
            time.sleep(0.3)
            at_work = [group for group in at_work if not group.is_done()]
            if now - shown >= (1 if CLEAR else 60):
                shown = now
                passed, failed = (sum(len(getattr(group, of)) for group in started) for of in ("passed", "issues"))
                line = f"{clock(now - begun)} {passed} of {total} passed, {failed} failed; {', '.join(map(str, at_work))}"
                if CLEAR:
                    print(line[: os.get_terminal_size().columns - 1] + CLEAR, end="\r", flush=True)
                else:
                    print(line, flush=True)
    finally:
        for group in at_work:
            group.process.terminate()
    return started


def tests_by_suite():
    listed = subprocess.run([*PROGRAM, "--list-tests"], capture_output=True, text=True, check=True).stdout
    return collections.Counter(re.match(r"[^/(]*", line)[0] for line in listed.splitlines() if "(" in line)


def everything():
    tests = tests_by_suite()
    suites = collections.defaultdict(list)
    for suite in sorted(tests):
        suites[next(name for name, (pattern, _) in GROUPS.items() if re.match(pattern, suite))].append(suite)
    return run([
        Group.of(f"{name}-{part + 1}" if parts > 1 else name, suites[name][part::parts], tests)
        for name in ORDER for parts in [GROUPS[name][1]] for part in range(parts) if suites[name][part::parts]
    ])


def shuffled(pattern, limit=None):
    """Suites in an order by chance, twenty at a time, on one core."""
    tests = tests_by_suite()
    suites = sorted(suite for suite in tests if re.match(pattern, suite))
    random.Random(SEED).shuffle(suites)
    groups = [Group.of(f"shuffled-{first // 20 + 1}", suites[first:first + 20], tests) for first in range(0, len(suites), 20)]
    return run(groups, processes=1, cores=CORES[:1], limit=limit)


def alone(failed):
    """Those of a few tests that pass by themselves, with the same seed."""
    say("\n== once more, each by itself")
    names = {test: re.escape(test.rpartition("/")[0] if "(" in test else test) for test in failed}
    groups = {test: Group(f"alone-{number}", name, 1) for number, (test, name) in enumerate(names.items(), 1)}
    run(list(groups.values()), processes=1)
    return {test for test, group in groups.items() if group.passed and not group.issues}


def main(what):
    """Returns whether no test has failed, or only such as pass by themselves."""
    begun = time.monotonic()
    ran = {"all": everything, "shuffled": lambda: shuffled(""), "again": lambda: shuffled(FILES, AGAIN_LIMIT)}[what]()
    failed = sorted({test for group in ran for test in group.issues})
    passed = sum(len(group.passed) for group in ran)
    reasons = collections.Counter(reason for group in ran for reason in group.skipped.values())
    # What fails again has failed. What passes then failed for want of a processor or a disk that others had: mend it, too.
    has_few = 0 < len(failed) <= 5 and not any(test.startswith("the process of") for test in failed)
    flaky = alone(failed) if has_few else set()
    failed = [test for test in failed if test not in flaky]
    for title, lines in [
        ("skipped", [f"{count:4} {reason}" for reason, count in reasons.most_common()]),
        (f"flaky: failed beside others, passed alone (STEWARD_TEST_SEED={SEED})", sorted(flaky)),
        ("failed", failed),
    ]:
        if lines:
            say(f"\n== {title}\n" + "\n".join(lines))
    count = sum(group.count for group in ran)
    say(f"\n{count} tests in {clock(time.monotonic() - begun)}: {passed} passed, {len(failed)} failed, "
        f"{sum(reasons.values())} skipped, {len(flaky)} flaky")
    return not failed


if __name__ == "__main__":
    LOGS.mkdir(parents=True, exist_ok=True)
    try:
        sys.exit(0 if main(sys.argv[1]) else 1)
    except KeyboardInterrupt:
        sys.exit(130)
