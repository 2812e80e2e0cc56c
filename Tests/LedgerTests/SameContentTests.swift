import Ledger
import Platform
import TestSupport
import Testing

@Suite("Files with the same content") struct SameContentTests {
    private let ledger: Ledger

    init() throws { ledger = try .inMemory() }

    private func found(_ size: Int64, _ text: String) async throws -> [String] {
        try await ledger.read { try $0.contents(in: "inbox", ofSize: size, Sample.hash(text)) }
            .sorted { $0.arrived < $1.arrived }.map(\.path.text)
    }

    private func set(_ path: BytePath, _ text: String?, inode: UInt64, size: Int64 = 4) async throws {
        var record = Sample.file(path, inode: inode)
        record.fingerprint.size = size
        record.hash = text.map { Sample.hash($0) }
        let file = record
        try await ledger.write { try $0.setFile(file) }
    }

    @Test("Files of that size with the same or possibly the same content are found, in the order they got it")
    func order() async throws {
        try await set("b", "same", inode: 1)
        try await set("a", "same", inode: 2)
        try await set("unread", nil, inode: 3)
        try await set("else", "some", inode: 4)
        try await set("long", "same", inode: 5, size: 5)
        #expect(try await found(4, "same") == ["b", "a", "unread"])
        try await set("b", "same", inode: 1)
        #expect(try await found(4, "same") == ["b", "a", "unread"], "what is seen again has its content since before")
        try await set("b", "else", inode: 1)
        try await set("b", "same", inode: 1)
        #expect(
            try await found(4, "same") == ["a", "unread", "b"], "another content, and then this one again, is later")
        try await ledger.write { try $0.setGone("inbox", "a") }
        #expect(try await found(4, "same") == ["unread", "b"])
    }

    @Test("A renamed file has had its content since it had the old name") func renamed() async throws {
        try await set("first", "same", inode: 1)
        try await set("second", "same", inode: 2)
        try await ledger.write { transaction in
            try transaction.setGone("inbox", "first")
            var record = Sample.file("third", inode: 1)
            record.fingerprint.size = 4
            record.hash = Sample.hash("same")
            try transaction.setFile(record)
            try transaction.keepArrival("inbox", from: "first", to: "third")
        }
        #expect(try await found(4, "same") == ["third", "second"])
    }

    @Test("Attributes are stored, and examined again after the agent has set them")
    func attributes() async throws {
        var record = Sample.file("a")
        record.attributes = SeenAttributes(digests: ["owner": "0", "xattr user.x": "absent"])
        let file = record
        try await ledger.write { try $0.setFile(file) }
        let seen = try #require(try await ledger.read { try $0.file("inbox", "a")?.attributes })
        #expect(seen == file.attributes)
        let own = seen.afterOwn(["xattr user.x": "1", "mode": "644"])
        #expect(own == SeenAttributes(digests: ["owner": "0", "xattr user.x": "1"], isOpen: true))
        #expect(seen.afterOwn(nil) == SeenAttributes(digests: [:], isOpen: true))
    }
}
