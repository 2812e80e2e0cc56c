import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// `vault.json` and the slots on disk.
@Suite("The vault's folder")
struct ContainerTests {
    private let home: TemporaryFolder
    private let folder: SealedVaultFolder
    private let secrets: VaultSecrets
    private let slots: KeySlots

    init() throws {
        home = try TemporaryFolder("steward-vault")
        folder = try SealedVaultFolder(home.path)
        for name in VaultLayout.folders { try folder.makeDirectory(name) }
        let id = try VaultID.random()
        secrets = try VaultSecrets.generate(for: id)
        slots = KeySlots(folder, VaultDescription(id: id))
    }

    private func keyFile() throws -> Credential { try .keyFile(.random(64)) }

    private func path(_ id: SlotID) -> BytePath { home.path.appending("keys/\(id).slot") }

    private func damage(_ id: SlotID, _ offset: Int64 = 4300) throws {
        let file = try Descriptor(path(id), O_RDWR)
        try file.write([try file.read(at: offset, count: 1)[0] ^ 1], at: offset)
    }

    @Test("A vault's description survives the disk, byte for byte")
    func description() throws {
        let made = VaultDescription(id: secrets.id)
        let read = try VaultDescription(of: Descriptor(home.write("vault.json", made.bytes)))
        #expect(read == made)
        #expect(made.bytes.count < VaultDescription.limit)
    }

    @Test("Any slot unlocks")
    func severalSlots() throws {
        let credentials = [
            try keyFile(), try Credential.password(SecretBytes(Array("word".utf8))), try keyFile(),
        ]
        let names = try credentials.map { credential in
            let name = try SlotID.random()
            try slots.write(secrets, name, for: credential, replaces: false)
            return name
        }
        #expect(try slots.names() == names.sorted())
        for (name, credential) in zip(names, credentials) {
            let unlocked = try slots.open(credential)
            #expect(unlocked.slot == name)
            #expect(unlocked.secrets.master.matches(secrets.master))
            #expect(unlocked.damaged.isEmpty)
        }
        #expect(outcome { _ = try slots.open(keyFile()) } == "incorrect password")
        #expect(try folder.names(in: VaultLayout.temporary).isEmpty)
        #expect(try FileStatus.of(path(names[0]))?.mode == 0o600)
    }

    @Test("Changing a password replaces one file; the old password stops working, other slots do not")
    func change() throws {
        let (old, new, other) = (try keyFile(), try keyFile(), try keyFile())
        let (name, second) = (try SlotID.random(), try SlotID.random())
        try slots.write(secrets, name, for: old, replaces: false)
        try slots.write(secrets, second, for: other, replaces: false)
        try slots.write(secrets, name, for: new, replaces: true)
        #expect(try slots.names().count == 2)
        #expect(try slots.open(new).slot == name)
        #expect(try slots.open(other).slot == second)
        #expect(outcome { _ = try slots.open(old) } == "incorrect password")
    }

    @Test("A slot is not replaced or created by mistake")
    func mistakes() throws {
        let name = try SlotID.random()
        #expect(throws: Fault.self) { try slots.write(secrets, name, for: keyFile(), replaces: true) }
        let key = try keyFile()
        try slots.write(secrets, name, for: key, replaces: false)
        #expect(throws: Fault.self) { try slots.write(secrets, name, for: keyFile(), replaces: false) }
        #expect(try slots.open(key).slot == name)
        #expect(try folder.names(in: VaultLayout.temporary).isEmpty)
    }

    @Test("Eight slots are the maximum, and the last one stays")
    func limits() throws {
        let names = try (0..<8).map { _ in
            let name = try SlotID.random()
            try slots.write(secrets, name, for: keyFile(), replaces: false)
            return name
        }
        #expect(throws: Fault.self) { try slots.write(secrets, .random(), for: keyFile(), replaces: false) }
        for name in names.dropLast() { try slots.remove(name) }
        #expect(throws: Fault.self) { try slots.remove(names[7]) }
        #expect(try slots.names() == [names[7]])

        for _ in 0..<8 { try home.write(BytePath("keys/\(SlotID.random()).slot"), [1]) }
        #expect(outcome { _ = try slots.open(keyFile()) } == "not a vault")
    }

    @Test("A damaged slot is reported and does not keep the others from opening")
    func damagedSlot() throws {
        let key = try keyFile()
        let (one, other) = (try SlotID.random(), try SlotID.random())
        try slots.write(secrets, one, for: key, replaces: false)
        try slots.write(secrets, other, for: keyFile(), replaces: false)
        try damage(other, 0)
        let unlocked = try slots.open(key)
        #expect(unlocked.slot == one)
        #expect(unlocked.damaged.map(outcome) == ["damaged slot"])
        // A good slot must not be removed in favour of a damaged one.
        #expect(throws: Fault.self) { try slots.remove(one) }
        try damage(one, 0)
        #expect(outcome { _ = try slots.open(key) } == "damaged slot")
    }

    @Test("A vault without slots, or with a foreign vault.json, is not an empty vault that any password opens")
    func noSlots() throws {
        #expect(outcome { _ = try slots.open(keyFile()) } == "not a vault")
        let key = try keyFile()
        try slots.write(secrets, .random(), for: key, replaces: false)
        let other = KeySlots(folder, VaultDescription(id: try .random()))
        #expect(outcome { _ = try other.open(key) } == "wrong vault")
    }

    @Test("A slot that is a symlink is not followed")
    func link() throws {
        let key = try keyFile()
        let name = try SlotID.random()
        try slots.write(secrets, name, for: key, replaces: false)
        let moved = home.path.appending("elsewhere")
        #expect(rename(path(name).text, moved.text) == 0)
        #expect(symlink(moved.text, path(name).text) == 0)
        #expect(throws: VaultError.self) { try slots.open(key) }
    }

    @Test("Files with other names in keys/ are left alone")
    func otherFiles() throws {
        let key = try keyFile()
        let name = try SlotID.random()
        try slots.write(secrets, name, for: key, replaces: false)
        for other in ["README", "x.slot", "\(String(repeating: "A", count: 32)).slot", "\(name).slot~"] {
            try home.write(BytePath("keys/\(other)"), [1])
        }
        #expect(try slots.names() == [name])
        #expect(try slots.open(key).damaged.isEmpty)
    }
}
