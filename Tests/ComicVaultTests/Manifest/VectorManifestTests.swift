import Platform
import TestSupport
import Testing

@testable import ComicVault

/// The vectors whose plaintext is checked as well: logs with their records, snapshots, deposits with their envelopes.
@Suite("The format's own vectors: manifest and deposits")
struct VectorManifestTests {
    private let scene: ObjectScene

    init() throws { scene = try ObjectScene() }

    private static func cases(_ type: String) -> [FormatCase] { FormatCase.all.filter { $0["type"] == type } }

    private func head(_ text: String, _ name: LogName) throws -> ManifestHead {
        let words = text.split(separator: " ")
        let seq = try #require(words.first.flatMap { UInt64($0) })
        // The snapshot's own generation appears in both.
        return ManifestHead(gen: name.gen, seq: seq, tag: try unhex(words[1]))
    }

    @Test("Each log has the outcome and the valid records its case states", arguments: cases("log"))
    func logs(_ known: FormatCase) throws {
        let secrets = try known.secrets()
        let name = try #require(LogName(BytePath(known["name"])))
        let start = try head(known["start"], name)
        let contents: LogContents
        do {
            contents = try LogContents(known.bytes, name: name, keys: secrets.keys, after: start)
        } catch ManifestDamage.contradiction {
            #expect(known["outcome"] == "contradiction")
            return
        }
        #expect(contents.records.count == Int(known["records"]))
        guard let rest = contents.rest else {
            #expect(known["outcome"] == "ok")
            if known["end"] != "" { #expect(contents.end == (try head(known["end"], name))) }
            if known["content"] != "" {
                let plain = contents.records.flatMap { UInt32($0.encoded.count).bigEndianBytes + $0.encoded }
                #expect(plain.count == Int(known["length"]))
                #expect(ContentHash(of: plain).description == known["content"])
            }
            return
        }
        let what =
            switch rest.damage {
            case .header(name): "log header"
            case .record(name, let seq): "record \(seq)"
            default: "\(rest.damage)"
            }
        #expect("\(rest.mayBeTorn ? "torn" : "damaged") \(what)" == known["outcome"])
    }

    @Test("Records sealed with a case's salt make the case's file", arguments: cases("log").filter { $0["salt"] != "" })
    func sealsLogs(_ known: FormatCase) throws {
        let secrets = try known.secrets()
        let name = try #require(LogName(BytePath(known["name"])))
        let start = try head(known["start"], name)
        let records = try LogContents(known.bytes, name: name, keys: secrets.keys, after: start).records
        let found = try #require(LogHeader(known.bytes, name: name, vault: secrets.id))
        let header = LogHeader(salt: try unhex(known["salt"]), form: found.form)
        let cipher = try RecordCipher(secrets.keys, log: name, salt: header.salt, form: header.form)
        var bytes = header.encoded(name, secrets.id)
        var (seq, tag) = (start.seq, start.tag)
        for record in records {
            seq += 1
            let sealed = try cipher.seal(record.encoded, seq: seq, previous: tag)
            tag = Array(sealed.suffix(AESGCM.tagSize))
            bytes += sealed
        }
        #expect(bytes == known.bytes)
    }

    @Test("A log with every kind of record has the content its author wrote")
    func everyRecord() throws {
        let known = try #require(Self.cases("log").first { $0.name == "log-every-record" })
        let name = LogName(gen: 7, n: 0)
        let records = try LogContents(
            known.bytes, name: name, keys: known.secrets().keys, after: head(known["start"], name)
        ).records
        guard case .follows(nil, _) = records[0], case .added(let one) = records[1],
            case .added(let other) = records[2],
            case .renamed(one.id, "Ünïcode.cbz") = records[3],
            case .progress(one.id, ReadingProgress(page: 7, isFinished: true, time: Timestamp(nanoseconds: 77))) =
                records[4],
            case .bookmarked(
                one.id, Bookmark(page: .max, note: "Seite äöü\n", time: Timestamp(nanoseconds: 78))) = records[5],
            case .bookmarkRemoved(one.id, page: .max) = records[6], case .progress(one.id, nil) = records[7],
            case .removed(other.id, [other.objects[0].id], Timestamp(nanoseconds: 79)) = records[8]
        else { throw TestFailure("\(records)") }
        #expect(one.name == "Amazing.cbz" && other.name == "Other (1).cbz")
        #expect(one.objects.map(\.kind) == [.archive, .thumbnails, .metadata])
        #expect(one.objects.map(\.length) == [1000, 3000, 4000])
        #expect(
            one.summary
                == ComicSummary(
                    title: "Amazing Comic 1", series: "Amazing Comic", number: "1", pages: 24, format: "zip"))
        #expect(one.source == "comics" && one.key == Array("job 1".utf8) && one.drop == nil)
        #expect(one.added == Timestamp(nanoseconds: 1_700_000_000_123_456_789))
        #expect(other.summary == ComicSummary() && other.drop != nil && other.added == Timestamp(nanoseconds: -1))
    }

    @Test("Each snapshot has the outcome its case states", arguments: cases("snapshot"))
    func snapshots(_ known: FormatCase) throws {
        let secrets = try known.secrets()
        let id = try #require(ObjectID(hex: known["name"]))
        let reader = try ObjectReader(
            scene.file(known.bytes), id, .snapshot, with: .snapshot(secrets.keys, generation: 7))
        var bytes: [UInt8] = []
        try reader.stream { bytes += $0 }
        do {
            let content = try SnapshotContent(decoding: bytes, gen: 7)
            #expect(known["outcome"] == "ok")
            #expect(content.state.comics.count == Int(known["comics"]))
            #expect(content.state.tombstones.count == Int(known["tombstones"]))
            #expect(content.heads.map(\.seq) == [10, 20, 60])
            #expect(content.state.progress.count == 1 && content.state.bookmarks.count == 1)
            #expect(content.encoded == bytes)
            #expect(ContentHash(of: bytes).description == known["content"])
        } catch ManifestDamage.snapshot(gen: 7, _) {
            #expect(known["outcome"] == "damaged snapshot")
        }
    }

    @Test("Each deposit has the outcome its case states", arguments: cases("drop"))
    func drops(_ known: FormatCase) throws {
        let secrets = try known.secrets()
        let id = try #require(ObjectID(hex: known["name"]))
        let reader = try ObjectReader(
            scene.file(known.bytes), id, .deposit, with: .keyPair(secrets.keyPair, secrets.id))
        do {
            guard let (envelope, start) = try DropEnvelope.read(reader) else {
                #expect(known["outcome"] == "no envelope")
                return
            }
            #expect(known["outcome"] == "ok")
            let said = [
                envelope.name.bytes, Array(envelope.source.utf8), envelope.hash.bytes,
                envelope.time.nanoseconds.bigEndianBytes, envelope.key,
            ]
            #expect(try said == known["envelope"].split(separator: " ").map(unhex))
            let archive = try reader.read(at: start, count: 100)
            #expect(ContentHash(of: archive) == envelope.hash)
            #expect(envelope.encoded + archive == (try reader.read(at: 0, count: 1000)))
        } catch let fault as Fault {
            #expect(fault.kind == .refused && known["outcome"] == "refused")
        }
    }
}
