#!/usr/bin/env python3
"""icu-data.py ARCHIVE OBJECT: writes OBJECT, ICU's data without the parts that our programs do not use, and prints the name
of its symbol.

ARCHIVE is the toolchain's lib_FoundationICU.a, whose 34 MB of data would become part of each program: Foundation looks
items up by name at run time, so the linker cannot tell what is needed. In OBJECT the symbol has the prefix `__wrap_`: with
`--wrap=NAME` the linker redirects references to NAME there. Omitted are:

  names of languages, currencies and units, spelled-out numbers, and collation in all languages: no action, value or
  filter uses them; the parts common to all languages and English are kept
  tables of old encodings: text is UTF-8, UTF-16 or Latin-1 here, which need none
  the dictionary that splits Chinese and Japanese into words

Dates in all languages with their time zones and countries (the filter `format`), transliteration (`ascii`) and regular
expressions are unaffected. Exits with 1 if the archive is not as expected.
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
    """`name` is that of an item, such as `icudt76l/lang/de.res`."""
    path = name.split("/")[1:]
    if path[0] in TREES:
        return COMMON.fullmatch(path[-1]) is not None
    return not name.endswith(".cnv") and path[-1] != "cjdict.dict"


def object_of(archive, folder):
    """The object with the data, and the name of its symbol."""
    member = "icu_packaged_data.cpp.o"
    subprocess.run(["ar", "x", archive, member], cwd=folder, check=True)
    path = os.path.join(folder, member)
    symbols = subprocess.run(["nm", "-P", path], check=True, capture_output=True, text=True).stdout
    for line in symbols.splitlines():
        name, _, value, size = line.split()
        if re.fullmatch(r"icudt\d+_dat", name):
            return path, name, int(value, 16), int(size, 16)
    sys.exit(f"icu-data: {archive} has no icudt…_dat in {member}; this toolchain's ICU is built differently")


def read(path, value, size):
    raw = path + ".raw"
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.rodata", path, raw], check=True)
    with open(raw, "rb") as file:
        data = file.read()[value : value + size]
    if data[2:4] != b"\xda\x27" or data[12:16] != b"CmnD":
        sys.exit("icu-data: the data is not an ICU package")
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
