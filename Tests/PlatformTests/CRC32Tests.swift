import Platform
import TestSupport
import Testing

@Suite("CRC-32") struct CRC32Tests {
    @Test("It is the checksum of ZIP") func checksumZip() {
        #expect(CRC32.of(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(CRC32.of([]) == 0)
    }

    @Test("It is the same however the bytes are split") func whateverPartsBytes() {
        var random = SeededGenerator(for: "parts of a checksum")
        let bytes = (0..<1000).map { _ in UInt8.random(in: 0...255, using: &random) }
        for _ in 0..<50 {
            let (first, second) = (Int.random(in: 0...1000, using: &random), Int.random(in: 0...1000, using: &random))
            var crc = CRC32()
            for part in [
                bytes[..<min(first, second)], bytes[min(first, second)..<max(first, second)],
                bytes[max(first, second)...],
            ] {
                part.withUnsafeBytes { crc.update($0) }
            }
            #expect(crc.value == CRC32.of(bytes))
            let two = CRC32.combined(
                CRC32.of(Array(bytes[..<first])), CRC32.of(Array(bytes[first...])), length: Int64(1000 - first))
            #expect(two == CRC32.of(bytes))
        }
    }
}
