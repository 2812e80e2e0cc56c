#!/usr/bin/env python3
"""Makes the vectors of the comic vault's format 1 anew, from fixed random bytes, into the folder it lies in.

A second implementation of the format, in Python over the package `cryptography`, so that the vectors do not come from
the program that they judge. Run it only when the format changes; the tests read what is committed.

A case is a text head, a blank line and, unless it is made from another case, the file's bytes:

    what      one sentence
    outcome   ok, or the error that opening the file and reading all of it must end in
    type      object, slot, json; log: a log of the manifest; snapshot, drop: objects whose content is looked at as well
    name      the name that the file has in the vault: objects, slots, logs
    open      vault, snapshot GEN, pair (objects); password TEXT, bytes HEX (slots)
    kind      what the object is opened as, by number
    vault master private    the vault's name and secrets, in hexadecimal digits; private is skV
    seed nonce              the random bytes that went into an object; salt and nonce into a slot
    length content          bytes of an object's content and its SHA-256; of a log's records, each behind its length in
                            four bytes; only with the outcome ok
    start     the head that a log goes on from: sequence number and tag; end: the head that its last good record makes
    records   how many records of a log are good, the damaged logs' too
    comics tombstones heads how many of each a snapshot holds
    envelope  what a drop says of its archive, in hexadecimal digits: name, source, hash, nanoseconds, key;
              one that is to be kept although the vault has the same ends in a byte 1
    base      the case whose bytes these are, after the changes:
    change    OFFSET HEX: bytes written over; `xor OFFSET HEX`: bytes flipped; `cut LENGTH`; `add HEX`;
              `swap OFFSET OFFSET COUNT`: two parts exchanged
"""
import hashlib, hmac, os, pathlib, struct, unicodedata
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = pathlib.Path(__file__).parent
CHUNK = 65536


def hkdf_extract(salt, ikm):
    return hmac.new(salt or bytes(32), ikm, hashlib.sha256).digest()


def hkdf_expand(prk, info, count):
    block, out, i = b"", b"", 1
    while len(out) < count:
        block = hmac.new(prk, block + info + bytes([i]), hashlib.sha256).digest()
        out, i = out + block, i + 1
    return out[:count]


def hkdf(ikm, info, salt=b"", count=32):
    return hkdf_expand(hkdf_extract(salt, ikm), info, count)


def raw(public):
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


# HPKE, base mode (RFC 9180)
KEM, SUITE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02"


def labeled_extract(salt, label, ikm, suite):
    return hkdf_extract(salt, b"HPKE-v1" + suite + label + ikm)


def labeled_expand(prk, label, info, count, suite):
    return hkdf_expand(prk, struct.pack(">H", count) + b"HPKE-v1" + suite + label + info, count)


def hpke_pair(ikm):
    private = X25519PrivateKey.from_private_bytes(
        labeled_expand(labeled_extract(b"", b"dkp_prk", ikm, KEM), b"sk", b"", 32, KEM))
    return private, raw(private.public_key())


def hpke_seal(to, info, aad, ikm, plaintext):
    private, enc = hpke_pair(ikm)
    dh = private.exchange(X25519PublicKey.from_public_bytes(to))
    shared = labeled_expand(labeled_extract(b"", b"eae_prk", dh, KEM), b"shared_secret", enc + to, 32, KEM)
    context = b"\x00" + labeled_extract(b"", b"psk_id_hash", b"", SUITE) + labeled_extract(b"", b"info_hash", info, SUITE)
    secret = labeled_extract(shared, b"secret", b"", SUITE)
    key = labeled_expand(secret, b"key", context, 32, SUITE)
    nonce = labeled_expand(secret, b"base_nonce", context, 12, SUITE)
    return AESGCM(key).encrypt(nonce, plaintext, aad)


# the format
def padme(n):
    e = n.bit_length() - 1
    s = e.bit_length()
    mask = (1 << (e - s)) - 1
    return (n + mask) & ~mask


