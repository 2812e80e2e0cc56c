import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("The log on disk") struct LogTests {
    let scene: ManifestScene
    let start: ManifestHead
    let name = LogName(gen: 1, n: 0)

    init() throws {
        scene = try ManifestScene()
        start = try Sample.head(1)
    }

    /// A log of some records, including the first.
    private func written(_ names: [BytePath] = ["A.cbz", "B.cbz", "C.cbz"]) throws -> (bytes: [UInt8], ManifestHead) {
        let log = try RecordLog(name, in: scene.folder, keys: scene.keys, after: start)
        for name in names { try log.append(.added(try Sample.entry(name))) }
        return (try scene.bytes("log-1-0"), log.head)
    }

    private func read(_ bytes: [UInt8], _ keys: VaultKeys? = nil) throws -> LogContents {
        try LogContents(bytes, name: name, keys: keys ?? scene.keys, after: start)
    }

    @Test("Appended records are read back in order") func appendedReadBack() throws {
        let (bytes, head) = try written()
        let contents = try read(bytes)
        #expect(contents.records.first == .follows(log: nil, start))
        #expect(contents.records.count == 4)
        #expect(contents.end == head)
        #expect(contents.end.seq == 4)
        #expect(contents.rest == nil)
    }

    @Test("A log is created once and never reopened to append") func logMadeOnce() throws {
        _ = try written([])
        let before = try scene.bytes("log-1-0")
        #expect(throws: Fault.self) {
            try RecordLog(name, in: scene.folder, keys: scene.keys, after: start)
        }
        #expect(try scene.bytes("log-1-0") == before)
    }

    @Test("Wherever it is truncated, the earlier records remain") func whereverCutRecords() throws {
        let (bytes, _) = try written()
        let whole = try read(bytes)
        let ends = try recordEnds(bytes)
        for length in 0..<bytes.count {
            let contents = try read(Array(bytes[..<length]))
            let expected = ends.prefix { $0 <= length }.count
            #expect(contents.records == Array(whole.records.prefix(expected)))
            let isClean = expected > 0 && ends[expected - 1] == length
            #expect((contents.rest == nil) == isClean)
            #expect(contents.rest?.mayBeTorn != false, "cut at \(length)")
        }
    }

    @Test("Every flipped bit ends the chain there") func everyFlippedBit() throws {
        let (bytes, _) = try written(["A.cbz", "B.cbz"])
        let whole = try read(bytes)
        let ends = try recordEnds(bytes)
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            let contents = try read(flipped)
            let good = bit / 8 < LogHeader.size ? 0 : ends.prefix { $0 <= bit / 8 }.count
            #expect(contents.records == Array(whole.records.prefix(good)), "bit \(bit)")
            let rest = try #require(contents.rest)
            // A single bad record at the end may be an interrupted write; a good one after it proves that it was not.
            if good + 1 < ends.count, good > 0 { #expect(!rest.mayBeTorn, "bit \(bit)") }
        }
    }

    @Test("Records removed, swapped or repeated end the chain there") func recordsTakenSwapped() throws {
        let (bytes, _) = try written()
        let whole = try read(bytes)
        let ends = [LogHeader.size] + (try recordEnds(bytes))
        let header = Array(bytes[..<LogHeader.size])
        let parts = zip(ends, ends.dropFirst()).map { Array(bytes[$0..<$1]) }
        let orders = [
            [0, 1, 3], [0, 2, 3], [1, 2, 3], [0, 2, 1, 3], [0, 1, 1, 2, 3], [3, 2, 1, 0], [0, 1, 2, 3, 2],
        ]
        for order in orders {
            let contents = try read(header + order.flatMap { parts[$0] })
            let good = zip(order, 0...).prefix { $0 == $1 }.count
            #expect(contents.records == Array(whole.records.prefix(good)), "\(order)")
            #expect(contents.rest != nil)
        }
    }

    @Test("A log of another vault, name or position does not open") func logAnotherVault() throws {
        let (bytes, _) = try written()
        let other = try VaultKeys(master: .random(32), id: scene.keys.id)
        #expect(try read(bytes, other).records.isEmpty)
        let renamed = try LogContents(bytes, name: LogName(gen: 1, n: 1), keys: scene.keys, after: start)
        #expect(renamed.rest?.damage == .header(LogName(gen: 1, n: 1)))
        let elsewhere = try LogContents(bytes, name: name, keys: scene.keys, after: try Sample.head(1))
        #expect(elsewhere.records.isEmpty)
    }

    @Test("Two texts at one position have two keys") func twoTextsAtOnePlaceHaveTwoKeys() throws {
        let cipher = try RecordCipher(scene.keys, log: name, salt: SecureRandom.bytes(32))
        let one = try cipher.seal(Array("one text".utf8), seq: 5, previous: start.tag)
        let other = try cipher.seal(Array("two text".utf8), seq: 5, previous: start.tag)
        #expect(one[4..<20] != other[4..<20])
        // With one key and nonce, the difference of the ciphertexts would equal that of the texts.
        let difference = zip(one[20...], other[20...]).map { $0 ^ $1 }.prefix(8)
        #expect(Array(difference) != zip("one text".utf8, "two text".utf8).map { $0 ^ $1 })
        #expect(try cipher.seal(Array("one text".utf8), seq: 5, previous: start.tag) == one)
    }

    @Test("Records out of bounds are rejected") func recordsOutOfBoundsAreRefused() throws {
        for (form, most) in [(LogForm.exact, 65_520), (.padded, 65_516)] {
            let cipher = try RecordCipher(scene.keys, log: name, salt: SecureRandom.bytes(32), form: form)
            let sealed = try cipher.seal([UInt8](repeating: 1, count: most), seq: 1, previous: start.tag)
            #expect(try cipher.open(sealed, at: 0, seq: 1, previous: start.tag)?.plaintext.count == most)
            #expect(throws: Fault.self) {
                try cipher.seal([UInt8](repeating: 1, count: most + 1), seq: 1, previous: start.tag)
            }
            #expect(throws: Fault.self) { try cipher.seal([], seq: 1, previous: start.tag) }
        }
    }

    @Test("Records of any change, with names of any length, have one size on disk")
    func oneSize() throws {
        let cipher = try RecordCipher(scene.keys, log: name, salt: SecureRandom.bytes(32))
        var records = try Sample.records()
        records += try ["A.cbz", String(repeating: "A", count: 200) + ".cbz"].map {
            .renamed(try .random(), BytePath($0))
        }
        let sizes = try records.map { try cipher.seal($0.encoded, seq: 1, previous: start.tag).count }
        #expect(Set(sizes) == [20 + 1024 + 16])
        for record in records {
            let sealed = try cipher.seal(record.encoded, seq: 1, previous: start.tag)
            let opened = try #require(try cipher.open(sealed, at: 0, seq: 1, previous: start.tag))
            #expect(try ManifestRecord(decoding: opened.plaintext) == record)
        }
        // Longer ones share sizes too.
        let long = try (1...200).map {
            try cipher.seal([UInt8](repeating: 1, count: 2_000 + $0), seq: 1, previous: start.tag).count
        }
        #expect(Set(long).count <= 5)
    }

    @Test("An older log with records of varying length can be read, and the next one is padded")
    func oldForm() throws {
        let old = LogHeader(salt: try SecureRandom.bytes(32), form: .exact)
        let cipher = try RecordCipher(scene.keys, log: name, salt: old.salt, form: .exact)
        let first = ManifestRecord.follows(log: nil, start)
        let bytes = old.encoded(name, scene.keys.id) + (try cipher.seal(first.encoded, seq: 1, previous: start.tag))
        let contents = try read(bytes)
        #expect(contents.records == [first] && contents.rest == nil)
        // The same bytes under the other header cannot be opened.
        let other = LogHeader(salt: old.salt, form: .padded).encoded(name, scene.keys.id)
        #expect(try read(other + bytes.dropFirst(other.count)).records.isEmpty)
        let next = try RecordLog(LogName(gen: 1, n: 1), in: scene.folder, keys: scene.keys, after: contents.end)
        try next.append(.renamed(try .random(), "B.cbz"))
        let written = try scene.bytes("log-1-1")
        #expect(written.starts(with: LogForm.padded.magic))
        #expect(written.count == LogHeader.size + 2 * (20 + 1024 + 16))
    }

    private func recordEnds(_ bytes: [UInt8]) throws -> [Int] {
        var ends: [Int] = []
        while let end = RecordCipher.end(of: bytes, at: ends.last ?? LogHeader.size) { ends.append(end) }
        return ends
    }
}
