import Foundation
import Ledger
import Platform
import TestSupport
import Testing

@Suite("Names hidden in the ledger")
struct HiddenNameTests {
    private let folder: TemporaryFolder
    private let comic: BytePath = "/srv/comics/Saga.cbz"

    init() throws { folder = try TemporaryFolder() }

    /// A run of the agent in which the files of the place are hidden.
    private func life() throws -> HiddenNames {
        let ledger = try Ledger.open(directory: folder.path).ledger
        defer { try? ledger.close() }
        ledger.names.hide { place, _ in place == "comics" }
        ledger.names.locate { path in path.relative(to: "/srv/comics").map { ("comics", "/srv/comics", $0) } }
        return ledger.names
    }

    private func written(_ path: BytePath, _ names: HiddenNames) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        if let key = PathCoding.key { encoder.userInfo[key] = names.coding }
        return try encoder.encode([path])
    }

    private func read(_ data: Data, _ names: HiddenNames) throws -> BytePath? {
        let decoder = JSONDecoder()
        if let key = PathCoding.key { decoder.userInfo[key] = names.coding }
        return try decoder.decode([BytePath].self, from: data).first
    }

    @Test("Until a place's files have been seen, users of hidden names are told to wait; then they get the names")
    func unlearned() throws {
        let data = try written(comic, try life())
        #expect(!String(decoding: data, as: UTF8.self).contains("Saga"))
        let names = try life()
        names.expect(in: "comics")
        let fault = #expect(throws: Fault.self) { try read(data, names) }
        #expect(fault?.kind == .transient)
        #expect(fault?.message.hasPrefix(HiddenNames.unlearnedMessage("comics")) == true)
        // In another place nothing is hidden, and nothing waits.
        #expect(try read(try written("/srv/notes/a.md", names), names) == "/srv/notes/a.md")
        _ = try names.stored("comics", "Saga.cbz")
        #expect(try read(data, names) == comic, "it has been seen")
        names.setLearned("comics")
        #expect(names.isLearned("comics"))
    }

    @Test("If folders are unreadable, files that were found have names, and the others are waited for")
    func partly() throws {
        let (found, missed): (BytePath, BytePath) = ("/srv/comics/Saga.cbz", "/srv/comics/closed/Heron.cbz")
        let first = try life()
        let data = (found: try written(found, first), missed: try written(missed, first))
        let names = try life()
        names.expect(in: "comics")
        #expect(names.unseen(in: "comics") == [""])
        try names.learn("comics", "Saga.cbz")
        names.setLearned("comics", except: ["closed"])
        #expect(!names.isLearned("comics") && names.unseen(in: "comics") == ["closed"])
        #expect(try read(data.found, names) == found)
        #expect(throws: Fault.self) { try read(data.missed, names) }
        try names.learn("comics", "closed/Heron.cbz")
        #expect(try read(data.missed, names) == missed)
    }

    @Test("A name that is no longer hidden is known again once the ledger learns it")
    func noLongerHidden() throws {
        let data = try written(comic, try life())
        let names = try life()
        names.hide { _, _ in false }
        names.expect(in: "comics")
        try names.learn("comics", "Saga.cbz")
        #expect(try read(data, names) == comic)
    }

    @Test("The ledger lists the places with hidden names: of files, of jobs, and in open steps")
    func places() async throws {
        let ledger = try Ledger.fresh(folder.path)
        ledger.names.hide { place, _ in place != "notes" }
        // Characters that JSON has to escape.
        let roots = ["notes", "comics", "inbox", "sealed", "empty"].map {
            (name: $0, root: BytePath("/srv/\"\($0)\""))
        }
        ledger.names.locate { path in
            roots.compactMap { place in path.relative(to: place.root).map { (place.name, place.root, $0) } }.first
        }
        let names = ledger.names
        func told() async throws -> [String] { try await ledger.read { try $0.placesWithTokens(roots) } }
        @Sendable func file(_ path: BytePath, in place: String) -> FileRecord {
            FileRecord(place: place, path: path, fingerprint: Sample.print(1), hash: nil, version: 1)
        }
        try await ledger.write { try $0.setFile(file("a.md", in: "notes")) }
        #expect(try await told().isEmpty)
        try await ledger.write { transaction in
            try transaction.setFile(file("Saga.cbz", in: "comics"))
            _ = try transaction.addJob(Sample.job("j"), steps: Sample.steps("j"))
        }
        #expect(try await told() == ["comics", "inbox"])
        let intent = String(decoding: try written("/srv/\"sealed\"/x", names), as: UTF8.self)
        try await ledger.write { try $0.setIntent(Sample.steps("j")[0], intent) }
        #expect(try await told() == ["comics", "inbox", "sealed"])
    }

    /// As sealed by earlier versions.
    private func sealedOnce(_ text: [UInt8], _ key: [UInt8]) throws -> [UInt8] {
        let nonce = try SecureRandom.bytes(16)
        let covered = try stride(from: 0, to: text.count, by: 32).flatMap { start in
            zip(text[start...], try HMACSHA256.tag(key, Array("cover:\(start):".utf8), nonce)).map { $0 ^ $1 }
        }
        return nonce + (try HMACSHA256.tag(key, Array("tag:".utf8), nonce, covered).prefix(16)) + covered
    }

    @Test("A sealed name opens with its own key only, and only equal texts are sealed alike")
    func sealing() throws {
        let coding = try life().coding
        let texts = ["", "a", String(repeating: "long ", count: 100)].map { Array($0.utf8) }
        for text in texts {
            let sealed = try coding.seal(text)
            #expect(try coding.open(sealed) == text && coding.seal(text) == sealed)
            for index in sealed.indices {
                var changed = sealed
                changed[index] ^= 1
                #expect(throws: Fault.self) { try coding.open(changed) }
            }
            let other = try HiddenNameTests().life().coding
            #expect(throws: Fault.self) { try other.open(sealed) }
        }
        // Two different texts do not even share a nonce.
        let nonces = try texts.map { Array(try coding.seal($0)[1..<13]) }
        #expect(Set(nonces).count == texts.count)
    }

    @Test("Names sealed by an earlier version can be opened, and are sealed again when the ledger is opened")
    func sealedBefore() async throws {
        let names = try life()
        _ = try names.stored("comics", "Saga.cbz")
        let key = Array(try #require(FileManager.default.contents(atPath: folder.path.appending("names.key").text)))
        let text = Array("which archive it was, in more than one block of thirty-two bytes".utf8)
        let old = try sealedOnce(text, key)
        #expect(try names.coding.open(old) == text)
        let intents = [old, try sealedOnce(text, [UInt8](repeating: 1, count: 32))].map {
            "{\"fate\":\"remove\",\"sealed\":\"\(hexadecimal($0))\",\"vault\":\"main\"}"
        }
        do {
            let ledger = try Ledger.open(directory: folder.path).ledger
            // As left by that version.
            try await ledger.write { transaction in
                try transaction.setMeta("sealing", nil)
                for (index, intent) in intents.enumerated() {
                    _ = try transaction.addJob(Sample.job("j\(index)"), steps: Sample.steps("j\(index)"))
                    try transaction.setIntent(Sample.steps("j\(index)")[0], intent)
                }
            }
            try ledger.close()
        }
        for _ in 1...2 {
            let ledger = try Ledger.open(directory: folder.path).ledger
            let found = try await ledger.read { transaction in
                try (0...1).map { try transaction.steps(of: "j\($0)")[0].intent ?? "" }
            }
            let expected = hexadecimal(try names.coding.seal(text))
            #expect(found[0] == "{\"fate\":\"remove\",\"sealed\":\"\(expected)\",\"vault\":\"main\"}")
            #expect(found[1] == intents[1], "nobody can open it, and nobody destroys it")
            try ledger.close()
        }
    }

    @Test("A file that was missing when its place was seen is gone, and nobody waits for it")
    func gone() throws {
        let data = try written(comic, try life())
        let names = try life()
        names.expect(in: "comics")
        names.setLearned("comics")
        let path = try #require(try read(data, names))
        #expect(HiddenNames.isToken(path) && path.parent == "/srv/comics")
    }
}