VAULT = hashlib.sha256(b"vault").digest()[:16]
MASTER = hashlib.sha256(b"master").digest()
PRIVATE = hashlib.sha256(b"private").digest()
PUBLIC = raw(X25519PrivateKey.from_private_bytes(PRIVATE).public_key())


def purpose(label):
    return hkdf(MASTER, b"ivo1/" + label + VAULT)


def sealed(name, kind, content, how, *, plain=None, magic=b"IVO1OBJ\n", vault=VAULT):
    """An object and the fields of its head. `plain` replaces kind, zeros, length, content and padding."""
    seed = hashlib.sha256(b"seed " + name.encode()).digest()
    nonce = hashlib.sha256(b"nonce " + name.encode()).digest()[:12]
    material = hkdf(seed, b"ivo1 object" + vault + bytes([kind]) + hashlib.sha256(content).digest(), count=80)
    oid, dek, ikm = material[:16], material[16:48], material[48:]
    wrap = 2 if how == "pair" else 1
    enc = hpke_pair(ikm)[1] if wrap == 2 else bytes(32)
    head = magic + bytes([1, 0, wrap, 16]) + bytes(4) + vault + oid + nonce + bytes(4) + enc
    assert len(head) == 96
    if wrap == 2:
        wrapped = hpke_seal(PUBLIC, b"ivo1 drop" + vault, head, ikm, dek)
    elif how == "vault":
        wrapped = AESGCM(hkdf(purpose(b"wrap"), b"wrap", oid + nonce)).encrypt(bytes(12), dek, head)
    else:
        gen = struct.pack(">Q", int(how.split()[1]))
        wrapped = AESGCM(hkdf(purpose(b"manifest"), b"snap" + gen, oid + nonce)).encrypt(bytes(12), dek, head)
    head += wrapped
    head += hmac.new(hkdf(dek, b"header"), head, hashlib.sha256).digest()
    digest = hashlib.sha256(head).digest()
    key = AESGCM(hkdf(dek, b"content", nonce))
    if plain is None:
        plain = bytes([kind]) + bytes(7) + struct.pack(">Q", len(content)) + content
        plain += bytes(max(CHUNK, padme(len(plain))) - len(plain))
    out = head + bytes(80)
    count = (len(plain) + CHUNK - 1) // CHUNK
    for i in range(count):
        last = int(i == count - 1)
        mask = bytes(7) + struct.pack(">I", i) + bytes([last])
        out += key.encrypt(
            bytes(a ^ b for a, b in zip(nonce, mask)), plain[i * CHUNK:(i + 1) * CHUNK],
            digest + struct.pack(">Q", i) + bytes([last]))
    fields = dict(type="object", name=oid.hex(), open=how, kind=kind, vault=VAULT.hex(), master=MASTER.hex(),
                  private=PRIVATE.hex(), seed=seed.hex(), nonce=nonce.hex())
    return fields, out, content


DESCRIPTION = b'{"magic":"IVO1 comic vault","format":1,"vaultID":"' + VAULT.hex().encode() + b'"}\n'


def slot(name, kind, credential, shown, *, iterations=600000, public=PUBLIC, commit=True):
    sid = hashlib.sha256(b"slot " + name.encode()).digest()[:16]
    salt = hashlib.sha256(b"salt " + name.encode()).digest()
    nonce = hashlib.sha256(b"nonce " + name.encode()).digest()[:12]
    if kind == 1:
        pk = hashlib.pbkdf2_hmac("sha256", unicodedata.normalize("NFC", credential).encode(), salt, iterations, 32)
    else:
        pk, iterations = hkdf(credential, b"", salt), 0
    head = b"IVO1KEY\n" + bytes([1, kind, 0, 0]) + struct.pack(">I", iterations) + VAULT + sid + salt
    head += hkdf(pk, b"ivo1 commit") if commit else hashlib.sha256(b"another commitment").digest()
    head += struct.pack(">I", len(DESCRIPTION)) + bytes(12) + DESCRIPTION + bytes(4096 - len(DESCRIPTION)) + nonce
    out = head + AESGCM(hkdf(pk, b"ivo1 kek")).encrypt(nonce, MASTER + PRIVATE + public, head)
    fields = dict(type="slot", name=sid.hex(), open=shown, vault=VAULT.hex(), master=MASTER.hex(),
                  private=PRIVATE.hex(), salt=salt.hex(), nonce=nonce.hex())
    return fields, out, None


