#!/usr/bin/env python3
"""components.py BUILD TARGET VERSION: lists the components of the released programs, from what was actually linked.

BUILD is .build/shipped after `make release`; in TARGET it writes THIRD-PARTY, the licences and notices of all parts, and
steward.spdx.json, a bill of materials (SPDX 2.3). Exits with 1 if a part has no licence known here, or if its files
mention another one.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # leave nothing beside the sources
import swift_packages

# `tk` is `steward` under another name.
PROGRAMS = ["steward", "steward-worker"]
OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "licences")
SOURCES = (".c", ".cc", ".cpp", ".h", ".hpp", ".S", ".inc", ".modulemap")
# Parts of the toolchain: identifier, name, licence, supplier, text, and the symbols that show that a program contains
# them.
RUNTIMES = [
    ("swift", "Swift standard library and runtime", "Apache-2.0 WITH Swift-exception", "swift", None, r"swift_retain"),
    ("dispatch", "libdispatch", "Apache-2.0 WITH Swift-exception", "swift", None, r"dispatch_async"),
    ("foundation", "Foundation", "Apache-2.0 WITH Swift-exception", "swift", None,
     r"\$s(10Foundation|20FoundationEssentials).*"),
    ("icu", "ICU", "Unicode-3.0", "swift", "icu.txt", r"(__wrap_)?icudt\d+_dat"),
    ("gcc", "libstdc++ and libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1", "gcc", "gcc-runtime.txt",
     r"_ZSt.*|_ZNSt.*|__popcountdi2|__udivti3|_Unwind_Resume"),
]
# Sources of our own data files beside a program: name, licence, copyright, file, program. See NOTICE.
DATA = [
    ("language-detection", "Apache-2.0", "Copyright (c) 2010-2014 Cybozu Labs, Inc.", "languages.json", "steward"),
]
# Works of others inside packages, by module: name, licence, and the text if it is in no file of the package.
BORINGSSL = [
    ("BoringSSL", "Apache-2.0", "boringssl.txt"),
    ("fiat-crypto", "MIT OR Apache-2.0 OR BSD-1-Clause", "fiat-crypto.txt"),
]
INNER = {
    "CCryptoBoringSSL": BORINGSSL,
    "CNIOBoringSSL": BORINGSSL,
    "CNIOExtrasZlib": [("zlib", "Zlib", None)],
    "CNIOLLHTTP": [("llhttp", "MIT", None)],
    "CNIOSHA1": [("SHA-1 of the KAME project", "BSD-3-Clause", None)],
    "CTOML": [("toml++", "MIT", None)],
    "CYaml": [("libyaml", "MIT", "libyaml.txt")],
}
# Phrases by which a licence is recognised in a notice.
SIGNS = {
    "Apache License": "Apache-2.0",
    "Permission is hereby granted, free of charge": "MIT",
    "Redistribution and use in source and binary forms": "BSD-",
    "This software is provided 'as-is'": "Zlib",
    "Permission to use, copy, modify": "ISC",
    "This product includes software developed by the OpenSSL Project": "OpenSSL",
    "GNU General Public License": "GPL-",
    "GNU Lesser General Public License": "LGPL-",
}
COMMENT = re.compile(r"^[ \t]*(?:/\*.*?\*/|(?://[^\n]*(?:\n[ \t]*|$))+)", re.S | re.M)
# Assembly has other comment markers as well.
ASSEMBLY = re.compile(r"^[ \t]*(?:/\*.*?\*/|(?:(?://|[@#](?=[ \t\n]))[^\n]*(?:\n[ \t]*|$))+)", re.S | re.M)


def fail(message):
    sys.exit(f"components: {message}")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def modules_of_packages(build):
    """Each module with its package and its folder, from the compiler's instructions."""
    found, sources = {}, None
    checkout = re.compile(r"/checkouts/([^/\"]+)/((?:Sources|Source)/[^/\"]+|[^/\"]+)?")
    for line in text(os.path.join(build, "release.yaml")).splitlines():
        line = line.strip()
        if line.startswith("inputs:"):
            sources = checkout.search(line)
            path = re.search(r"\"([^\"]*/checkouts/[^\"]+)\"", line)
        elif line.startswith("outputs:") and sources and path:
            for module in re.findall(r"/([^/\"]+)\.build/", line):
                found.setdefault(module, (sources[1], path[1].split("/checkouts/")[0] + "/checkouts/" + sources[1]
                                          + "/" + (sources[2] or "")))
        elif line.startswith("\""):
            sources = None
    return found


