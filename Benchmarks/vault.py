"""The comic vault: sealing, importing, pages, keys and memory, against age and the plainest loops in C."""
import hashlib, os, pathlib, shutil, subprocess, time

import measure
from agent import Agent
from comics import Comics, named

HERE = pathlib.Path(__file__).parent
MIB = 1 << 20
# The vault's CPU seconds as a multiple of theirs.
AIMS = {"bare EVP loop": 1.15, "bare EVP loop, read back": 1.15, "age -r": 1}


class Vaults:
    """Files to seal, the programs, and folders for vaults; beside the build, on the same disk."""

    def __init__(self, binary):
        build = pathlib.Path(binary).resolve().parents[2]
        self.tool = os.environ.get("STEWARD_VAULT_BENCH") or build / "bench-vault/release/vault-bench"
        self.folder = build / "bench-vault-files"
        self.folder.mkdir(exist_ok=True)
        self.output = self.folder / "sealed"
        self.bare = self.folder / "bare_evp"
        compiler = shutil.which("cc") or "clang"
        subprocess.run([compiler, "-O2", "-o", self.bare, HERE / "bare_evp.c", "-lcrypto"], check=True)
        identity = self.folder / "age-key"
        identity.unlink(missing_ok=True)
        subprocess.run(["age-keygen", "-o", identity], check=True, capture_output=True)
        self.recipient = subprocess.run(
            ["age-keygen", "-y", identity], check=True, capture_output=True, text=True).stdout.strip()

    def random(self, size):
        """A file of random bytes, and its SHA-256."""
        target = self.folder / f"random-{size // MIB}"
        if not target.exists():
            with open(target.with_suffix(".new"), "wb") as file:
                for _ in range(size // MIB):
                    file.write(os.urandom(MIB))
            target.with_suffix(".new").rename(target)
        with open(target, "rb") as file:
            return target, hashlib.file_digest(file, "sha256").hexdigest()

    def fresh(self, name="vault"):
        """An empty vault, in a folder with what the host knows of it."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        self.run("init", place)
        return place

    def run(self, *words):
        return subprocess.run([self.tool, *words], check=True, capture_output=True).stdout

    def age(self, source, target):
        # Synced as well: what is not on the disk is not sealed yet.
        return ["sh", "-c", f"age -r {self.recipient} -o '{target}' '{source}' && sync '{target}'"]


def figures(costs, ours):
    """Seconds of each, and what `ours` takes of the others' CPU seconds."""
    found = {name: f"{cost.cpu:.3f} CPU s, {cost.wall:.3f} s" for name, cost in costs.items()}
    for name, cost in costs.items():
        if name in AIMS:
            mine = costs[ours + ", read back"] if name.endswith("read back") else costs[ours]
            found[f"vault / {name}, CPU (aim: at most {AIMS[name]})"] = round(mine.cpu / cost.cpu, 2)
    return found


def seal(binary, quick):
    """Sealing 1 GiB into a file that is synced; and the same read back past the page cache and verified."""
    vaults = Vaults(binary)
    source, digest = vaults.random((128 if quick else 1024) * MIB)
    out = vaults.output
    costs = measure.medians(
        {
            "vault": [vaults.tool, "seal", source, out],
            "bare EVP loop": [vaults.bare, source, out],
            "age -r": vaults.age(source, out),
            "vault, read back": [vaults.tool, "seal", source, out, digest],
            "bare EVP loop, read back": [vaults.bare, source, out, "verify"],
        },
        3 if quick else 7, before=lambda: out.unlink(missing_ok=True), pick=min)
    out.unlink()
    return {named(source): figures(costs, "vault")}


def import_comic(binary, quick):
    """A stored CBZ from the inbox into the vault: validated, hashed, sealed, synced, read back, verified, recorded."""
    comics, vaults = Comics(binary, quick), Vaults(binary)
    archive = comics.stored
    place = vaults.folder / "vault"
    inspect = " ".join(f"'{word}'" for word in comics.inspect(archive))
    costs = measure.medians(
        {
            "vault": ["sh", "-c", f"{inspect} && '{vaults.tool}' add '{place}' '{archive}'"],
            "vault, locked": ["sh", "-c", f"{inspect} && '{vaults.tool}' deposit '{place}' '{archive}'"],
            "7zz t and age -r": [
                "sh", "-c",
                f"7zz t '{archive}' && age -r {vaults.recipient} -o '{vaults.output}' '{archive}' && sync '{vaults.output}'"],
        },
        3 if quick else 7, before=lambda: (vaults.fresh(), vaults.output.unlink(missing_ok=True)), pick=min,
        environment=comics.environment)
    vaults.output.unlink()
    shutil.rmtree(place)
    found = {name: f"{cost.cpu:.3f} CPU s, {cost.wall:.3f} s" for name, cost in costs.items()}
    found["CPU s (aim: at most 1.5)"] = round(costs["vault"].cpu, 2)
    found["vault / 7zz t and age -r, CPU"] = round(costs["vault"].cpu / costs["7zz t and age -r"].cpu, 2)
    return {named(archive): found}


SEALING = """
- rule: Bench
  in: comics
  settle: 200ms
  do:
    - import-comic: { vault: main }
"""


def by_agent(binary, quick):
    """The same by a rule of the agent, from the moment the file is moved into the inbox; thumbnails and all."""
    archive = Comics(binary, quick).stored
    report = {}
    for state in ("unlocked", "locked"):
        seen = []
        for _ in range(2 if quick else 4):
            with Agent(binary, SEALING) as agent:
                key = agent.home / "key"
                key.write_bytes(os.urandom(64))
                agent.command("vault", "init", "--key-file", str(key))
                agent.start()
                if state == "unlocked":
                    agent.command("vault", "unlock", "--key-file", str(key))
                shutil.copyfile(archive, agent.home / "comic.cbz")
                before, start = agent.cpu(children=True), time.time()
                (agent.home / "comic.cbz").rename(agent.home / "Steward/comics/comic.cbz")
                agent.wait()
                seen.append((agent.cpu(children=True) - before, time.time() - start, agent.peak()))
                sealed = sum(path.stat().st_size for path in (agent.home / "Steward/vault").rglob("*") if path.is_file())
                assert sealed > archive.stat().st_size and not any((agent.home / "Steward/comics").iterdir())
        cpu, wall, peak = (min(figures) for figures in zip(*seen))
        report[f"{state}, CPU s with the workers (aim: at most 1.5)"] = round(cpu, 2)
        report[f"{state}, s beyond the settle time"] = round(wall - 0.2, 2)
        report[f"{state}, peak of the agent, MiB"] = round(peak)
    return {named(archive): report}


def page(binary, quick):
    """One page by its place in the archive, from a vault that a new process opens with a key file."""
    comics, vaults = Comics(binary, quick), Vaults(binary)
    archive = comics.stored
    place = vaults.fresh()
    vaults.run("add", place, archive)
    pages = sorted((comics.folder / "pages").iterdir())
    report = {}
    for number in (1, len(pages) // 2, len(pages)):
        content = pages[number - 1].read_bytes()
        # Where a stored page lies: what the sealed table of pages says.
        offset = find(archive, content)
        words = ["read", place, archive.name, str(offset), str(len(content))]
        assert vaults.run(*words) == content, "the page differs"
        costs = measure.medians(
            {
                "vault": [vaults.tool, *words], "vault opened alone": [vaults.tool, "unlock-key", place],
                "unzip -p, in the clear": ["unzip", "-p", archive, pages[number - 1].name],
            },
            10 if quick else 40)
        report[f"page {number} (aim: at most 20 ms)"] = {
            name: f"{cost.wall * 1e3:.1f} ms, {cost.cpu * 1e3:.1f} CPU ms" for name, cost in costs.items()}
    shutil.rmtree(place)
    return report


def find(archive, content):
    with open(archive, "rb") as file:
        whole = file.read()
    return whole.index(content)


def keys(binary, quick):
    """Unlocking, and a changed password, with nothing in the vault and with 10,000 comics."""
    vaults = Vaults(binary)
    report = {}
    for count in (0, 1_000 if quick else 10_000):
        place = vaults.fresh(f"vault-{count}")
        if count:
            vaults.run("fill", place, str(count))
        costs = measure.medians(
            {
                "unlock with a password": [vaults.tool, "unlock", place],
                "unlock with a key file": [vaults.tool, "unlock-key", place],
                "change the password": [vaults.tool, "passwd", place],
            },
            4 if quick else 10)
        report[f"{count} comics"] = {
            name: f"{cost.wall * 1e3:.0f} ms, {cost.cpu * 1e3:.0f} CPU ms" for name, cost in costs.items()}
        shutil.rmtree(place)
    return report


def memory(binary, quick):
    """Peak resident memory of a whole import into the vault, of any size."""
    vaults = Vaults(binary)
    report = {}
    for size in (64, 256) if quick else (1024, 4096):
        # What it holds does not matter here, and holes are quickly made.
        source = vaults.folder / "large"
        with open(source, "wb") as file:
            file.truncate(size * MIB)
        place = vaults.fresh()
        for what, words in {
            "import": ["add", place, source], "deposit": ["deposit", place, source], "verify": ["verify", place],
        }.items():
            report[f"{size} MiB, {what}, MiB (aim: at most 64)"] = round(measure.peaks([vaults.tool, *words])[1], 1)
        shutil.rmtree(place)
        source.unlink()
    return report


BENCHMARKS = {
    "vault-seal": seal,
    "vault-import": import_comic,
    "vault-import-by-agent": by_agent,
    "vault-page": page,
    "vault-keys": keys,
    "vault-memory": memory,
}
