#!/usr/bin/env python3
"""strip.py FILE: takes out of a program what only whoever builds needs: symbols, and what the compiler notes to know its own
work again, in which the folder of the build is hashed. The build id is then that of what is left.
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
