"""Comics: validation and single pages, against the programs that people unpack with."""
import io, os, pathlib, random, shutil, subprocess, tempfile, zipfile
from concurrent.futures import ProcessPoolExecutor

import measure

HERE = pathlib.Path(__file__).parent
PAGES = 500
QUICK_PAGES = 60
# Steward's CPU seconds as a multiple of theirs.
AIMS = {"bare libarchive loop": 1.2, "unzip -t": 1}


def page(number):
    """A page of flat shapes under grain: about 590 KB of JPEG, of which deflate saves a fiftieth, as of scans."""
    from PIL import Image, ImageDraw

    chance = random.Random(number)
    picture = Image.new("RGB", (1400, 2100), tuple(chance.randbytes(3)))
    pen = ImageDraw.Draw(picture)
    for _ in range(60):
        x, y = chance.randrange(1400), chance.randrange(2100)
        box = (x, y, x + chance.randrange(40, 500), y + chance.randrange(40, 500))
        pen.ellipse(box, fill=tuple(chance.randbytes(3)), outline=(0, 0, 0), width=4)
    grain = Image.frombytes("L", picture.size, chance.randbytes(1400 * 2100)).convert("RGB")
    bytes = io.BytesIO()
    Image.blend(picture, grain, 0.12).save(bytes, "JPEG", quality=75)
    return bytes.getvalue()


