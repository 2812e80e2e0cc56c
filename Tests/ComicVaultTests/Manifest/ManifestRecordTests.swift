import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Records of the manifest") struct ManifestRecordTests {
    @Test("Every kind of record is read back as written") func everyKindRecord() throws {
        for record in try Sample.records() { #expect(try ManifestRecord(decoding: record.encoded) == record) }
    }

    @Test("A record with a missing or an extra byte is invalid") func recordCutShort() throws {
        for record in try Sample.records() {
            let bytes = record.encoded
            for length in 0..<bytes.count {
                #expect(throws: RecordDecoder.Mismatch.self) { try ManifestRecord(decoding: Array(bytes[..<length])) }
            }
            #expect(throws: RecordDecoder.Mismatch.self) { try ManifestRecord(decoding: bytes + [0]) }
        }
    }

    @Test("Any bytes are read or rejected, and what was read is written back unchanged") func anyBytesRead() throws {
        var generator = SeededGenerator(for: "anyBytesAreReadOrRefused")
        var (read, refused) = (0, 0)
        for record in try Sample.records() {
            for _ in 0..<300 {
                var bytes = record.encoded
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                do {
                    let found = try ManifestRecord(decoding: bytes)
                    #expect(try ManifestRecord(decoding: found.encoded) == found)
                    read += 1
                } catch is RecordDecoder.Mismatch {
                    refused += 1
                }
            }
        }
        #expect(read > 100 && refused > 100, "\(read) were read, \(refused) refused")
    }

    @Test("The largest entry fits in a record") func largestEntryFits() throws {
        let long = String(repeating: "x", count: 8192)
        let entry = ComicEntry(
            id: try .random(), name: BytePath(String(repeating: "n", count: 255)),
            objects: try [.archive, .pagePack, .thumbnails, .metadata].map { try Sample.object($0) },
            summary: ComicSummary(title: long, series: long, number: long, pages: 1, format: long),
            duplicateTag: try SecureRandom.bytes(32), source: long, key: Array(long.utf8), drop: try .random(),
            added: .now())
        try entry.check()
        #expect(RecordCipher.lengths.contains(ManifestRecord.added(entry).encoded.count + AESGCM.tagSize))
    }
}

@Suite("The manifest built from records") struct ManifestStateTests {
    @Test("Comics are found by name, key, content and object") func comicsFoundName() throws {
        var state = ManifestState()
        let entry = try Sample.entry("One.cbz", key: "job")
        try state.apply(.added(entry))
        #expect(state.comic(named: "One.cbz") == entry)
        #expect(state.comic(key: Array("job".utf8)) == entry)
        #expect(state.comics(duplicateTag: entry.duplicateTag) == [entry])
        #expect(state.comic(owning: entry.objects[1].id) == entry)
        #expect(state.comic(key: []) == nil)
    }

    @Test("A record that does not fit changes nothing") func fitChangesNothing() throws {
        var state = ManifestState()
        let entry = try Sample.entry("One.cbz", key: "job")
        try state.apply(.added(entry))
        let before = state
        let strange: [ManifestRecord] = [
            .added(entry), .added(try Sample.entry("One.cbz")), .added(try Sample.entry("Two.cbz", key: "job")),
            .added(try Sample.entry("a/b.cbz")), .added(try Sample.entry("..")),
            .removed(entry.id, objects: [], .now()), .removed(try .random(), objects: [], .now()),
            .renamed(try .random(), "Three.cbz"), .renamed(entry.id, ""),
            .bookmarked(try .random(), Bookmark(page: 1, note: "", time: .now())),
        ]
        for record in strange {
            #expect(throws: Fault.self, "\(record)") { try state.apply(record) }
            #expect(state == before)
        }
    }

    @Test("A name that is taken gets a number") func nameTakenNumbered() throws {
        var state = ManifestState()
        #expect(try state.freeName("X.cbz") == "X.cbz")
        for name: BytePath in ["X.cbz", "X (1).cbz"] { try state.apply(.added(try Sample.entry(name))) }
        #expect(try state.freeName("X.cbz") == "X (2).cbz")
        try state.apply(.renamed(try #require(state.comic(named: "X.cbz")).id, "Y.cbz"))
        #expect(try state.freeName("X.cbz") == "X.cbz")
        #expect(try state.freeName("Y.cbz") == "Y (1).cbz")
    }

    @Test("A removed comic leaves only its tombstone") func removedComicLeaves() throws {
        var state = ManifestState()
        let entry = try Sample.entry("One.cbz", key: "job")
        let objects = entry.objects.map(\.id)
        try state.apply(.added(entry))
        try state.apply(.progress(entry.id, ReadingProgress(page: 3, isFinished: false, time: .now())))
        try state.apply(.bookmarked(entry.id, Bookmark(page: 3, note: "", time: .now())))
        try state.apply(.removed(entry.id, objects: objects, .now()))
        var expected = ManifestState()
        for object in objects { expected.bury(object) }
        #expect(state == expected)
        // The same bytes may return as another object; the destroyed ones may not.
        #expect(throws: Fault.self) { try state.apply(.added(entry)) }
    }
}
