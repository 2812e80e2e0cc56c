import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Content hashes")
struct ContentHashTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func sha256sum(_ path: BytePath) throws -> String {
        String(try runProgram(["/usr/bin/sha256sum", path.text]).check().output.prefix(64))
    }

    @Test(
        "They match sha256sum, for sizes around the buffer size",
        arguments: [0, 1, 262_143, 262_144, 262_145, 800_000])
    func againstTool(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let path = try folder.write("file", bytes)
        let expected = try sha256sum(path)
        #expect(try ContentHash.ofFile(path).description == expected)
        #expect(ContentHash(of: bytes).description == expected)
    }

    @Test("Hashing in parts equals hashing the whole")
    func parts() {
        var hasher = StreamingHash()
        for part in ["ab", "", "c"] { hasher.update(Array(part.utf8)) }
        let hash = hasher.finish()
        #expect(hash.description == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("Their text form is read back, and nothing else is accepted")
    func text() throws {
        let hash = ContentHash(of: Array("x".utf8))
        #expect(ContentHash(hex: hash.description) == hash)
        #expect(ContentHash(hex: hash.description.uppercased()) == hash)
        #expect(ContentHash(hex: String(hash.description.dropLast())) == nil)
        #expect(ContentHash(hex: hash.description.dropLast() + "g") == nil)
        #expect(ContentHash(hex: String(repeating: "ä", count: 32)) == nil)
        #expect(ContentHash(bytes: [1, 2]) == nil)
        let json = try JSONEncoder().encode([hash])
        #expect(try JSONDecoder().decode([ContentHash].self, from: json) == [hash])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ContentHash].self, from: Data("[\"00\"]".utf8))
        }
    }
}