# the manifest
def counted(value):
    return struct.pack(">H", len(value)) + value


def listed(values):
    return struct.pack(">I", len(values)) + b"".join(values)


def optional(value):
    return b"\0" if value is None else b"\1" + value


def made_up(what, count=16):
    return hashlib.sha256(what.encode()).digest()[:count]


def head(gen, seq, tag):
    return struct.pack(">QQ", gen, seq) + tag


def entry(name, kinds, *, title="", series="", number="", pages=0, form="", source="", key=b"", drop=None, added=0):
    objects = [
        made_up(f"object {name} {kind}") + bytes([kind]) + struct.pack(">Q", 1000 * kind)
        + made_up(f"mac {name} {kind}", 32) + made_up(f"tag {name} {kind}") for kind in kinds]
    return (made_up(f"comic {name}") + counted(name.encode()) + listed(objects)
            + counted(title.encode()) + counted(series.encode()) + counted(number.encode()) + struct.pack(">I", pages)
            + counted(form.encode()) + made_up(f"duplicate {name}", 32) + counted(source.encode()) + counted(key)
            + optional(drop) + struct.pack(">q", added))


ONE = dict(title="Amazing Comic 1", series="Amazing Comic", number="1", pages=24, form="zip", source="comics",
           key=b"job 1", added=1_700_000_000_123_456_789)
OTHER = dict(drop=made_up("drop"), added=-1)
PROGRESS = struct.pack(">IBq", 7, 1, 77)
BOOKMARK = struct.pack(">I", 2**32 - 1) + counted("Seite äöü\n".encode()) + struct.pack(">q", 78)


def padded(plain):
    """A record's text in the second form of logs."""
    text = struct.pack(">I", len(plain)) + plain
    return text + bytes(max(len(text), min(65520, max(1024, padme(len(text))))) - len(text))


def log(gen, n, start, records, *, synthetic=True, pad=None):
    """A log and the fields of its head. `start` is (sequence number, tag); `pad` makes texts of records, in the second form."""
    salt = made_up(f"log {gen} {n}", 32)
    place = struct.pack(">QQ", gen, n)
    key = hkdf(purpose(b"manifest"), (b"lg2" if pad else b"log") + place, salt)
    out, ends, (seq, tag) = (b"ivo1lg2\n" if pad else b"ivo1log\n") + VAULT + place + salt, [], start
    for record in records:
        plain = pad(record) if pad else record
        seq += 1
        number = struct.pack(">Q", seq)
        s16 = hmac.new(hkdf(key, b"siv"), number + tag + plain, hashlib.sha256).digest()[:16]
        if not synthetic and record is records[-1]:
            s16 = bytes(16)
        prefix = struct.pack(">I", len(plain) + 16) + s16
        sealed_record = AESGCM(hkdf(key, b"rec" + number, s16)).encrypt(
            bytes(4) + number, plain, VAULT + place + number + tag + prefix)
        out, tag = out + prefix + sealed_record, sealed_record[-16:]
        ends.append(len(out))
    fields = dict(type="log", name=f"log-{gen}-{n}", vault=VAULT.hex(), master=MASTER.hex(), private=PRIVATE.hex(),
                  salt=salt.hex(), start=f"{start[0]} {start[1].hex()}", records=len(records), end=f"{seq} {tag.hex()}")
    return fields, out, b"".join(struct.pack(">I", len(plain)) + plain for plain in records), ends


START = (0, made_up("the snapshot's last tag"))


def follows(gen, n, start):
    return b"\0" + optional(None if n == 0 else struct.pack(">Q", n - 1)) + head(gen, *start)