def linked(build, program):
    """The modules whose objects were linked into a program."""
    paths = text(os.path.join(build, "release", f"{program}.product", "Objects.LinkFileList"))
    return set(re.findall(r"/([^/'\s]+)\.build/", paths))


def licence_of(name, texts):
    """The licence's SPDX identifier."""
    whole = " ".join(" ".join(texts).split())
    if "Apache License" in whole:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in whole else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in whole:
        return "MIT"
    fail(f"unknown licence of {name}; add it to licence_of()")


def notices_of(folder):
    """Copyright notices in comments of C files, wherever they are, each text once, except those that only say that the file
    is part of the package."""
    found = {}
    for base, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if not name.endswith(SOURCES):
                continue
            for comment in (ASSEMBLY if name.endswith(".S") else COMMENT).findall(text(os.path.join(base, name))):
                if not re.search("copyright|SPDX-License-Identifier", comment, re.I):
                    continue
                if "This source file is part of the" in comment:
                    continue
                lines = [re.sub(r"^\s*(/\*+-?|\*/|\*|//+|[@#])?[ \t]?", "", line).rstrip(" */")
                         for line in comment.splitlines()]
                notice = "\n".join(lines).strip()
                found.setdefault(" ".join(notice.split()), notice)
    return list(found.values())


def check_notices(name, licence, notices):
    """Whether files mention a licence that is not the package's."""
    for notice in notices:
        whole = " ".join(notice.split())
        for sign, identifier in SIGNS.items():
            if sign.lower() in whole.lower() and identifier not in licence:
                fail(f"a file of {name} ({licence}) mentions another licence, {identifier}; add its work to INNER:\n{notice}")


def runtimes_of(build):
    """Which programs contain parts of the toolchain, by identifier."""
    found = {}
    for program in PROGRAMS:
        symbols = {line.split()[0] for line in output("nm", "-P", "--defined-only", os.path.join(build, "release", program))
                   .splitlines()}
        if not symbols:
            fail(f"{program} is stripped; its symbols are needed to see what is in it")
        for identifier, *_, sign in RUNTIMES:
            shape = re.compile(sign)
            if any(shape.fullmatch(symbol) for symbol in symbols):
                found.setdefault(identifier, []).append(program)
    return found