class Comics:
    """The archives that are measured with, made once and kept beside the build; and the programs."""

    def __init__(self, binary, quick):
        self.binary = binary
        self.count = QUICK_PAGES if quick else PAGES
        self.folder = pathlib.Path(binary).resolve().parent.parent / f"bench-comics-{self.count}"
        self.folder.mkdir(exist_ok=True)
        # A home of its own: the user's configuration is not read.
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        self.stored = self._packed("stored.cbz", "-tzip", "-mx=0")
        self.deflated = self._packed("deflated.cbz", "-tzip", "-mm=Deflate", "-mx=5")
        self.bare = self.folder / "bare_libarchive"
        # Swift brings a clang of its own.
        compiler = shutil.which("cc") or "clang"
        subprocess.run([compiler, "-O2", "-o", self.bare, HERE / "bare_libarchive.c", "-larchive"], check=True)

    def solid(self):
        return self._packed("solid.cb7", "-t7z", "-mx=5", "-ms=on")

    def large(self):
        """A CBZ just under both limits, 2 GiB and 2,000 pages."""
        target = self.folder / "large.cbz"
        if not target.exists():
            content = page(0)
            # Bytes behind the end of a JPEG are no fault of it.
            content += random.Random(0).randbytes((2 << 30) // 1995 - len(content))
            with zipfile.ZipFile(target.with_suffix(".new"), "w") as archive:
                for number in range(1990):
                    archive.writestr(f"p{number:04}.jpg", content)
            target.with_suffix(".new").rename(target)
        return target

    def _pages(self):
        folder = self.folder / "pages"
        if not folder.exists():
            fresh = self.folder / "pages.new"
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir()
            with ProcessPoolExecutor() as pool:
                for number, content in enumerate(pool.map(page, range(1, self.count + 1)), 1):
                    (fresh / f"p{number:04}.jpg").write_bytes(content)
            fresh.rename(folder)
        return folder

    def _packed(self, name, *options):
        target = self.folder / name
        if not target.exists():
            fresh = self.folder / f"new-{name}"
            fresh.unlink(missing_ok=True)
            subprocess.run(
                ["7zz", "a", *options, fresh.resolve(), "."], cwd=self._pages(), check=True, stdout=subprocess.DEVNULL)
            fresh.rename(target)
        return target

    def inspect(self, archive):
        return [self.binary, "comics", "inspect", str(archive)]

    def page(self, archive, number, output):
        return [self.binary, "comics", "page", str(archive), str(number), "--output", str(output)]


def figures(costs):
    """Seconds of each, and what steward's CPU seconds are to the others'."""
    found = {name: f"{cost.cpu:.3f} CPU s, {cost.wall:.3f} s" for name, cost in costs.items()}
    for name, cost in costs.items():
        if not name.startswith("steward"):
            aim = f" (aim: at most {AIMS[name]})" if name in AIMS else ""
            found[f"steward / {name}, CPU{aim}"] = round(costs["steward"].cpu / cost.cpu, 2)
    return found


def validate(binary, quick):
    """Validation of a CBZ, stored and deflated: all bytes inflated, all checksums compared."""
    comics = Comics(binary, quick)
    report = {}
    for archive in (comics.stored, comics.deflated):
        costs = measure.medians(
            {
                "steward": comics.inspect(archive),
                "steward --hashes": comics.inspect(archive) + ["--hashes"],
                "bare libarchive loop": [comics.bare, archive],
                "7zz t": ["7zz", "t", archive],
                "unzip -t": ["unzip", "-tqq", archive],
                "bsdtar -xO": ["bsdtar", "-xOf", archive],
                "bsdtar -t (lists only)": ["bsdtar", "-tf", archive],
            },
            3 if quick else 9, environment=comics.environment)
        report[named(archive)] = figures(costs)
    return report


def validate_solid(binary, quick):
    """Validation of a solid CB7."""
    comics = Comics(binary, quick)
    archive = comics.solid()
    costs = measure.medians(
        {
            "steward": comics.inspect(archive),
            "bare libarchive loop": [comics.bare, archive],
            "7zz t": ["7zz", "t", archive],
            "bsdtar -xO": ["bsdtar", "-xOf", archive],
        },
        1 if quick else 3, environment=comics.environment)
    return {named(archive): figures(costs)}


def named(archive):
    return f"{archive.name}, {archive.stat().st_size / 1e6:.0f} MB"


def single_page(binary, quick):
    """One page by its number into a file: the whole command, from its start to its end."""
    comics = Comics(binary, quick)
    report = {}
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as folder:
        output = pathlib.Path(folder) / "page.jpg"
        for archive in (comics.stored, comics.deflated):
            for number in (1, comics.count // 2, comics.count):
                name = f"p{number:04}.jpg"
                ours = comics.page(archive, number, output)
                output.unlink(missing_ok=True)
                measure.run(ours, environment=comics.environment)
                wanted = subprocess.run(["unzip", "-p", archive, name], check=True, capture_output=True).stdout
                assert output.read_bytes() == wanted, "the page differs"
                costs = measure.medians(
                    {
                        "steward": ours,
                        "unzip -p": ["sh", "-c", f"exec unzip -p '{archive}' {name} > '{output}'"],
                        "bsdtar -x --fast-read": ["sh", "-c", f"exec bsdtar -xOqf '{archive}' {name} > '{output}'"],
                    },
                    10 if quick else 40, before=lambda: output.unlink(missing_ok=True), environment=comics.environment)
                report[f"{archive.name}, page {number}"] = {
                    name: f"{cost.wall * 1e3:.1f} ms, {cost.cpu * 1e3:.1f} CPU ms" for name, cost in costs.items()}
    return report


def memory(binary, quick):
    """Peak resident memory of the agent's command and its worker, for archives of several sizes."""
    comics = Comics(binary, quick)
    report = {}
    # The solid one's dictionary, of 32 MiB as 7-Zip makes it, is held whole by whoever unpacks it.
    archives = [comics.stored, comics.deflated] + ([] if quick else [comics.large(), comics.solid()])
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as folder:
        for archive in archives:
            runs = {"inspect": comics.inspect(archive)}
            if archive.suffix == ".cbz":
                runs["page 1"] = comics.page(archive, 1, pathlib.Path(folder) / f"{archive.stem}.jpg")
            for what, words in runs.items():
                by_program, total = measure.peaks(words, environment=comics.environment)
                report[f"{named(archive)}, {what}"] = {
                    **{f"{name}, MiB": round(peak, 1) for name, peak in by_program.items()},
                    "together, MiB (aim: at most 64)": round(total, 1)}
    return report


BENCHMARKS = {
    "comics-validate": validate,
    "comics-validate-solid": validate_solid,
    "comics-page": single_page,
    "comics-memory": memory,
}
