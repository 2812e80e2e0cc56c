import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// A case of `Tests/Fixtures/vault`: a file of a vault, and the expected result of opening it. `generate.py` beside
/// them, a second implementation of the format, created them and describes the fields.
struct FormatCase: CustomTestStringConvertible, Sendable {
    let name: String
    let fields: [String: String]
    let bytes: [UInt8]

    var testDescription: String { "\(name): \(self["what"])" }

    subscript(field: String) -> String { fields[field] ?? "" }

    /// Cases for ``VectorManifestTests``.
    var isOfTheManifest: Bool { ["log", "snapshot", "drop"].contains(self["type"]) }

    func secrets() throws -> VaultSecrets {
        let id = try #require(VaultID(hex: self["vault"]))
        return try VaultSecrets(
            id: id, master: SecretBytes(unhex(self["master"])), privateKey: SecretBytes(unhex(self["private"])))
    }

    private static let folder = URL(fileURLWithPath: Checkout.root.text)
        .appendingPathComponent("Tests/Fixtures/vault")

    static let all: [FormatCase] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".case") }.sorted().compactMap { try? read(String($0.dropLast(5))) }
    }()

    private static func read(_ name: String) throws -> FormatCase {
        let file = [UInt8](try Data(contentsOf: folder.appendingPathComponent("\(name).case")))
        let blank = Array("\n\n".utf8)
        guard let end = file.indices.first(where: { file[$0...].starts(with: blank) }) else {
            throw TestFailure("\(name) has no blank line")
        }
        var fields: [String: String] = [:]
        var changes: [String] = []
        for line in String(decoding: file[..<end], as: UTF8.self).split(separator: "\n") {
            guard let colon = line.range(of: ": ") else { throw TestFailure("\(name): \(line)") }
            let (field, value) = (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
            if field == "change" { changes.append(value) } else { fields[field] = value }
        }
        guard let base = fields["base"] else {
            return FormatCase(name: name, fields: fields, bytes: Array(file[(end + 2)...]))
        }
        let bytes = try changes.reduce(try read(base).bytes) { try change($0, $1) }
        return FormatCase(name: name, fields: fields, bytes: bytes)
    }

    private static func change(_ bytes: [UInt8], _ change: String) throws -> [UInt8] {
        var bytes = bytes
        let words = change.split(separator: " ")
        func number(_ index: Int) throws -> Int {
            guard let number = Int(words[index]) else { throw TestFailure(change) }
            return number
        }
        switch words[0] {
        case "cut": return try Array(bytes.prefix(number(1)))
        case "add": return try bytes + unhex(words[1])
        case "xor": for (index, byte) in try unhex(words[2]).enumerated() { bytes[try number(1) + index] ^= byte }
        case "swap":
            for index in 0..<(try number(3)) { bytes.swapAt(try number(1) + index, try number(2) + index) }
        default: for (index, byte) in try unhex(words[1]).enumerated() { bytes[try number(0) + index] = byte }
        }
        return bytes
    }
}

@Suite("The format's own vectors")
struct VectorFormatTests {
    private let scene: ObjectScene

    init() throws { scene = try ObjectScene() }

    @Test("All of them are present")
    func count() { #expect(FormatCase.all.count == 119) }

    @Test("Each file has the outcome its case states", arguments: FormatCase.all.filter { !$0.isOfTheManifest })
    func opens(_ known: FormatCase) throws {
        let result = outcome {
            switch known["type"] {
            case "object": try openObject(known)
            case "slot": try openSlot(known)
            default: #expect(try VaultDescription(known.bytes, at: "vault.json").id.description == known["vault"])
            }
        }
        #expect(result == known["outcome"])
    }

    private func openObject(_ known: FormatCase) throws {
        let secrets = try known.secrets()
        let words = known["open"].split(separator: " ")
        let key: OpeningKey =
            switch words[0] {
            case "pair": .keyPair(secrets.keyPair, secrets.id)
            case "snapshot": .snapshot(secrets.keys, generation: UInt64(words[1]) ?? 0)
            default: .vault(secrets.keys)
            }
        let name = try #require(ObjectID(hex: known["name"]))
        let kind = try #require(UInt8(known["kind"]).flatMap(ObjectKind.init))
        let reader = try ObjectReader(scene.file(known.bytes), name, kind, with: key)
        var content: [UInt8] = []
        try reader.stream { content += $0 }
        // Only valid cases get here.
        #expect(reader.length == Int64(known["length"]))
        #expect(ContentHash(of: content).description == known["content"])
    }

    private func openSlot(_ known: FormatCase) throws {
        let secrets = try known.secrets()
        let name = try #require(SlotID(hex: known["name"]))
        let slot = try KeySlot(known.bytes, name, at: "a.slot")
        let words = known["open"].split(separator: " ", maxSplits: 1)
        let credential: Credential =
            words[0] == "password"
            ? try .password(SecretBytes(Array(words[1].utf8))) : try .keyFile(SecretBytes(unhex(words[1])))
        let opened = try slot.open(credential, VaultDescription(id: secrets.id))
        #expect(opened.master.matches(secrets.master))
        #expect(opened.keyPair.privateKey.matches(secrets.keyPair.privateKey))
    }

    @Test(
        "Sealing with a case's random bytes makes the case's file",
        arguments: FormatCase.all.filter { $0["seed"] != "" && $0["outcome"] == "ok" })
    func seals(_ known: FormatCase) throws {
        let secrets = try known.secrets()
        let words = known["open"].split(separator: " ")
        let (target, key): (SealTarget, OpeningKey) =
            switch words[0] {
            case "pair": (.publicKey(secrets.keyPair.publicKey, secrets.id), .keyPair(secrets.keyPair, secrets.id))
            case "snapshot": (.snapshot(secrets.keys, generation: 7), .snapshot(secrets.keys, generation: 7))
            default: (.vault(secrets.keys), .vault(secrets.keys))
            }
        let name = try #require(ObjectID(hex: known["name"]))
        let kind = try #require(UInt8(known["kind"]).flatMap(ObjectKind.init))
        var content: [UInt8] = []
        try ObjectReader(scene.file(known.bytes), name, kind, with: key).stream { content += $0 }
        let made = try ObjectSecrets(
            kind, content: ContentHash(of: content), for: target, at: "a", seed: SecretBytes(unhex(known["seed"])),
            nonce: unhex(known["nonce"]))
        let sealed = try ObjectWriter.seal(kind, ObjectContent(content), made, into: scene.file())
        #expect(try scene.bytes(sealed) == known.bytes)
    }
}