def every_record():
    comic, other = made_up("comic Amazing.cbz"), made_up("comic Other (1).cbz")
    return [
        follows(7, 0, START), b"\1" + entry("Amazing.cbz", [1, 3, 4], **ONE),
        b"\1" + entry("Other (1).cbz", [1], **OTHER), b"\3" + comic + counted("Ünïcode.cbz".encode()),
        b"\4" + comic + optional(PROGRESS), b"\5" + comic + BOOKMARK, b"\6" + comic + struct.pack(">I", 2**32 - 1),
        b"\4" + comic + optional(None),
        b"\2" + other + listed([made_up("object Other (1).cbz 1")]) + struct.pack(">q", 79)]


def logs():
    """Logs by case, with what they are."""
    first = log(7, 0, START, every_record())
    seq, tag = first[0]["end"].split()
    start = int(seq), bytes.fromhex(tag)
    second = log(7, 1, start, [follows(7, 1, start), b"\1" + entry("Third.cbz", [1, 2], **ONE | dict(key=b"job 3"))])
    return {"log-every-record": ("a log with a record of each kind", first),
            "log-padded": ("the same in the form in which records are padded", log(7, 0, START, every_record(), pad=padded)),
            "log-second": ("the log that follows it", second)}


def damaged_logs(known):
    fields, body, _, ends = known["log-every-record"][1]
    starts = [72] + ends[:-1]

    def of(case, what, outcome, good, *changes):
        rest = {k: v for k, v in fields.items() if k not in ("end", "salt")} | dict(records=good)
        write(case, what, outcome, rest, base="log-every-record", changes=changes)

    def crafted(case, what, outcome, good, start, records, **options):
        made = log(7, 0, start, records, **options)
        rest = {k: v for k, v in fields.items() if k not in ("end", "salt")} | dict(records=good)
        write(case, what, outcome, rest, made[1])

    def crafted_padding(case, what, pad):
        """The second record is padded so, and the first as it should be."""
        first, second = every_record()[:2]
        made = log(7, 0, START, [first, second], pad=lambda plain: padded(plain) if plain is first else pad(plain))
        rest = {k: v for k, v in fields.items() if k not in ("end", "salt")} | dict(records=0)
        write(case, what, "contradiction", rest, made[1])

    crafted_padding("log-padded-zeros", "padding that is not zeros", lambda plain: padded(plain)[:-1] + b"\1")
    crafted_padding("log-padded-size", "a record of another size than its length asks for", lambda plain: padded(plain)[:-1])
    crafted_padding("log-padded-length", "a length beyond the record",
                    lambda plain: struct.pack(">I", 5000) + padded(plain)[4:])
    # Short enough to be what one write leaves that was cut off; whether it was, the mark tells.
    of("log-magic", "another magic", "torn log header", 0, "xor 0 01")
    of("log-other-vault", "another vault's name", "torn log header", 0, "xor 8 01")
    of("log-other-gen", "another generation", "torn log header", 0, "xor 31 01")
    of("log-other-n", "another log's number", "torn log header", 0, "xor 39 01")
    of("log-salt", "another salt: no record opens", "damaged record 1", 0, "xor 40 01")
    of("log-length", "a record's length is another", "damaged record 3", 2, f"xor {starts[2] + 3} 01")
    of("log-siv", "a flipped bit in the bytes before a record", "damaged record 4", 3, f"xor {starts[3] + 4} 80")
    of("log-text", "a flipped bit in a record", "damaged record 2", 1, f"xor {starts[1] + 25} 01")
    of("log-tag", "a flipped bit in a record's tag", "damaged record 5", 4, f"xor {ends[4] - 1} 01")
    of("log-last", "a flipped bit in the last record, which a write that was cut off may leave", "torn record 9", 8,
       f"xor {starts[8] + 30} 01")
    of("log-cut", "cut in its last record", "torn record 9", 8, f"cut {ends[8] - 1}")
    of("log-cut-prefix", "cut in the bytes before a record", "torn record 9", 8, f"cut {starts[8] + 3}")
    of("log-cut-clean", "cut between two records, which only the mark tells", "ok", 8, f"cut {ends[7]}")
    of("log-cut-header", "cut in its header", "torn log header", 0, "cut 71")
    of("log-empty", "an empty file", "torn log header", 0, "cut 0")
    of("log-grown", "a byte added", "torn record 10", 9, "add 00")
    of("log-replayed", "its first record stands at its end again", "torn record 10", 9,
       f"add {body[72:ends[0]].hex()}")
    crafted("log-after-another", "what follows another head than the one before it", "damaged record 1", 0,
            (0, made_up("another tag")), every_record())
    def ordered(case, what, outcome, good, order):
        parts = [body[begin:end] for begin, end in zip(starts, ends)]
        write(case, what, outcome, {k: v for k, v in fields.items() if k not in ("end", "salt")} | dict(records=good),
              body[:72] + b"".join(parts[index] for index in order))

    ordered("log-swapped", "two records exchanged", "damaged record 7", 6, [0, 1, 2, 3, 4, 5, 7, 6, 8])
    ordered("log-doubled", "a record that stands twice", "damaged record 5", 4, [0, 1, 2, 3, 3, 4, 5, 6, 7, 8])
    ordered("log-without-second", "the second record is left out", "damaged record 2", 1, [0, 2, 3, 4, 5, 6, 7, 8])
    crafted("log-crafted-siv", "a last record whose 16 bytes are none of its own, by a sealer who has the keys",
            "torn record 2", 1, START, every_record()[:2], synthetic=False)
    crafted("log-crafted-kind", "a record of a kind that is not known", "contradiction", 0, START,
            [follows(7, 0, START), b"\x09"])
    crafted("log-crafted-longer", "a record with a byte more than its fields have", "contradiction", 0, START,
            [follows(7, 0, START), b"\4" + made_up("comic") + b"\0\0"])
    crafted("log-crafted-first", "a first record that names no predecessor", "contradiction", 0, START, [every_record()[1]])
    crafted("log-crafted-predecessor", "a first record that names another predecessor", "contradiction", 0, START,
            [follows(7, 0, (5, made_up("another tag")))])
    crafted("log-crafted-second-first", "a record further on that names a predecessor", "contradiction", 0, START,
            [follows(7, 0, START), follows(7, 0, START)])


