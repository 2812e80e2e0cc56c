import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Object sizes")
struct ObjectSizeTests {
    /// Padmé as defined in the paper: the number of zero low bits is the exponent minus the exponent's own length in
    /// bits.
    private func padme(_ length: Int64) -> Int64 {
        let exponent = Int64(log2(Double(length)).rounded(.down))
        let digits = Int64(log2(Double(exponent)).rounded(.down)) + 1
        let step = Int64(1) << (exponent - digits)
        return (length + step - 1) / step * step
    }

    @Test("Are Padmé sizes, of at least one chunk")
    func padding() throws {
        for (length, padded) in [(0, 65_536), (1, 65_536), (65_520, 65_536), (65_521, 67_584), (1 << 20, 1_081_344)] {
            #expect(ObjectSize(content: Int64(length))?.padded == Int64(padded))
        }
        var generator = SeededGenerator(for: "padding")
        for _ in 0..<20_000 {
            // Below 2^46, so that the reference's floating-point logarithms are exact enough.
            let length = Int64.random(
                in: 65_536...(1 << Int64.random(in: 17...46, using: &generator)), using: &generator)
            let padded = ObjectSize.padme(length)
            #expect(padded == padme(length))
            #expect(padded >= length)
            #expect(Double(padded) <= Double(length) * 1.12)
            #expect(ObjectSize.padme(padded) == padded)
        }
    }

    @Test("Give the content's size from the file's size alone; other sizes are invalid")
    func roundTrip() throws {
        var generator = SeededGenerator(for: "roundTrip")
        for _ in 0..<20_000 {
            let length = Int64.random(in: 0...(1 << Int64.random(in: 1...47, using: &generator)), using: &generator)
            let size = try #require(ObjectSize(content: length))
            #expect(ObjectSize(file: size.file) == size)
            #expect(size.length(ofChunk: size.chunks - 1) >= 1)
            #expect(size.file == 256 + size.padded + 16 * size.chunks)
            for wrong in [size.file - 1, size.file + 1, size.file - 16, size.file + 16, size.file + 17] {
                #expect(ObjectSize(file: wrong) == nil)
            }
        }
    }

    @Test("Have a limit, and no number overflows")
    func limits() throws {
        #expect(ObjectSize(content: (1 << 48) - 16)?.padded == 1 << 48)
        #expect(ObjectSize(content: (1 << 48) - 15) == nil)
        #expect(ObjectSize(content: .max) == nil)
        #expect(ObjectSize(content: -1) == nil)
        for file in [Int64.min, -1, 0, 255, 256, 257, 65_807, .max, .max - 1] { #expect(ObjectSize(file: file) == nil) }
        #expect(ObjectSize(content: (1 << 48) - 16)?.chunks == 1 << 32)
    }
}
