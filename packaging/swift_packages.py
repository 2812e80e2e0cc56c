#!/usr/bin/env python3
"""The Swift packages of a release: swift-packages.txt in this folder is the only list of their versions.

    swift_packages.py pin ROOT       pins exactly these in the package ROOT (writes its Package.resolved)
    swift_packages.py check BUILD    checks that these were resolved in the build folder BUILD; exits with 1 and names differences
    swift_packages.py write BUILD    rewrites the list with the packages resolved in BUILD
"""
import json
import os
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "swift-packages.txt")


def lines():
    with open(LIST, encoding="utf-8") as file:
        return file.read().splitlines()


def wanted():
    """The list: version, commit and address by name."""
    rows = [line.split() for line in lines() if line and not line.startswith("#")]
    for row in rows:
        if len(row) != 4:
            sys.exit(f"swift_packages: {LIST} has a line without name, version, commit and address: {' '.join(row)}")
    return {name: (version, commit, address) for name, version, commit, address in rows}


def resolved(build):
    """The same for the packages SwiftPM has resolved; a package that is edited or of another kind has no version."""
    with open(os.path.join(build, "workspace-state.json"), encoding="utf-8") as file:
        dependencies = json.load(file)["object"]["dependencies"]
    found = {}
    for dependency in dependencies:
        package, state = dependency["packageRef"], dependency["state"].get("checkoutState") or {}
        found[package["identity"]] = (state.get("version"), state.get("revision"), package["location"])
    return found


def same(package):
    """Treats both spellings of a GitHub address as one."""
    version, commit, address = package
    return version, commit, address.lower().removesuffix(".git")


def differences(build):
    """Differences between the resolved packages and the list, a sentence each."""
    want, have = wanted(), resolved(build)
    said = []
    for name in sorted(want.keys() | have.keys()):
        if name not in have:
            said.append(f"{name}: {want[name][0]} is wanted, and none was resolved")
        elif name not in want:
            said.append(f"{name}: {have[name][0]} was resolved, and it is not on the list")
        elif same(have[name]) != same(want[name]):
            (version, commit, address), (other, other_commit, other_address) = want[name], have[name]
            said.append(f"{name}: {other} was resolved ({other_commit}, {other_address}), and {version} is wanted"
                        f" ({commit}, {address})")
    return said


def check(build):
    said = differences(build)
    if said:
        print(*(f"swift_packages: {line}" for line in said), sep="\n", file=sys.stderr)
        sys.exit("swift_packages: nothing is released with these; see packaging/swift-packages.txt")


def pin(root):
    path = os.path.join(root, "Package.resolved")
    pins = [{"identity": name, "kind": "remoteSourceControl", "location": address,
             "state": {"revision": commit, "version": version}} for name, (version, commit, address) in sorted(wanted().items())]
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (FileNotFoundError, ValueError):
        content = {"version": 3}
    if content.get("pins") != pins:
        # SwiftPM's own hash of the manifest is kept: without one it accepts the pins, and then writes it.
        content["pins"] = pins
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
            file.write("\n")


def write(build):
    rows = [(name, *state) for name, state in sorted(resolved(build).items())]
    for row in rows:
        if None in row:
            sys.exit(f"swift_packages: {row[0]} has no version")
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    comments = [line for line in lines() if line.startswith("#")]
    listed = ["{:<{}} {:<{}} {:<{}} {}".format(*(part for pair in zip(row, widths) for part in pair), row[3]) for row in rows]
    with open(LIST, "w", encoding="utf-8") as file:
        file.write("\n".join(comments + listed) + "\n")


if __name__ == "__main__":
    commands = {"pin": pin, "check": check, "write": write}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](sys.argv[2])