def snapshot(*, version=1, gen=7, heads=None, comics=None, end=b""):
    tombstones = sorted(made_up(f"tombstone {i}") for i in range(3))
    heads = [head(g, 10 * g, made_up(f"head {g}")) for g in (1, 2, 6)] if heads is None else heads
    if comics is None:
        comics = [entry("Amazing.cbz", [1, 3, 4], **ONE) + optional(PROGRESS) + listed([BOOKMARK]),
                  entry("Other (1).cbz", [1], **OTHER) + optional(None) + listed([])]
    return (bytes([version]) + struct.pack(">Q", gen) + listed(heads) + listed(tombstones) + listed(sorted(comics)) + end)


ARCHIVE = b"The archive of a comic.\n"


def envelope(*, name=b"Amazing.cbz", digest=None, end=b"", count=None):
    text = (counted(name) + counted(b"comics") + (digest or hashlib.sha256(ARCHIVE).digest())
            + struct.pack(">q", 1_700_000_000_000_000_001) + counted(b"job 5") + end)
    return struct.pack(">I", len(text) if count is None else count) + text + ARCHIVE


def looked_at(kind, case, how, number, content, **more):
    """An object whose content is looked at as well."""
    fields, body, content = sealed(case, number, content, how)
    return fields | dict(type=kind) | more, body, content


def contents():
    said = " ".join(part.hex() for part in (
        b"Amazing.cbz", b"comics", hashlib.sha256(ARCHIVE).digest(), struct.pack(">q", 1_700_000_000_000_000_001), b"job 5"))
    return {
        "snapshot-state": ("a snapshot of two comics, three tombstones and three earlier generations", looked_at(
            "snapshot", "snapshot-state", "snapshot 7", 6, snapshot(), comics=2, tombstones=3, heads=3)),
        "drop-envelope": ("a deposit with its envelope", looked_at(
            "drop", "drop-envelope", "pair", 5, envelope(), envelope=said)),
        "drop-keeps": ("a deposit that is to be kept although the vault has the same", looked_at(
            "drop", "drop-keeps", "pair", 5, envelope(end=b"\1"), envelope=said)),
    }


