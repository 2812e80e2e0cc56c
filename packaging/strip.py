#!/usr/bin/env python3
"""strip.py FILE: removes from a program what is only needed on the build machine: symbols, and the compiler's own notes, which
contain a hash of the build folder. The build id is then computed from the rest.
"""
import hashlib
import re
import subprocess
import sys


def main():
    path = sys.argv[-1]
    subprocess.run(["strip", path], check=True)
    listed = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    sections = {
        name: (int(offset, 16), int(size, 16))
        for name, offset, size in re.findall(r"\] (\S+) +\S+ +[0-9a-f]{16} ([0-9a-f]+) ([0-9a-f]+) ", listed)
    }
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        if ".swift_modhash" in sections:
            offset, size = sections[".swift_modhash"]
            data[offset : offset + size] = bytes(size)
        if ".note.gnu.build-id" in sections:
            # A header of 16 bytes, then the id.
            offset, size = sections[".note.gnu.build-id"]
            data[offset + 16 : offset + size] = bytes(size - 16)
            identity = hashlib.sha256(data).digest()[: size - 16]
            data[offset + 16 : offset + 16 + len(identity)] = identity
        file.seek(0)
        file.write(data)


main()
