import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// A thief with write access to the vault's folder: every change is found, with the right error, and no byte that was
/// not sealed there ever comes out.
@Suite("Tampered objects")
struct ObjectTamperingTests {
    private let scene: ObjectScene

    init() throws { scene = try ObjectScene() }

    /// The expected error for a flipped bit, by its offset in the file; among chunks only the first is named.
    static func expected(_ offset: Int, isDrop: Bool = false) -> String {
        switch offset {
        // HPKE's encapsulated key, which an object of the vault does not have.
        case 64..<96 where isDrop: "damaged key"
        case 0..<8, 9, 12..<16, 60..<64, 64..<96, 176..<256: "damaged header"
        case 8, 10, 11: "unsupported"
        case 16..<32: "wrong vault"
        case 32..<48: "damaged name"
        case 48..<60, 96..<144: "damaged key"
        case 144..<176: "damaged header tag"
        default: "damaged chunk 0"
        }
    }

    /// Split into parts that run in parallel.
    @Test("Every flipped bit of an object's header and of its only chunk", arguments: 0..<8)
    func everyBit(_ bit: Int) throws {
        var generator = SeededGenerator(for: "everyBit \(bit)")
        let content = Array("A comic of no pages.".utf8)
        let sealed = try scene.seal(content)
        let bytes = try scene.bytes(sealed)
        let file = try scene.file(bytes)
        var wrong: [String] = []
        // The full path for the header, for bytes close to its end, and for a sample of the rest; the others go only
        // through the cipher, where the full path ends too.
        let cipher = try ChunkCipher(
            .open, sealed.header, contentKey: sealed.contentKey, size: #require(ObjectSize(content: 20)))
        var chunk = Array(bytes[256...])
        var target = [UInt8](repeating: 0, count: 65_536)
        for offset in Array(0..<300) + Thoroughness.sample(300..<bytes.count, 200, &generator) {
            try file.write([bytes[offset] ^ 1 << UInt8(bit)], at: Int64(offset))
            let result = outcome { _ = try ObjectReader(file, sealed.id, .archive, with: .vault(scene.keys)) }
            if result != Self.expected(offset) { wrong.append("byte \(offset): \(result)") }
            try file.write([bytes[offset]], at: Int64(offset))
        }
        for offset in Thoroughness.sample(chunk.indices, 1500, &generator) {
            chunk[offset] ^= 1 << UInt8(bit)
            let opened = try chunk.withUnsafeBytes { sealed in
                try target.withUnsafeMutableBytes { try cipher.open(0, sealed, into: $0) }
            }
            if opened { wrong.append("byte \(offset + 256) opened") }
            chunk[offset] ^= 1 << UInt8(bit)
        }
        #expect(wrong.isEmpty)
        #expect(target.allSatisfy { $0 == 0 })
        #expect(try scene.readAll(file, as: sealed) == content)
    }

    @Test("Every truncation of an object", arguments: [20, 65_600, 200_000])
    func everyTruncation(_ length: Int) throws {
        var generator = SeededGenerator(for: "everyTruncation \(length)")
        let sealed = try scene.seal(pattern(length))
        let file = try scene.file(scene.bytes(sealed))
        let whole = Int(try file.status().size)
        // Nearly all lengths are impossible for an object: that check alone rejects them, and is cheap.
        let possible = Set((0..<whole).filter { ObjectSize(file: Int64($0)) != nil })
        let impossible = Thoroughness.sample(0..<whole, 500, &generator).filter { !possible.contains($0) }
        var wrong: [String] = []
        for size in (possible.union(impossible)).sorted(by: >) {
            try file.truncate(to: Int64(size))
            let result = outcome { _ = try ObjectReader(file, sealed.id, .archive, with: .vault(scene.keys)) }
            // A size that would fit another object is only detected at the chunk that should, or should not, have been
            // the last.
            let allowed = possible.contains(size) ? ["truncated", "damaged chunk 0"] : ["truncated"]
            if !allowed.contains(result) { wrong.append("\(size): \(result)") }
        }
        #expect(wrong.isEmpty)
    }

    @Test("Extra bytes, up to a whole chunk and beyond")
    func added() throws {
        let sealed = try scene.seal(pattern(200_000))
        let bytes = try scene.bytes(sealed)
        let file = try scene.file(bytes)
        for count in Array(1...40) + [65_552, 65_553, 2 * 65_552, 1_000_000] {
            try file.write([UInt8](repeating: 0, count: count), at: Int64(bytes.count))
            #expect(outcome { _ = try scene.readAll(file, as: sealed) } == "truncated")
            try file.truncate(to: Int64(bytes.count))
        }
        #expect(outcome { _ = try scene.readAll(file, as: sealed) } == "ok")
    }

    @Test("Every swap of two chunks, every misplaced chunk, and every missing one")
    func chunks() throws {
        let sealed = try scene.seal(pattern(420_000))
        let bytes = try scene.bytes(sealed)
        let starts = Array(stride(from: 256, to: bytes.count, by: 65_552))
        #expect(starts.count == 7)
        func chunk(_ index: Int) -> [UInt8] { Array(bytes[starts[index]..<min(starts[index] + 65_552, bytes.count)]) }
        func result(_ order: [Int]) throws -> String {
            let file = Array(bytes[..<256]) + order.flatMap(chunk)
            return outcome { _ = try scene.readAll(file, as: sealed) }
        }
        let order = Array(starts.indices)
        #expect(try result(order) == "ok")
        for one in order {
            for other in order where other != one {
                var swapped = order
                swapped.swapAt(one, other)
                #expect(try result(swapped) != "ok")
                var doubled = order
                doubled[one] = other
                #expect(try result(doubled) != "ok")
                if one != 6, other != 6 {
                    // Of the complete chunks, opening reads the first and reading the others.
                    #expect(try result(doubled) == "damaged chunk \(one)")
                    #expect(try result(swapped) == "damaged chunk \(min(one, other))")
                }
            }
            #expect(try result(order.filter { $0 != one }) != "ok")
        }
        // The last one moved up to where a shorter object would have it.
        for count in 0..<6 { #expect(try result(Array(0..<count) + [6]) != "ok") }
    }

    @Test("Swapped objects, and objects combined from two")
    func objects() throws {
        let one = try scene.seal(pattern(1000))
        let other = try scene.seal(pattern(1000))
        let (first, second) = (try scene.bytes(one), try scene.bytes(other))
        #expect(outcome { _ = try scene.readAll(second, as: one) } == "damaged name")
        #expect(outcome { _ = try scene.readAll(Array(first[..<256] + second[256...]), as: one) } == "damaged chunk 0")
        // Any field of the header taken from the other.
        for (range, result) in [
            (32..<48, "damaged name"), (48..<60, "damaged key"), (96..<144, "damaged key"),
            (144..<176, "damaged header tag"), (48..<144, "damaged key"), (96..<176, "damaged key"),
        ] {
            var mixed = first
            mixed.replaceSubrange(range, with: second[range])
            #expect(outcome { _ = try scene.readAll(mixed, as: one) } == result)
        }
        // The other's complete header, under the other's own name: the chunks are bound to it.
        let mixed = Array(second[..<256] + first[256...])
        #expect(outcome { _ = try scene.readAll(mixed, as: other) } == "damaged chunk 0")
    }

    @Test("Objects of another vault, kind, wrap or generation")
    func confusions() throws {
        let other = try VaultSecrets.generate(for: .random())
        let twin = try VaultSecrets.generate(for: scene.secrets.id)
        let archive = try scene.seal([1])
        func open(_ sealed: SealedObject, _ kind: ObjectKind, _ key: OpeningKey) -> String {
            outcome { _ = try ObjectReader(sealed.file, sealed.id, kind, with: key) }
        }
        #expect(open(archive, .archive, .vault(other.keys)) == "wrong vault")
        #expect(open(archive, .archive, .vault(twin.keys)) == "damaged key")
        #expect(open(archive, .snapshot, .snapshot(scene.keys, generation: 1)) == "damaged key")
        #expect(open(archive, .archive, .keyPair(scene.secrets.keyPair, scene.secrets.id)) == "damaged key")
        for kind in ObjectKind.allCases where kind != .archive {
            #expect(open(archive, kind, .vault(scene.keys)) == "damaged content")
        }
        let snapshot = try scene.seal([1], .snapshot, for: .snapshot(scene.keys, generation: 3))
        #expect(open(snapshot, .snapshot, .snapshot(scene.keys, generation: 3)) == "ok")
        for generation in [0, 2, 4, UInt64.max] {
            #expect(open(snapshot, .snapshot, .snapshot(scene.keys, generation: generation)) == "damaged key")
        }
        #expect(open(snapshot, .snapshot, .vault(scene.keys)) == "damaged key")
    }

    @Test("Files of noise, of zeros, and empty ones")
    func noise() throws {
        var generator = SeededGenerator(for: "noise")
        let sealed = try scene.seal([1])
        for length in [0, 1, 255, 256, 257, 65_808, 65_809, 200_000] {
            for bytes in [randomBytes(length, &generator), [UInt8](repeating: 0, count: length)] {
                let result = outcome { _ = try scene.readAll(bytes, as: sealed) }
                #expect(ObjectSize(file: Int64(length)) == nil ? result == "truncated" : result == "damaged header")
            }
        }
    }

    @Test("Random damage of any kind never yields other bytes than those sealed")
    func randomDamage() throws {
        var generator = SeededGenerator(for: "randomDamage")
        let content = pattern(150_000)
        let sealed = try scene.seal(content)
        let bytes = try scene.bytes(sealed)
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let start = Int.random(in: damaged.indices, using: &generator)
                let length = min(Int.random(in: 1...70_000, using: &generator), damaged.count - start)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: damaged.replaceSubrange(start..<(start + length), with: randomBytes(length, &generator))
                case 1: damaged.removeSubrange(start..<(start + length))
                case 2: damaged.insert(contentsOf: damaged[start..<(start + length)], at: start)
                default:
                    let from = Int.random(in: 0...(bytes.count - length), using: &generator)
                    damaged.replaceSubrange(start..<(start + length), with: bytes[from..<(from + length)])
                }
                if damaged.isEmpty { break }
            }
            guard damaged != bytes else { continue }
            var out: [UInt8] = []
            let result = outcome {
                try ObjectReader(scene.file(damaged), sealed.id, .archive, with: .vault(scene.keys)).stream {
                    out += $0
                }
            }
            #expect(result != "ok")
            #expect(!result.hasPrefix("other"))
            #expect(out == Array(content.prefix(out.count)))
        }
    }
}