def parts(build):
    """The packages that are linked, at least in part."""
    swift_packages.check(build)
    wanted, versions = swift_packages.wanted(), {}
    for dependency in json.loads(text(os.path.join(build, "workspace-state.json")))["object"]["dependencies"]:
        identity = dependency["packageRef"]["identity"]
        version, _, address = wanted[identity]
        versions[dependency["subpath"]] = (identity, version, address)
    modules = modules_of_packages(build)
    packages = {}
    for program in PROGRAMS:
        for module in linked(build, program):
            if module not in modules:
                continue
            checkout, folder = modules[module]
            if checkout not in versions:
                fail(f"{module} is from {checkout}, whose version is unknown")
            identity, version, location = versions[checkout]
            package = packages.setdefault(
                identity, {"name": identity, "version": version, "location": location, "modules": {}, "programs": set(),
                           "folder": os.path.join(build, "checkouts", checkout)})
            package["modules"][module] = folder
            package["programs"].add(program)
    for package in packages.values():
        folders = [package["folder"]] + sorted(set(package["modules"].values()))
        paths = [os.path.join(folder, name) for folder in folders if os.path.isdir(folder)
                 for name in sorted(os.listdir(folder)) if re.match(r"(LICEN[CS]E|COPYING|NOTICE)", name)]
        paths = [path for path in paths if os.path.isfile(path)]
        if not paths:
            fail(f"{package['name']} has no licence in its folder")
        package["texts"] = [text(path).strip("\n") for path in paths]
        package["inner"] = [work for module in sorted(package["modules"]) for work in INNER.get(module, [])]
        package["texts"] += [text(os.path.join(OWN, own)).strip("\n") for _, _, own in package["inner"] if own]
        package["licence"] = licence_of(package["name"], package["texts"][:1])
        package["notices"] = [n for folder in folders[1:] for n in notices_of(folder)]
        package["all"] = " AND ".join(dict.fromkeys(
            f"({licence})" if " OR " in licence else licence
            for licence in [package["licence"]] + [licence for _, licence, _ in package["inner"]]))
        check_notices(package["name"], package["all"], package["notices"])
    return [packages[name] for name in sorted(packages)]


def libraries(build):
    """The shared libraries that the programs load, by their packages on this system."""
    found = {}
    for program in PROGRAMS:
        for path in re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", os.path.join(build, "release", program))):
            found.setdefault(path, set()).add(program)
    packages = {}
    cache = dict(re.findall(r"^\s*(\S+) \(libc6,x86-64[^)]*\) => (\S+)", output("/sbin/ldconfig", "-p"), re.M)) \
        or dict(re.findall(r"^\s*(\S+) \([^)]*\) => (\S+)", output("/sbin/ldconfig", "-p"), re.M))
    for name, programs in found.items():
        path = os.path.realpath(cache.get(name, f"/lib64/{name}"))
        owner = None
        for shape in (path, path.removeprefix("/usr")):
            search = subprocess.run(["dpkg", "-S", shape], capture_output=True, text=True)
            if search.returncode == 0:
                owner = search.stdout.split(": ")[0].split(",")[0]
        if owner is None:
            fail(f"{path} belongs to no package of this system")
        version = output("dpkg-query", "-W", "-f", "${Version}", owner)
        package = packages.setdefault(owner.split(":")[0], {"version": version, "files": set(), "programs": set()})
        package["files"].add(name)
        package["programs"] |= programs
    return packages


def third_party(packages, runtimes, swift):
    texts = {}
    lines = ["What the programs of Steward hold of other works, and under which terms. Made from what was linked.", ""]
    for package in packages:
        lines.append(f"{package['name']} {package['version']} ({package['licence']}), {package['location']}")
        lines += [f"    in it {name} ({licence})" for name, licence, _ in package["inner"]]
        for entry in package["texts"]:
            texts.setdefault(entry, []).append(package["name"])
    for identifier, name, licence, supplier, own, _ in RUNTIMES:
        if identifier not in runtimes:
            continue
        lines.append(f"{name} ({licence})" + (f", {swift}" if supplier == "swift" else "")
                     + f", in {', '.join(runtimes[identifier])}")
        entry = text(os.path.join(OWN, own)).strip("\n") if own else None
        if entry:
            texts.setdefault(entry, []).append(name)
    for name, licence, copyright, file, _ in DATA:
        lines.append(f"{name} ({licence}), {copyright}: {file} was made from it")
        entry = next((t for p in packages for t in p["texts"] if p["licence"] == licence), None)
        if entry is None:
            fail(f"the text of {name}'s licence is missing")
        texts[entry].append(name)
    swift_text = next((t for p in packages for t in p["texts"] if p["licence"].endswith("Swift-exception")), None)
    if swift_text is None:
        fail("the text of Swift's licence is missing")
    texts[swift_text] += [name for identifier, name, licence, *_ in RUNTIMES
                          if identifier in runtimes and licence.endswith("Swift-exception")]
    for entry, names in texts.items():
        lines += ["", "=" * 100, ", ".join(dict.fromkeys(names)), "=" * 100, "", entry]
    for package in packages:
        if package["notices"]:
            lines += ["", "=" * 100, f"{package['name']}: what stands in its files in C", "=" * 100]
            for notice in package["notices"]:
                lines += ["", notice, "", "-" * 20]
    return "\n".join(lines).rstrip("- \n") + "\n"


