#!/usr/bin/env python3
"""icu-data.py ARCHIVE OBJECT: writes OBJECT, the data of ICU without what no program of ours asks for, and prints the name
under which programs ask for it.

ARCHIVE is lib_FoundationICU.a of the toolchain, whose data, 34 MB of it, would become part of each program: Foundation
asks for it by name while it runs, so the linker cannot tell what is needed. In OBJECT the name has `__wrap_` before it: with
`--wrap=NAME` the linker leads there whoever asks for NAME. What is left out:

  the names of languages, currencies and units, numbers in words, and the order of words in all languages: no action,
  value or filter shows or sorts by any; what is common to all languages and English are kept
  tables of old encodings: text is UTF-8, UTF-16 or Latin-1 here, which need none
  the dictionary by which Chinese and Japanese are cut into words

Dates in all languages with their time zones and countries (the filter `format`), transliteration (`ascii`) and regular expressions stay
as they are. Ends with 1 where the archive is not as expected.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

TREES = {"coll", "curr", "lang", "rbnf", "unit"}
COMMON = re.compile(r"(root|pool|res_index|supplementalData|tzdbNames|en|en_001|en_US|en_US_POSIX)\.res|.*\.icu")


def is_kept(name):
    """`name` is an item's, as `icudt76l/lang/de.res`."""
    path = name.split("/")[1:]
    if path[0] in TREES:
        return COMMON.fullmatch(path[-1]) is not None
    return not name.endswith(".cnv") and path[-1] != "cjdict.dict"


def object_of(archive, folder):
    """The object that holds the data, and the name of its symbol."""
    member = "icu_packaged_data.cpp.o"
    subprocess.run(["ar", "x", archive, member], cwd=folder, check=True)
    path = os.path.join(folder, member)
    symbols = subprocess.run(["nm", "-P", path], check=True, capture_output=True, text=True).stdout
    for line in symbols.splitlines():
        name, _, value, size = line.split()
        if re.fullmatch(r"icudt\d+_dat", name):
            return path, name, int(value, 16), int(size, 16)
    sys.exit(f"icu-data: {archive} holds no icudt…_dat in {member}; this toolchain's ICU is built in another way")


def read(path, value, size):
    raw = path + ".raw"
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.rodata", path, raw], check=True)
    with open(raw, "rb") as file:
        data = file.read()[value : value + size]
    if data[2:4] != b"\xda\x27" or data[12:16] != b"CmnD":
        sys.exit("icu-data: the data is no package of ICU")
    return data


def trimmed(data):
    base = struct.unpack_from("<H", data)[0]
    count = struct.unpack_from("<I", data, base)[0]
    items = []
    for index in range(count):
        name, start = struct.unpack_from("<II", data, base + 4 + 8 * index)
        name = data[base + name : data.index(b"\0", base + name)]
        items.append((name, start))
    ends = [start for _, start in items[1:]] + [len(data) - base]
    kept = [
        (name, data[base + start : base + end])
        for (name, start), end in zip(items, ends)
        if is_kept(name.decode("ascii"))
    ]
    names, table, contents = b"", [], b""
    first = 4 + 8 * len(kept)
    room = -(first + sum(len(name) + 1 for name, _ in kept)) % 16
    start = first + sum(len(name) + 1 for name, _ in kept) + room
    parts = []
    for name, content in kept:
        table.append(struct.pack("<II", first + len(names), start))
        names += name + b"\0"
        content += bytes(-len(content) % 16)
        parts.append(content)
        start += len(content)
    contents = b"".join(parts)
    return data[:base] + struct.pack("<I", len(kept)) + b"".join(table) + names + bytes(room) + contents


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    archive, target = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        path, symbol, value, size = object_of(archive, folder)
        data = trimmed(read(path, value, size))
        with open(os.path.join(folder, "icu.dat"), "wb") as file:
            file.write(data)
        source = f"""
            .section .rodata.icu,"a",@progbits
            .globl __wrap_{symbol}
            .type __wrap_{symbol}, @object
            .balign 16
            __wrap_{symbol}: .incbin "icu.dat"
            .size __wrap_{symbol}, . - __wrap_{symbol}
            .section .note.GNU-stack,"",@progbits
        """
        subprocess.run(["as", "-o", target, "-"], input=source, cwd=folder, check=True, text=True)
    print(f"icu-data: {len(data) / 1e6:.1f} MB of {size / 1e6:.1f} MB", file=sys.stderr)
    print(symbol)


main()
