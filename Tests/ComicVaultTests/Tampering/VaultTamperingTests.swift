import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// A thief with write access to the vault's folder, from the point of view of somebody unlocking it: each file changed,
/// cut, missing or swapped is found, under the right name, and no comic ever reads as anything but itself.
///
/// Other suites flip every bit of an object's header, of a slot and of a log's records; this one tests whole vaults.
@Suite("Tampering with a vault's files")
struct VaultTamperingTests {
    private let vault: TamperingScene

    init() throws { vault = try TamperingScene() }

    @Test("Untouched, nothing is wrong with it")
    func sound() throws {
        #expect(vault.sound.gate.isEmpty && vault.sound.strange.isEmpty && !vault.sound.isPublicKeyWrong)
        #expect(vault.sound.comics.keys.sorted() == TamperingScene.comics)
        for name in TamperingScene.comics {
            #expect(vault.sound.comics[name] == ContentHash(of: StoreScene.archive(name)))
        }
        #expect(vault.sound.objects.values.allSatisfy { $0 == "ok" } && vault.sound.objects.count == 4)
        #expect(vault.sound.drops == [vault.drop.description: "ok"])
        #expect(vault.files(below: "manifest").map(\.nameText) == ["log-2-0", "log-2-1", "log-2-2", "snap-2"])
        #expect(vault.files(below: "keys").count == 2)
        #expect(vault.files.count == 2 + 2 + 4 + 1 + 4)
    }

    // MARK: bits

    @Test("A flipped bit of a sealed file, and all of its header")
    func bitsOfObjects() throws {
        var generator = SeededGenerator(for: "bitsOfObjects")
        for file in vault.files(below: "objects") + vault.files(below: "drop") {
            let bytes = try vault.bytes(file)
            let isDrop = file.text.hasPrefix("vault/drop")
            let header = ObjectSize.header * 8
            let bits = Array(0..<header) + Thoroughness.sample(header..<(bytes.count * 8), 300, &generator)
            try vault.withReader(of: file) { read in
                for bit in bits {
                    var flipped = bytes
                    flipped[bit / 8] ^= 1 << (bit % 8)
                    let found = try read(flipped)
                    let isEncapsulated = isDrop && (64..<96).contains(bit / 8)
                    let expected =
                        isEncapsulated ? "damaged key" : ObjectTamperingTests.expected(bit / 8, isDrop: isDrop)
                    let isInSecond = bit / 8 >= Int(ObjectSize.offset(ofChunk: 1))
                    #expect(found == (isInSecond ? "damaged chunk 1" : expected), "\(file), bit \(bit)")
                }
                #expect(try read(bytes) == "ok")
            }
        }
    }

    @Test("A flipped bit anywhere leaves every other comic readable and unchanged")
    func bitsOfTheVault() throws {
        var generator = SeededGenerator(for: "bitsOfTheVault")
        for file in vault.files {
            let bytes = try vault.bytes(file)
            for bit in Thoroughness.sample(0..<(min(bytes.count, 4400) * 8), 40, most: 2000, &generator) {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                let found = try vault.with(file, flipped) { try vault.examine(after: file) }
                try expectDamage(found, of: file, "\(file), bit \(bit)")
            }
        }
        #expect(try vault.examine() == vault.sound)
    }

    @Test("Every bit that deposits are sealed with, on a host that cannot open the vault")
    func bitsOfTheDeposit() throws {
        let before = try vault.scene.files("vault/drop")
        for file in ["vault/vault.json", "vault/vault.pub"] as [BytePath] {
            let bytes = try vault.bytes(file)
            for bit in 0..<(bytes.count * 8) {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                try vault.with(file, flipped) {
                    let offered: HostPin
                    do {
                        offered = try VaultDeposit.offered(at: vault.scene.vault, host: vault.scene.host())
                    } catch VaultError.notAVault {
                        return
                    } catch VaultError.unsupportedFormat {
                        return
                    }
                    // The same vault and key, only encoded differently: a deposit depends on nothing else in the file.
                    if try vault.scene.host().pins().contains(offered) {
                        #expect(file == "vault/vault.json", "bit \(bit)")
                        return
                    }
                    #expect(throws: VaultError.self, "bit \(bit)") { try vault.scene.deposit("E.cbz") }
                }
            }
        }
        #expect(try vault.scene.files("vault/drop") == before)
    }

    // MARK: lengths, missing files, swaps

    @Test("Every file truncated at any length")
    func truncations() throws {
        var generator = SeededGenerator(for: "truncations")
        for file in vault.files {
            let bytes = try vault.bytes(file)
            let ends = [0, 1, bytes.count - 1].filter { $0 < bytes.count }
            for length in Set(ends + Thoroughness.sample(0..<bytes.count, 25, most: 2000, &generator)) {
                let found = try vault.with(file, Array(bytes[..<length])) { try vault.examine(after: file) }
                try expectDamage(found, of: file, "\(file) cut at \(length)")
            }
            let found = try vault.with(file, bytes + [0]) { try vault.examine(after: file) }
            if file.text.hasPrefix("vault/manifest/log") {
                // Like an interrupted write: nothing that was ever durable is touched.
                #expect(found == vault.sound, "\(file) with a byte added")
            } else {
                try expectDamage(found, of: file, "\(file) with a byte added")
            }
        }
    }