def damaged_contents():
    def crafted(kind, case, what, outcome, how, number, content):
        fields, body, _ = looked_at(kind, case, how, number, content)
        write(case, what, outcome, fields, body)

    for case, what, content in [
        ("snapshot-version", "a snapshot of another version", snapshot(version=2)),
        ("snapshot-gen", "a snapshot that names another generation than it is sealed for", snapshot(gen=8)),
        ("snapshot-heads", "a head that is not older than the snapshot", snapshot(heads=[head(7, 1, made_up("x"))])),
        ("snapshot-grown", "a snapshot with a byte more", snapshot(end=b"\0")),
        ("snapshot-twice", "a comic that stands there twice", snapshot(
            comics=2 * [entry("Amazing.cbz", [1], **ONE) + optional(None) + listed([])])),
        ("snapshot-count", "more comics than there are bytes", snapshot(comics=[])[:-4] + b"\xff" * 4),
    ]:
        crafted("snapshot", case, what, "damaged snapshot", "snapshot 7", 6, content)
    for case, what, outcome, content in [
        ("drop-count", "an envelope longer than the deposit", "no envelope", envelope(count=10_000)),
        ("drop-short", "an envelope that ends too early", "no envelope", envelope(count=20)),
        ("drop-grown", "an envelope with a byte more", "no envelope", envelope(end=b"\0")),
        ("drop-longer", "an envelope with two bytes more", "no envelope", envelope(end=b"\1\0")),
        ("drop-none", "three bytes", "no envelope", b"\0\0\0"),
        ("drop-name", "an envelope whose name leads elsewhere", "refused", envelope(name=b"../Amazing.cbz")),
    ]:
        crafted("drop", case, what, outcome, "pair", 5, content)


def write(case, what, outcome, fields, body=None, content=None, base=None, changes=()):
    lines = [f"what: {what}", f"outcome: {outcome}"]
    lines += [f"{key}: {value}" for key, value in fields.items()]
    if outcome == "ok" and content is not None:
        lines += [f"length: {len(content)}", f"content: {hashlib.sha256(content).hexdigest()}"]
    if base:
        lines.append(f"base: {base}")
        lines += [f"change: {change}" for change in changes]
    (HERE / f"{case}.case").write_bytes("\n".join(lines).encode() + b"\n\n" + (body or b""))


def bases():
    text = b"A comic of no pages.\n"
    long = b"".join(hashlib.sha256(struct.pack(">I", i)).digest() for i in range(5000))  # 160,000 bytes: 3 chunks
    return {
        "object-archive": ("a short archive, padded to one chunk", sealed("archive", 1, text, "vault")),
        "object-empty": ("content of no bytes", sealed("empty", 4, b"", "vault")),
        "object-three-chunks": ("a page pack of three chunks", sealed("three", 2, long, "vault")),
        "object-full-chunk": ("content that fills one chunk exactly", sealed("full", 3, long[:CHUNK - 16], "vault")),
        "object-deposit": ("a deposit, sealed to the public key", sealed("deposit", 5, b"\0\0\0\2{}" + text, "pair")),
        "object-snapshot": ("a manifest snapshot of generation 7", sealed("snapshot", 6, text, "snapshot 7")),
        "slot-password": ("a password slot", slot("password", 1, "correct horse", "password correct horse")),
        "slot-composed": ("a password typed decomposed, e and U+0301, sealed in normal form C",
                          slot("composed", 1, "caf\u00e9", "password cafe\u0301")),
        "slot-key-file": ("a key file slot", slot("key", 2, bytes(range(64)), "bytes " + bytes(range(64)).hex())),
        "vault-json": ("vault.json", (dict(type="json", vault=VAULT.hex()), DESCRIPTION, None)),
        **logs(), **contents(),
    }


