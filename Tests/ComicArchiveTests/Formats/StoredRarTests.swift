import ComicTestSupport
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox
@testable import steward_worker

/// RAR 5 archives with BLAKE2sp instead of CRC-32: libarchive compares neither for stored entries.
@Suite("RAR 5 archives with BLAKE2sp") struct StoredRarTests {
    let folder: TemporaryFolder
    let validator: ComicValidator

    init() throws {
        folder = try TemporaryFolder("blake")
        validator = ComicValidator(worker: try builtWorker())
    }

    @Test("The checksum is BLAKE2sp with 32 bytes") func checksumBlake2sp32() {
        // Published vectors: no bytes, and 0, 1, 2 … 254. The third of Python's hashlib, as a tree.
        for (bytes, expected) in [
            ([], "dd0e891776933f43c7d032b08a917e25741f8aa9a12c12e1cac8801500f2ca4f"),
            (Array(0..<255), "25059f10605e67adfe681350666e15ae976a5a571c13cf5bc8053f430e120a52"),
            (
                (0..<5000).map { UInt8($0 * 7 & 255) },
                "fb3686642fd9f2ecb32ba5a7331a09e6aec3406bd45d37cb50403042fcf02c70"
            ),
        ] as [([UInt8], String)] {
            for step in [1, 63, 64, 65, 512, 5000] {
                var blake = Blake2sp()
                for start in stride(from: 0, to: bytes.count, by: step) {
                    bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { blake.update($0) }
                }
                #expect(ContentHash(bytes: blake.finish())?.description == expected)
            }
        }
    }

    @Test("Stored pages are verified with it") func storedPagesCompared() async throws {
        let pages = (1...3).map { picture($0) }
        let whole = try await validator.validate(try folder.write("whole.cbr", rar(pages)))
        #expect(whole.report?.pages.map(\.hash) == pages.map { ContentHash(of: $0) }, "\(whole.message)")
    }

    @Test("A flipped bit is detected wherever it is") func flippedBitFound() async throws {
        let pages = (1...3).map { picture($0) }
        let bytes = rar(pages)
        let good = Set(pages.map { ContentHash(of: $0) })
        var random = SeededGenerator(for: "BLAKE2sp flips")
        for _ in 0..<100 {
            var bytes = bytes
            let place = Int.random(in: bytes.indices, using: &random)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let verdict = try await validator.validate(try folder.write("flipped.cbr", bytes), mode: .lenient)
            for page in verdict.report?.pages ?? [] where page.damage == nil {
                #expect(page.hash.map(good.contains) == true, "a flip at \(place) gave other bytes")
            }
        }
        var broken = bytes
        broken[bytes.count - 500] ^= 1
        let verdict = try await validator.validate(try folder.write("broken.cbr", broken))
        #expect(verdict.word == "damaged-page")
        #expect(verdict.message.contains("3.png"))
    }

    @Test("Nothing is accepted without a checksum") func withoutAnyChecksum() async throws {
        let verdict = try await validator.validate(try folder.write("none.cbr", rar([picture(1)], hasHash: false)))
        #expect(verdict.word == "damaged-page")
        #expect(verdict.message.contains("no checksum"))
    }

    /// A RAR 5 archive of stored entries `1.png`, `2.png` and so on, without CRC-32.
    private func rar(_ pages: [[UInt8]], hasHash: Bool = true) -> [UInt8] {
        func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        func variable(_ value: Int) -> [UInt8] {
            value < 128 ? [UInt8(value)] : [UInt8(value & 127 | 128)] + variable(value >> 7)
        }
        func block(_ fields: [UInt8]) -> [UInt8] {
            let body = variable(fields.count) + fields
            return little(CRC32.of(body)) + body
        }
        var bytes = Rar5Headers.signature + block([1, 0, 0])
        for (index, page) in pages.enumerated() {
            var blake = Blake2sp()
            page.withUnsafeBytes { blake.update($0) }
            let record: [UInt8] = hasHash ? [34, 2, 0] + blake.finish() : []
            let name = Array("\(index + 1).png".utf8)
            let common: [UInt8] = [2, hasHash ? 3 : 2] + (hasHash ? variable(record.count) : []) + variable(page.count)
            let file = [0] + variable(page.count) + variable(0o100_644) + [0, 1] + variable(name.count) + name
            bytes += block(common + file + record) + page
        }
        return bytes + block([5, 0, 0])
    }
}
