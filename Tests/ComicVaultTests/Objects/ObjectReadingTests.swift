import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Reading objects at any offset")
struct ObjectReadingTests {
    private let scene: ObjectScene

    init() throws { scene = try ObjectScene() }

    @Test("Any range equals the range that was sealed", arguments: [10, 65_520, 70_000, 1_200_000, 3_000_000])
    func random(_ length: Int) throws {
        var generator = SeededGenerator(for: "random \(length)")
        let bytes = pattern(length)
        let reader = try scene.open(scene.seal(bytes))
        for _ in 0..<200 {
            let offset = Int.random(in: 0...length, using: &generator)
            let most = Bool.random(using: &generator) ? 300 : length
            let count = Int.random(in: 0...most, using: &generator)
            let expected = bytes[offset...].prefix(count)
            #expect(try reader.read(at: Int64(offset), count: count) == Array(expected))
        }
    }

    @Test("Ranges at chunk boundaries")
    func borders() throws {
        let bytes = pattern(400_000)
        let reader = try scene.open(scene.seal(bytes))
        for border in stride(from: 65_536 - 16, to: 400_000, by: 65_536) {
            for offset in (border - 2)...(border + 2) {
                for count in [1, 2, 3, 65_535, 65_536, 65_537, 131_072, 131_073] {
                    #expect(try reader.read(at: Int64(offset), count: count) == Array(bytes[offset...].prefix(count)))
                }
            }
        }
    }

    @Test("Ranges outside are empty, not errors; numbers do not overflow")
    func outside() throws {
        let reader = try scene.open(scene.seal(pattern(100)))
        for (offset, count) in [(100, 1), (101, 1), (-1, 5), (0, 0), (0, -1), (.max, .max), (.min, .max)]
            as [(Int64, Int)]
        {
            #expect(try reader.read(at: offset, count: count) == [])
        }
        #expect(try reader.read(at: 99, count: .max).count == 1)
    }

    @Test("From several threads at once")
    func concurrent() async throws {
        let bytes = pattern(700_000)
        let reader = try scene.open(scene.seal(bytes))
        let pool = BlockingPool("test", threads: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await pool.run {
                        for round in 0..<100 {
                            let offset = (number * 170_003 + round * 7919) % 690_000
                            let part = try reader.read(at: Int64(offset), count: 9000)
                            #expect(part == Array(bytes[offset...].prefix(9000)))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A stream stops when its receiver stops, with the receiver's own error")
    func stoppedStream() throws {
        struct Enough: Error {}
        let reader = try scene.open(scene.seal(pattern(300_000)))
        var taken = 0
        #expect(throws: Enough.self) {
            try reader.stream {
                taken += $0.count
                if taken > 100_000 { throw Enough() }
            }
        }
        #expect(taken == 65_520 + 65_536)
    }

    @Test("Damage in one chunk does not affect the others, and is detected when it is reached")
    func damagedPart() throws {
        let bytes = pattern(300_000)
        let sealed = try scene.seal(bytes)
        var file = try scene.bytes(sealed)
        file[256 + 2 * 65_552 + 1000] ^= 1
        let reader = try ObjectReader(scene.file(file), sealed.id, .archive, with: .vault(scene.keys))
        #expect(try reader.read(at: 0, count: 131_056) == Array(bytes[..<131_056]))
        #expect(try reader.read(at: 196_592, count: 10_000) == Array(bytes[196_592...].prefix(10_000)))
        // A small part and a whole chunk use different code paths.
        for (offset, count) in [(131_056, 1), (131_056, 65_536), (131_000, 200_000), (196_591, 1)] as [(Int64, Int)] {
            #expect(outcome { _ = try reader.read(at: offset, count: count) } == "damaged chunk 2")
        }
        #expect(try reader.read(at: 131_055, count: 1) == [bytes[131_055]])
        var streamed = 0
        #expect(outcome { try reader.stream { streamed += $0.count } } == "damaged chunk 2")
        #expect(streamed == 131_056)
    }

    @Test("A file truncated while open is detected")
    func cutWhileOpen() throws {
        let sealed = try scene.seal(pattern(400_000))
        let reader = try scene.open(sealed)
        try sealed.file.truncate(to: 200_000)
        #expect(try reader.read(at: 0, count: 1000).count == 1000)
        #expect(outcome { _ = try reader.read(at: 300_000, count: 10) } == "truncated")
        #expect(outcome { _ = try reader.verify() } == "truncated")
    }

    @Test("A header changed while the file is open is detected when reading everything")
    func headerChangedWhileOpen() throws {
        let sealed = try scene.seal(pattern(10))
        let reader = try scene.open(sealed)
        try sealed.file.write([try sealed.file.read(at: 100, count: 1)[0] ^ 1], at: 100)
        #expect(outcome { _ = try reader.verify() } == "damaged header tag")
    }

    @Test("A path that is not a file is a read error, not an error of the object")
    func unreadable() throws {
        let folder = try Descriptor(scene.folder.path)
        #expect(outcome { _ = try ObjectReader(folder, .random(), .archive, with: .vault(scene.keys)) } != "ok")
    }
}