def bill(packages, runtimes, shared, swift, version, programs_hash):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))

    def element(identifier, name, version, licence, location="NOASSERTION", reference=None, **more):
        entry = {
            "SPDXID": f"SPDXRef-{re.sub(r'[^A-Za-z0-9.-]+', '-', identifier)}", "name": name, "versionInfo": version,
            "downloadLocation": location, "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more,
        }
        if reference:
            entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                      "referenceLocator": reference}]
        return entry

    elements, relations = [], []
    for program in PROGRAMS:
        elements.append(element(f"program-{program}", program, version, "MIT OR Apache-2.0",
                                primaryPackagePurpose="APPLICATION"))
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", elements[-1]["SPDXID"]))
    for package in packages:
        where = re.sub(r"\.git$", "", package["location"])
        entry = element(f"package-{package['name']}", package["name"], package["version"], package["all"],
                        f"git+{where}@{package['version']}",
                        f"pkg:swift/{where.split('://')[-1]}@{package['version']}")
        elements.append(entry)
        relations += [(f"SPDXRef-program-{p}", "STATIC_LINK", entry["SPDXID"]) for p in sorted(package["programs"])]
    for identifier, name, licence, supplier, *_ in RUNTIMES:
        if identifier not in runtimes:
            continue
        known = swift if supplier == "swift" else output("gcc", "-dumpfullversion").strip()
        entry = element(f"runtime-{identifier}", name, known, licence)
        elements.append(entry)
        relations += [(f"SPDXRef-program-{p}", "STATIC_LINK", entry["SPDXID"]) for p in runtimes[identifier]]
    for name, licence, copyright, file, program in DATA:
        entry = element(f"data-{name}", name, "NOASSERTION", licence, copyrightText=copyright, comment=f"{file} was made from it")
        elements.append(entry)
        relations.append((f"SPDXRef-program-{program}", "CONTAINS", entry["SPDXID"]))
    for name in sorted(shared):
        entry = element(f"debian-{name}", name, shared[name]["version"], "NOASSERTION",
                        reference=f"pkg:deb/debian/{name}@{shared[name]['version']}",
                        comment="Not part of the package: " + ", ".join(sorted(shared[name]["files"])))
        elements.append(entry)
        relations += [(f"SPDXRef-program-{p}", "DYNAMIC_LINK", entry["SPDXID"])
                      for p in sorted(shared[name]["programs"])]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"steward-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/steward-{version}-{programs_hash}",
        "creationInfo": {"created": created, "creators": ["Tool: packaging/components.py", "Organization: The Steward authors"]},
        "packages": elements,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    build, target, version = sys.argv[1:]
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))[1]
    packages, runtimes, shared = parts(build), runtimes_of(build), libraries(build)
    # Named after what was linked: the programs' bytes still include parts that are stripped later.
    inner = hashlib.sha256(repr([(p["name"], p["version"]) for p in packages]).encode()
                           + repr(sorted((n, s["version"]) for n, s in shared.items())).encode()).hexdigest()[:32]
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(target, "THIRD-PARTY"), "w", encoding="utf-8") as file:
        file.write(third_party(packages, runtimes, f"Swift {swift}"))
    with open(os.path.join(target, "steward.spdx.json"), "w", encoding="utf-8") as file:
        json.dump(bill(packages, runtimes, shared, f"Swift {swift}", version, inner), file, indent=1, ensure_ascii=False)
        file.write("\n")
    print(f"{len(packages)} packages are linked, and {len(shared)} packages of this system are loaded")


main()
