#!/usr/bin/env python3
"""Reads comic vaults. Written from docs/design/vault-format.md alone, over PyPI's `cryptography`.

usage: vault_reader.py vectors FOLDER      opens every case of Tests/Fixtures/vault and compares what comes of it
       vault_reader.py open VAULT          reads a password from standard input; prints JSON: the comics, each with the
                                           SHA-256 of its archive, and the deposits
"""
import hashlib, hmac, json, pathlib, struct, sys, unicodedata
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CHUNK, TAG = 65536, 16


class Refused(Exception):
    """What is wrong, in the words of the vectors."""


def need(condition, what):
    if not condition:
        raise Refused(what)


def mac(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def expand(key, info, count=32):
    out, block = b"", b""
    for number in range(1, (count + 31) // 32 + 1):
        block = mac(key, block + info + bytes([number]))
        out += block
    return out[:count]


def kdf(ikm, salt, info, count=32):
    return expand(mac(salt or bytes(32), ikm), info, count)


def gcm_open(key, nonce, aad, sealed):
    """None where it does not verify."""
    try:
        return AESGCM(key).decrypt(nonce, sealed, aad)
    except InvalidTag:
        return None


def hpke_open(enc, private, public, info, aad, sealed):
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02"

    def extract(salt, label, ikm, of):
        return mac(salt or bytes(32), b"HPKE-v1" + of + label + ikm)

    def labelled(key, label, info, count, of):
        return expand(key, struct.pack(">H", count) + b"HPKE-v1" + of + label + info, count)

    try:
        shared = X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(enc))
    except ValueError:
        return None
    secret = labelled(extract(b"", b"eae_prk", shared, kem), b"shared_secret", enc + public, 32, kem)
    context = b"\0" + extract(b"", b"psk_id_hash", b"", suite) + extract(b"", b"info_hash", info, suite)
    scheduled = extract(secret, b"secret", b"", suite)
    key, nonce = labelled(scheduled, b"key", context, 32, suite), labelled(scheduled, b"base_nonce", context, 12, suite)
    return gcm_open(key, nonce, aad, sealed)


class Keys:
    def __init__(self, vault, master, private):
        self.vault, self.private = vault, private
        self.public = X25519PrivateKey.from_private_bytes(private).public_key().public_bytes(
            Encoding.Raw, PublicFormat.Raw)
        self.wrap, self.manifest, self.dedup = (
            kdf(master, b"", b"ivo1/" + name + vault) for name in (b"wrap", b"manifest", b"dedup"))


def description(text):
    """The vault's name in vault.json."""
    need(len(text) <= 4096, "not a vault")
    try:
        fields = json.loads(text)
        magic, form, name = fields["magic"], fields["format"], fields["vaultID"]
    except (ValueError, KeyError, TypeError):
        raise Refused("not a vault") from None
    need(magic == "IVO1 comic vault", "not a vault")
    need(form == 1, "unsupported")
    need(isinstance(name, str) and len(name) == 32 and set(name) <= set("0123456789abcdef"), "not a vault")
    return bytes.fromhex(name)


def open_slot(text, name, credential, shown):
    """The vault's keys from a slot; `credential` is a password (str) or a key file's bytes."""
    need(len(text) == 4348 and text[:8] == b"IVO1KEY\n", "damaged slot")
    need(text[8] == 1 and text[9] in (1, 2), "unsupported")
    kind, (iterations,) = text[9], struct.unpack(">I", text[12:16])
    need(text[10:12] == bytes(2), "damaged slot")
    need(iterations == (600000 if kind == 1 else 0), "unsupported")
    (length,) = struct.unpack(">I", text[112:116])
    need(text[32:48] == name and length <= 4096, "damaged slot")
    need(text[116:128] == bytes(12) and not any(text[128 + length:4224]), "damaged slot")
    need(text[16:32] == description(shown), "wrong vault")
    need(isinstance(credential, str) == (kind == 1), "incorrect password")
    salt = text[48:80]
    if kind == 1:
        normal = unicodedata.normalize("NFC", credential).encode()
        start = hashlib.pbkdf2_hmac("sha256", normal, salt, iterations, 32)
    else:
        start = kdf(credential, salt, b"")
    need(hmac.compare_digest(kdf(start, b"", b"ivo1 commit"), text[80:112]), "incorrect password")
    secrets = gcm_open(kdf(start, b"", b"ivo1 kek"), text[4224:4236], text[:4236], text[4236:])
    need(secrets is not None, "damaged slot")
    keys = Keys(text[16:32], secrets[:32], secrets[32:64])
    need(keys.public == secrets[64:], "damaged slot")
    need(text[128:128 + length] == shown, "not a vault")
    return keys


def padme(n):
    if n < 2:
        return n
    e = n.bit_length() - 1
    mask = (1 << (e - e.bit_length())) - 1
    return (n + mask) & ~mask


def open_object(text, name, kind, keys, how):
    """The content of an object, its headerMAC and its last tag. `how`: vault, pair, or a snapshot's generation."""
    count = -(-(len(text) - 256) // (CHUNK + TAG))
    total = len(text) - 256 - TAG * count
    need(len(text) > 256 and total >= CHUNK and padme(total) == total and -(-total // CHUNK) == count, "truncated")
    head = text[:256]
    need(head[:8] == b"IVO1OBJ\n", "damaged header")
    need(head[8] == 1, "unsupported")
    need(head[9] == 0, "damaged header")
    need(head[10] in (1, 2) and head[11] == 16, "unsupported")
    need(not any(head[12:16]) and not any(head[60:64]) and not any(head[176:]), "damaged header")
    need(head[10] == 2 or not any(head[64:96]), "damaged header")
    need(name is None or head[32:48] == name, "damaged name")
    need(head[16:32] == keys.vault, "wrong vault")
    nonce, bound, wrapped = head[48:60], head[:96], head[96:144]
    if how == "pair":
        key = hpke_open(
            head[64:96], keys.private, keys.public, b"ivo1 drop" + keys.vault, bound, wrapped) if head[10] == 2 else None
    elif head[10] == 2:
        key = None
    elif how == "vault":
        key = gcm_open(kdf(keys.wrap, head[32:60], b"wrap"), bytes(12), bound, wrapped)
    else:
        key = gcm_open(kdf(keys.manifest, head[32:60], b"snap" + struct.pack(">Q", how)), bytes(12), bound, wrapped)
    need(key is not None, "damaged key")
    need(hmac.compare_digest(mac(kdf(key, b"", b"header"), head[:144]), head[144:176]), "damaged header tag")
    digest, content_key = hashlib.sha256(head[:176]).digest(), kdf(key, nonce, b"content")

    def chunk(i):
        last = bytes([i == count - 1])
        start = 256 + i * (CHUNK + TAG)
        mask = bytes(7) + struct.pack(">I", i) + last
        plain = gcm_open(
            content_key, bytes(a ^ b for a, b in zip(nonce, mask)), digest + struct.pack(">Q", i) + last,
            text[start:start + CHUNK + TAG])
        need(plain is not None, f"damaged chunk {i}")
        return plain

    first = chunk(0)
    (length,) = struct.unpack(">Q", first[8:16])
    need(1 <= first[0] <= 6 and first[0] == kind and not any(first[1:8]), "damaged content")
    need(length <= (1 << 48) - 16, "damaged content")
    need(max(CHUNK, padme(16 + length)) == total, "truncated")
    plain = first + b"".join(chunk(i) for i in range(1, count))
    need(not any(plain[16 + length:]), "damaged content")
    return plain[16:16 + length], head[144:176], text[-TAG:]


class Mismatch(Exception):
    """Bytes that no writer makes."""


class Fields:
    def __init__(self, text):
        self.text, self.place = text, 0

    def take(self, count):
        part = self.text[self.place:self.place + count]
        if len(part) != count:
            raise Mismatch("too short")
        self.place += count
        return part

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))[0]

    def counted(self):
        return self.take(self.number("H"))

    def text_field(self):
        try:
            return self.counted().decode()
        except UnicodeDecodeError:
            raise Mismatch("text") from None

    def optional(self, read):
        flag = self.number("B")
        if flag > 1:
            raise Mismatch("optional")
        return read() if flag else None

    def list(self, read):
        return [read() for _ in range(self.number("I"))]

    def head(self):
        return self.number("Q"), self.number("Q"), self.take(16)

    def reference(self):
        found = dict(object=self.take(16), kind=self.number("B"), length=self.number("Q"), mac=self.take(32),
                     tag=self.take(16))
        if not 1 <= found["kind"] <= 6:
            raise Mismatch("kind")
        return found

    def comic(self):
        return dict(
            id=self.take(16), name=self.counted(), objects=self.list(self.reference), title=self.text_field(),
            series=self.text_field(), number=self.text_field(), pages=self.number("I"), format=self.text_field(),
            dup=self.take(32), source=self.text_field(), key=self.counted(),
            drop=self.optional(lambda: self.take(16)), added=self.number("q"))

    def progress(self):
        page, finished, time = self.number("I"), self.number("B"), self.number("q")
        if finished > 1:
            raise Mismatch("finished")
        return page, bool(finished), time

    def bookmark(self):
        return self.number("I"), self.text_field(), self.number("q")

    def end(self):
        if self.place != len(self.text):
            raise Mismatch("too long")


def one_file_name(name):
    return 0 < len(name) <= 255 and name not in (b".", b"..") and b"/" not in name and b"\0" not in name


class State:
    def __init__(self):
        self.comics, self.progress, self.bookmarks, self.tombstones = {}, {}, {}, set()

    def add(self, comic):
        names = {known["name"] for known in self.comics.values()}
        if comic["id"] in self.comics or comic["name"] in names or not one_file_name(comic["name"]):
            raise Mismatch("comic")
        self.comics[comic["id"]] = comic

    def apply(self, record):
        what, fields = record
        if what == "added":
            return self.add(fields)
        comic, rest = fields[0], fields[1:]
        if comic not in self.comics:
            raise Mismatch("no such comic")
        if what == "removed":
            del self.comics[comic]
            self.progress.pop(comic, None)
            self.bookmarks.pop(comic, None)
            self.tombstones.update(rest[0])
        elif what == "renamed":
            self.comics[comic]["name"] = rest[0]
        elif what == "progress":
            self.progress[comic] = rest[0]
        elif what == "bookmarked":
            self.bookmarks.setdefault(comic, {})[rest[0][0]] = rest[0]
        else:
            self.bookmarks.get(comic, {}).pop(rest[0], None)


def read_snapshot(text, gen):
    """The state, and the heads at which earlier generations ended."""
    fields, state = Fields(text), State()
    try:
        if fields.number("B") != 1 or fields.number("Q") != gen:
            raise Mismatch("version")
        heads = fields.list(fields.head)
        generations = [head[0] for head in heads] + [gen]
        if any(one >= other for one, other in zip(generations, generations[1:])):
            raise Mismatch("heads")
        state.tombstones.update(fields.list(lambda: fields.take(16)))

        def comic():
            entry = fields.comic()
            state.add(entry)
            state.progress[entry["id"]] = fields.optional(fields.progress)
            state.bookmarks[entry["id"]] = {mark[0]: mark for mark in fields.list(fields.bookmark)}

        fields.list(comic)
        fields.end()
    except Mismatch:
        raise Refused("damaged snapshot") from None
    return state, heads


def read_record(text):
    fields = Fields(text)
    kind = fields.number("B")
    if kind == 0:
        record = "follows", (fields.optional(lambda: fields.number("Q")), fields.head())
    elif kind == 1:
        record = "added", fields.comic()
    elif kind == 2:
        record = "removed", (fields.take(16), fields.list(lambda: fields.take(16)), fields.number("q"))
    elif kind == 3:
        record = "renamed", (fields.take(16), fields.counted())
    elif kind == 4:
        record = "progress", (fields.take(16), fields.optional(fields.progress))
    elif kind == 5:
        record = "bookmarked", (fields.take(16), fields.bookmark())
    elif kind == 6:
        record = "bookmark removed", (fields.take(16), fields.number("I"))
    else:
        raise Mismatch("record")
    fields.end()
    return record


def unpadded(text):
    """The fields of a record that is filled up with zeros."""
    fields = Fields(text)
    count = fields.number("I")
    plain = fields.take(count)
    size = max(4 + count, min(65520, max(1024, padme(4 + count))))
    if len(text) != size or any(text[4 + count:]):
        raise Mismatch("padding")
    return plain


def read_log(text, gen, n, keys, start):
    """The good records with their texts, the head after them (seq, tag), and what is wrong with the rest or None."""
    longest = 20 + 65536
    place = struct.pack(">QQ", gen, n)
    purpose = {b"ivo1log\n": b"log", b"ivo1lg2\n": b"lg2"}.get(text[:8])
    if len(text) < 72 or purpose is None or text[8:40] != keys.vault + place:
        return [], start, ("torn" if len(text) <= 72 + longest else "damaged") + " log header"
    log_key = kdf(keys.manifest, text[40:72], purpose + place)
    siv_key = kdf(log_key, b"", b"siv")

    def opened(at, seq, tag):
        if len(text) - at < 20:
            return None
        length, short = struct.unpack(">I", text[at:at + 4])[0], text[at + 4:at + 20]
        end = at + 20 + length
        if not 17 <= length <= 65536 or end > len(text):
            return None
        number = struct.pack(">Q", seq)
        plain = gcm_open(
            kdf(log_key, short, b"rec" + number), bytes(4) + number, keys.vault + place + number + tag + text[at:at + 20],
            text[at + 20:end])
        if plain is None or not hmac.compare_digest(mac(siv_key, number + tag + plain)[:16], short):
            return None
        return plain, end, text[end - 16:end]

    records, (seq, tag), at = [], start, 72
    while (found := opened(at, seq + 1, tag)) is not None:
        plain, at, after = found
        try:
            if purpose == b"lg2":
                plain = unpadded(plain)
            record = read_record(plain)
        except Mismatch:
            raise Refused("contradiction") from None
        isFirst = not records
        if (record[0] == "follows") != isFirst:
            raise Refused("contradiction")
        if isFirst and record[1] != (n - 1 if n else None, (gen, *start)):
            raise Refused("contradiction")
        records.append((plain, record))
        seq, tag = seq + 1, after
    if records and at == len(text):
        return records, (seq, tag), None
    # One cut-off write leaves less than a record, and nothing good after it.
    rest = len(text) - at
    goes_on = rest > longest
    if not goes_on and rest >= 20:
        length = struct.unpack(">I", text[at:at + 4])[0]
        goes_on = 17 <= length <= 65536 and at + 20 + length < len(text)
    if not goes_on:
        goes_on = any(
            opened(later, seq + 2, text[later - 16:later]) is not None for later in range(at + 37, len(text)))
    return records, (seq, tag), f"{'damaged' if goes_on else 'torn'} record {seq + 1}"


def read_envelope(content):
    """What a deposit says of its archive, and the archive."""
    try:
        whole = Fields(content)
        count = whole.number("I")
        if count > 65536:
            raise Mismatch("envelope")
        fields = Fields(whole.take(count))
        name, source, digest = fields.counted(), fields.text_field(), fields.take(32)
        time, key = fields.number("q"), fields.counted()
        keeps = fields.place < count
        if keeps and fields.number("B") != 1:
            raise Mismatch("keep")
        fields.end()
    except Mismatch:
        raise Refused("no envelope") from None
    need(one_file_name(name), "refused")
    return dict(name=name, source=source, digest=digest, time=time, key=key, keeps=keeps), content[4 + count:]


# The vectors

def read_case(folder, name):
    head, body = (folder / f"{name}.case").read_bytes().split(b"\n\n", 1)
    lines = [line.split(": ", 1) for line in head.decode().split("\n")]
    fields = {key: value for key, value in lines if key != "change"}
    if "base" not in fields:
        return fields, body
    body = bytearray(read_case(folder, fields["base"])[1])
    for key, value in lines:
        words = value.split()
        if key != "change":
            continue
        if words[0] == "cut":
            del body[int(words[1]):]
        elif words[0] == "add":
            body += bytes.fromhex(words[1])
        elif words[0] == "xor":
            for i, byte in enumerate(bytes.fromhex(words[2])):
                body[int(words[1]) + i] ^= byte
        elif words[0] == "swap":
            one, other, count = (int(word) for word in words[1:])
            body[one:one + count], body[other:other + count] = body[other:other + count], body[one:one + count]
        else:
            changed = bytes.fromhex(words[1])
            body[int(words[0]):int(words[0]) + len(changed)] = changed
    return fields, bytes(body)


def check_case(fields, body):
    """Opens a case; returns its outcome, and sees that what it holds is what the case says."""
    def same(field, value):
        need(fields.get(field, value) == value, f"another {field}: {value}")

    kind = fields["type"]
    if kind == "json":
        same("vault", description(body).hex())
        return "ok"
    vault = bytes.fromhex(fields["vault"])
    keys = Keys(vault, bytes.fromhex(fields["master"]), bytes.fromhex(fields["private"]))
    if kind == "slot":
        shown = b'{"magic":"IVO1 comic vault","format":1,"vaultID":"' + vault.hex().encode() + b'"}\n'
        how, value = fields["open"].split(" ", 1)
        credential = value if how == "password" else bytes.fromhex(value)
        opened = open_slot(body, bytes.fromhex(fields["name"]), credential, shown)
        need((opened.private, opened.wrap) == (keys.private, keys.wrap), "other secrets")
        return "ok"
    if kind == "log":
        _, gen, n = fields["name"].split("-")
        seq, tag = fields["start"].split()
        records, end, rest = read_log(body, int(gen), int(n), keys, (int(seq), bytes.fromhex(tag)))
        same("records", str(len(records)))
        if rest:
            return rest
        same("end", f"{end[0]} {end[1].hex()}")
        plain = b"".join(struct.pack(">I", len(text)) + text for text, _ in records)
        same("length", str(len(plain)))
        same("content", hashlib.sha256(plain).hexdigest())
        return "ok"
    words = fields["open"].split()
    how = int(words[1]) if words[0] == "snapshot" else words[0]
    content, *_ = open_object(body, bytes.fromhex(fields["name"]), int(fields["kind"]), keys, how)
    same("length", str(len(content)))
    same("content", hashlib.sha256(content).hexdigest())
    if kind == "snapshot":
        state, heads = read_snapshot(content, 7)
        for name, found in (("comics", state.comics), ("tombstones", state.tombstones), ("heads", heads)):
            same(name, str(len(found)))
    elif kind == "drop":
        said, archive = read_envelope(content)
        need(hashlib.sha256(archive).digest() == said["digest"], "another archive")
        parts = said["name"], said["source"].encode(), said["digest"], struct.pack(">q", said["time"]), said["key"]
        same("envelope", " ".join(part.hex() for part in parts))
    return "ok"


def vectors(folder):
    names, failures = sorted(path.stem for path in folder.glob("*.case")), 0
    for name in names:
        fields, body = read_case(folder, name)
        try:
            outcome = check_case(fields, body)
        except Refused as refusal:
            outcome = str(refusal)
        if outcome != fields["outcome"]:
            failures += 1
            print(f"{name}: {outcome}, not {fields['outcome']}")
    print(f"{len(names) - failures} of {len(names)} vectors")
    return failures == 0 and bool(names)


# A vault

def read_manifest(folder, keys):
    files = [path.name for path in (folder / "manifest").iterdir()]
    gen = max(int(name[5:]) for name in files if name.startswith("snap-"))
    content, _, tag = open_object((folder / f"manifest/snap-{gen}").read_bytes(), None, 6, keys, gen)
    state, _ = read_snapshot(content, gen)
    head = 0, tag
    logs = sorted(int(name.split("-")[2]) for name in files if name.startswith(f"log-{gen}-"))
    need(logs == list(range(len(logs))), "gap")
    for n in logs:
        records, head, rest = read_log((folder / f"manifest/log-{gen}-{n}").read_bytes(), gen, n, keys, head)
        need(rest is None, str(rest))
        for _, record in records[1:]:
            state.apply(record)
    return state


def unlock(folder, credential):
    shown = (folder / "vault.json").read_bytes()
    description(shown)
    for path in sorted((folder / "keys").glob("*.slot")):
        try:
            return open_slot(path.read_bytes(), bytes.fromhex(path.stem), credential, shown)
        except Refused as refusal:
            if str(refusal) != "incorrect password":
                raise
    raise Refused("incorrect password")


def open_vault(folder, credential):
    keys = unlock(folder, credential)
    need((folder / "vault.pub").read_bytes() == keys.public, "another public key")
    state, comics = read_manifest(folder, keys), []
    for comic in state.comics.values():
        found = dict(name=comic["name"].decode(), title=comic["title"], source=comic["source"], objects=[])
        for wanted in comic["objects"]:
            name = wanted["object"].hex()
            content, header_mac, tag = open_object(
                (folder / "objects" / name[:2] / name).read_bytes(), wanted["object"], wanted["kind"], keys, "vault")
            need((len(content), header_mac, tag) == (wanted["length"], wanted["mac"], wanted["tag"]), "another object")
            found["objects"].append(wanted["kind"])
            if wanted["kind"] == 1:
                digest = hashlib.sha256(content)
                found["sha256"] = digest.hexdigest()
                need(mac(keys.dedup, digest.digest()) == comic["dup"], "another comic")
            elif wanted["kind"] == 4:
                metadata = json.loads(content)
                need(metadata["version"] == 1, "metadata")
                found["pages"] = [page["name"] for page in metadata["pages"]]
        comics.append(found)
    deposits = []
    for path in sorted((folder / "drop").iterdir()):
        content, *_ = open_object(path.read_bytes(), bytes.fromhex(path.name), 5, keys, "pair")
        said, archive = read_envelope(content)
        digest = hashlib.sha256(archive)
        need(digest.digest() == said["digest"], "another archive")
        deposits.append(dict(name=said["name"].decode(), sha256=digest.hexdigest(), key=said["key"].decode()))
    print(json.dumps(dict(comics=sorted(comics, key=lambda comic: comic["name"]), deposits=deposits)))


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "vectors":
        return 0 if vectors(pathlib.Path(sys.argv[2])) else 1
    if len(sys.argv) == 3 and sys.argv[1] == "open":
        try:
            open_vault(pathlib.Path(sys.argv[2]), sys.stdin.readline().rstrip("\n"))
        except Refused as refusal:
            sys.exit(f"vault_reader: {refusal}")
        return 0
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