def damaged(known):
    def of(case, base, what, outcome, *changes, **other):
        fields = {k: v for k, v in known[base][1][0].items() if k not in ("seed", "salt", "nonce")}
        write(case, what, outcome, {**fields, **other}, base=base, changes=changes)

    def crafted(case, what, outcome, *arguments, **options):
        fields, body, _ = sealed(case, *arguments, **options)
        write(case, what, outcome, fields, body)

    a, t = "object-archive", "object-three-chunks"
    end = len(known[t][1][1])
    of("object-magic", a, "another magic", "damaged header", "xor 0 01")
    of("object-format-2", a, "format 2", "unsupported", "8 02")
    of("object-byte-9", a, "byte 9 is not zero", "damaged header", "9 01")
    of("object-wrap-3", a, "an unknown wrap", "unsupported", "10 03")
    of("object-chunk-size", a, "chunks of 2^12 bytes", "unsupported", "11 0c")
    of("object-other-vault", a, "another vault's name in the header", "wrong vault", "xor 16 01")
    of("object-other-name", a, "another object's name in the header", "damaged name", "xor 32 80")
    of("object-renamed", a, "a file under another object's name", "damaged name", name="00" * 16)
    of("object-nonce", a, "another nonce", "damaged key", "xor 48 01")
    of("object-enc", a, "an encapsulated key where there is none", "damaged header", "64 01")
    of("object-wrapped-key", a, "a flipped bit in the wrapped key", "damaged key", "xor 96 01")
    of("object-header-tag", a, "a flipped bit in the header's tag", "damaged header tag", "xor 144 01")
    of("object-reserved", a, "the header's last byte is not zero", "damaged header", "255 01")
    of("object-first-bit", a, "a flipped bit in the first chunk", "damaged chunk 0", "xor 256 80")
    of("object-padding-bit", a, "a flipped bit in the padding's ciphertext", "damaged chunk 0", "xor 60000 01")
    of("object-last-tag", a, "a flipped bit in the last tag", "damaged chunk 0", f"xor {256 + CHUNK + 15} 01")
    of("object-cut-byte", a, "cut by a byte", "truncated", f"cut {256 + CHUNK + 15}")
    of("object-cut-header", a, "cut within the header", "truncated", "cut 200")
    of("object-cut-empty", a, "an empty file", "truncated", "cut 0")
    of("object-grown", a, "a byte added", "truncated", "add 00")
    of("object-middle-bit", t, "a flipped bit in the middle chunk", "damaged chunk 1", f"xor {256 + 65552 + 7} 10")
    of("object-chunks-swapped", t, "the first two chunks exchanged", "damaged chunk 0", "swap 256 65808 65552")
    of("object-last-lost", t, "the last chunk is gone", "truncated", f"cut {256 + 2 * 65552}")
    of("object-last-doubled", t, "the last chunk stands twice", "truncated", "add " + known[t][1][1][256 + 2 * 65552:end].hex())
    of("object-wrong-kind", a, "an archive opened as thumbnails", "damaged content", kind=3)
    of("object-as-deposit", a, "an archive opened as a deposit", "damaged key", open="pair")
    of("object-deposit-as-vault", "object-deposit", "a deposit opened as the vault's own", "damaged key", open="vault")
    of("object-deposit-enc", "object-deposit", "a flipped bit in the encapsulated key", "damaged key", "xor 64 01")
    of("object-deposit-small-order", "object-deposit", "an encapsulated key of small order", "damaged key", "64 " + "00" * 32)
    of("object-snapshot-gen", "object-snapshot", "a snapshot of another generation", "damaged key", open="snapshot 8")

    one = bytes([1]) + bytes(7) + struct.pack(">Q", 3) + b"abc"
    crafted("object-crafted-padding", "padding that is not zero, by a sealer who has the keys", "damaged content",
            1, b"abc", "vault", plain=one + bytes(CHUNK - len(one) - 1) + b"\1")
    crafted("object-crafted-kind", "kind 9", "damaged content", 1, b"abc", "vault",
            plain=b"\x09" + one[1:] + bytes(CHUNK - len(one)))
    crafted("object-crafted-zeros", "the zeros after the kind are none", "damaged content", 1, b"abc", "vault",
            plain=b"\1\0\0\0\0\0\0\1" + one[8:] + bytes(CHUNK - len(one)))
    crafted("object-crafted-length", "a length beyond the object's end", "truncated", 1, b"abc", "vault",
            plain=b"\1" + bytes(7) + struct.pack(">Q", 1 << 40) + bytes(CHUNK - 16))
    crafted("object-crafted-huge", "a length beyond the format's limit", "damaged content", 1, b"abc", "vault",
            plain=b"\1" + bytes(7) + b"\xff" * 8 + bytes(CHUNK - 16))
    crafted("object-crafted-wide", "more padding than the length asks for", "truncated", 1, b"abc", "vault",
            plain=one + bytes(2 * CHUNK - len(one)))
    crafted("object-crafted-unpadded", "a size that no padding makes", "truncated", 1, b"abc" * 30000, "vault",
            plain=bytes([1]) + bytes(7) + struct.pack(">Q", 90000) + b"abc" * 30000)

    p, k = "slot-password", "slot-key-file"
    of("slot-wrong-password", p, "another password", "incorrect password", open="password Correct horse")
    of("slot-wrong-kind", p, "a key file for a password slot", "incorrect password", open="bytes " + "0102030405060708090a" * 4)
    of("slot-format-2", p, "format 2", "unsupported", "8 02")
    of("slot-kind-3", p, "an unknown kind", "unsupported", "9 03")
    of("slot-few-iterations", p, "1,000 iterations", "unsupported", "12 000003e8")
    of("slot-many-iterations", p, "four thousand million iterations", "unsupported", "12 ffffffff")
    of("slot-other-vault", k, "another vault's name", "wrong vault", "xor 16 01")
    of("slot-renamed", k, "a file under another slot's name", "damaged slot", name="00" * 16)
    of("slot-salt", k, "another salt: another key follows", "incorrect password", "xor 48 01")
    of("slot-commitment", k, "a flipped bit in the commitment", "incorrect password", "xor 111 01")
    of("slot-json-length", k, "vault.json longer than its field", "damaged slot", "112 00001001")
    of("slot-json", k, "a flipped bit in the copy of vault.json", "damaged slot", "xor 140 01")
    of("slot-nonce", k, "another nonce", "damaged slot", "xor 4224 01")
    of("slot-secrets", k, "a flipped bit in the secrets", "damaged slot", "xor 4240 01")
    of("slot-cut", k, "cut by a byte", "damaged slot", "cut 4347")
    of("slot-grown", k, "a byte added", "damaged slot", "add 00")
    for case, what, outcome, options in [
        ("slot-crafted-pair", "a public key that is not the private one's", "damaged slot", dict(public=bytes(31) + b"\x09")),
        ("slot-crafted-commitment", "a right key and a wrong commitment", "incorrect password", dict(commit=False)),
    ]:
        fields, body, _ = slot(case, 2, bytes(range(64)), "bytes " + bytes(range(64)).hex(), **options)
        write(case, what, outcome, fields, body)

    of("vault-json-format", "vault-json", "format 2", "unsupported", f"{DESCRIPTION.index(b':1,') + 1} 32")
    of("vault-json-magic", "vault-json", "another magic", "not a vault", "xor 10 01")
    of("vault-json-cut", "vault-json", "cut short", "not a vault", "cut 40")
    of("vault-json-empty", "vault-json", "an empty file", "not a vault", "cut 0")
    of("vault-json-long", "vault-json", "more than 4 KiB", "not a vault", "add " + "20" * 4096)
    of("vault-json-name", "vault-json", "a name that is none", "not a vault", f"{DESCRIPTION.index(VAULT.hex().encode())} 7a")


def main():
    for old in HERE.glob("*.case"):
        old.unlink()
    known = bases()
    for case, (what, (fields, body, content, *_)) in known.items():
        write(case, what, "ok", fields, body, content)
    damaged(known)
    damaged_logs(known)
    damaged_contents()
    print(len(list(HERE.glob("*.case"))), "cases")


main()