    @Test("Every file missing")
    func missing() throws {
        for file in vault.files {
            let found = try vault.with(file, nil) { try vault.examine(after: file) }
            switch file.text.split(separator: "/")[1] {
            case "drop": #expect(found.strange == ["missing \(vault.drop)"])
            case "keys": #expect(found.gate == "incorrect password")
            case "manifest": #expect(["gap", "missing snapshot", "rolled back"].contains(found.gate), "\(file)")
            case "objects": #expect(found.objects[file.nameText] == "missing object")
            case "vault.json": #expect(found.gate == "not a vault")
            default: #expect(found.isPublicKeyWrong)
            }
            #expect(found != vault.sound)
            try expectNothingFalse(found, "\(file) missing")
        }
    }

    @Test("Every swap of two files")
    func swaps() throws {
        for (index, one) in vault.files.enumerated() {
            for other in vault.files[(index + 1)...] {
                let (first, second) = (try vault.bytes(one), try vault.bytes(other))
                let found = try vault.with(one, second) { try vault.with(other, first) { try vault.examine() } }
                let comment: Comment = "\(one) and \(other)"
                #expect(found != vault.sound, comment)
                try expectNothingFalse(found, comment)
                if vault.files(below: "objects").contains(one), vault.files(below: "objects").contains(other) {
                    for file in [one, other] { #expect(found.objects[file.nameText] == "damaged name", comment) }
                }
                if vault.files(below: "keys").contains(one), vault.files(below: "keys").contains(other) {
                    #expect(found.gate == "damaged slot", comment)
                }
                if vault.files(below: "manifest").contains(one) || vault.files(below: "manifest").contains(other) {
                    #expect(!found.gate.isEmpty, comment)
                }
            }
        }
    }

    @Test("Files of a twin vault that differs only in its keys")
    func another() throws {
        let other = try TamperingScene()
        for (own, strange) in zip(vault.files, other.files) {
            let found = try vault.with(own, other.bytes(strange)) { try vault.examine() }
            #expect(found != vault.sound, "\(own)")
            try expectNothingFalse(found, "\(own)")
            switch own.text.split(separator: "/")[1] {
            // Under their own names they would belong to a wrong vault.
            case "drop": #expect(found.drops.values.first == "damaged name")
            case "objects": #expect(found.objects[own.nameText] == "damaged name")
            case "manifest": #expect(["damaged snapshot", "damaged log header", "gap"].contains(found.gate), "\(own)")
            case "vault.json": #expect(found.gate == "wrong vault")
            default: break
            }
        }
    }

    // MARK: expected results

    private func expectDamage(_ found: Examination, of file: BytePath, _ comment: Comment) throws {
        #expect(found != vault.sound, comment)
        try expectNothingFalse(found, comment)
        let name = file.nameText
        switch file.text.split(separator: "/")[1] {
        case "drop":
            #expect(found.gate.isEmpty && found.comics == vault.sound.comics, comment)
            #expect(found.drops[name].map(Self.objectDamage.contains) == true, comment)
        case "keys":
            // The other slot is intact: it cannot be known whether the password or the slot is wrong.
            #expect(["incorrect password", "wrong vault"].contains(found.gate), comment)
        case "manifest":
            let expected: Set =
                name.hasPrefix("snap")
                ? ["damaged snapshot"] : ["damaged record", "damaged log header", "gap", "rolled back"]
            #expect(expected.contains(found.gate), comment)
        case "objects":
            #expect(found.gate.isEmpty, comment)
            #expect(found.objects[name].map(Self.objectDamage.contains) == true, comment)
            #expect(found.objects.values.filter { $0 == "ok" }.count == 3, comment)
        case "vault.json": #expect(["not a vault", "unsupported", "wrong vault"].contains(found.gate), comment)
        default: #expect(found.isPublicKeyWrong && found.comics == vault.sound.comics, comment)
        }
    }

    private static let objectDamage: Set = [
        "truncated", "unsupported", "wrong vault", "damaged header", "damaged name", "damaged key",
        "damaged header tag", "damaged chunk 0", "damaged chunk 1", "damaged content",
    ]

    /// Everything that can be read was sealed under that name.
    private func expectNothingFalse(_ found: Examination, _ comment: Comment) throws {
        for (name, hash) in found.comics { #expect(hash == vault.sound.comics[name], comment) }
    }
}

extension BytePath {
    /// The last component.
    var nameText: String { BytePath(bytes: name).text }
}

extension TamperingScene {
    /// Passes a function that opens a sealed file with different bytes, as ``Examination`` does.
    func withReader(of file: BytePath, _ body: ((_ bytes: [UInt8]) throws -> String) throws -> Void) throws {
        let vault = try scene.locked()
        let secrets = try KeySlots(vault.folder, vault.description).open(StoreScene.credential()).secrets
        let id = try #require(ObjectID(hex: file.nameText))
        let isDrop = file.text.hasPrefix("vault/drop")
        let key: OpeningKey = isDrop ? .keyPair(secrets.keyPair, vault.id) : .vault(secrets.keys)
        let kind: ObjectKind =
            isDrop
            ? .deposit
            : try Manifest(vault.folder, keys: secrets.keys, host: scene.host()).state.objects
                .first { $0.id == id }?.kind ?? .archive
        let scratch = scene.path.appending("scratch-\(randomHex(4))")
        try Self.write(bytes(file), scratch)
        let open = try Descriptor(scratch, O_RDWR)
        defer { try? Durable.remove(scratch) }
        try body { bytes in
            try open.write(bytes, at: 0)
            return outcome { _ = try ObjectReader(open, id, kind, with: key).verify() }
        }
    }
}
