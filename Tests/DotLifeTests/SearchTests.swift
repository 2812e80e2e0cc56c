import DotLifeDomain
import DotLifePersistence
import Foundation
import Platform
import TestSupport
import Testing

@Suite("Searching captures")
struct SearchTests {
    private let folder: TemporaryFolder
    private let store: CaptureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await CaptureStore.open(in: folder.path).store
    }

    private func marked(_ hit: SearchHit) -> String { hit.text { "[\($0)]" } }

    @Test("The best match comes first, with the match marked")
    func ranked() async throws {
        let filler = String(repeating: "words about something else entirely ", count: 40)
        let aside = try await store.create(.note(filler + "cheese once"))
        let about = try await store.create(.note("cheese, cheese and more cheese"))
        let hits = try await store.search("cheese")
        #expect(hits.map(\.record.id) == [about.id, aside.id])
        #expect(hits[0].rank < hits[1].rank)
        #expect(marked(hits[0]) == "[cheese], [cheese] and more [cheese]")
        #expect(marked(hits[1]).contains("[cheese] once") && marked(hits[1]).hasPrefix("…"))
        #expect(marked(hits[1]).utf8.count < 200)
    }

    @Test("Among equals the newest comes first, up to the requested number")
    func newest() async throws {
        let time = try at("2026-11-21T09:30:00Z")
        for minute in 0..<5 {
            _ = try await store.create(.note("tea", timestamp: time.addingTimeInterval(Double(minute % 3) * 60)))
        }
        let hits = try await store.search("tea", limit: 2)
        #expect(hits.map(\.record.timestamp) == [time.addingTimeInterval(120), time.addingTimeInterval(60)])
        #expect(try await store.search("tea", limit: 0).isEmpty)
    }

    @Test("Whole words come before prefixes, and each capture once")
    func wholeWords() async throws {
        let whole = try await store.create(.note("a long note that has the word tea in it, among many others"))
        let longer = try await store.create(.note("teapot"))
        _ = try await store.create(.note("steam"))
        #expect(try await store.search("tea").map(\.record.id) == [whole.id, longer.id])
        #expect(try await store.search("te").count == 2)
        #expect(try await store.search("t").isEmpty)
        #expect(try await store.search("a lo").map(\.record.id) == [whole.id])
    }

    @Test(
        "Accents are found as one character and as two, in small letters and capitals",
        arguments: ["Достоевский", "κόσμος", "한국어", "がぎぐ", "café"])
    func accents(_ word: String) async throws {
        let forms = [word.precomposedStringWithCanonicalMapping, word.decomposedStringWithCanonicalMapping]
        for form in forms { _ = try await store.create(.note("one \(form) more")) }
        for form in forms + forms.map({ $0.uppercased() }) + forms.map({ String($0.dropLast()) }) {
            #expect(try await store.search("\(form) one").count == 2, "\(Array(form.unicodeScalars))")
        }
    }

    @Test("If more match than are ranked, the last stored come first")
    func many() async throws {
        let count = CaptureStore.ranked + 5
        let lines = (0..<count).map { number in
            let id = UUID().uuidString
            return """
                {"id":"\(id)","time":"2026-11-21T09:30:00.000000000Z","created":"2026-11-21T09:30:00.000000000Z",\
                "moment":0,"kind":0,"note":"tea number \(number)"}
                """
        }
        let header = #"{"captures":\#(count),"format":"dotlife-captures","version":1}"#
        let two = try TemporaryFolder()
        try two.write("captures.jsonl", ([header] + lines).joined(separator: "\n"))
        #expect(try await store.importCaptures(from: two.path).added == count)
        let hits = try await store.search("tea", limit: 3)
        #expect(hits.map { $0.record.noteText } == (1...3).map { "tea number \(count - $0)" })
        #expect(hits.allSatisfy { $0.rank == 0 })
        #expect(marked(hits[0]) == "[tea] number \(count - 1)")
        #expect(try await store.search("tea number 17").first?.rank ?? 0 < 0)
    }

    @Test("File names are found, even if part of them is not text")
    func fileNames() async throws {
        let photo = try await store.create(
            .photo([
                AttachmentSource(.data(Data(Picture.png)), originalName: Array("Urlaub am Meer.png".utf8)),
                AttachmentSource(
                    .data(Data(Picture.plainJPEG)), originalName: [0xFF, 0x2D] + Array("strand.jpg".utf8)),
            ]))
        for word in ["urlaub", "meer png", "strand"] {
            #expect(try await store.search(word).map(\.record) == [photo], "\(word)")
        }
        #expect(try await marked(#require(store.search("meer").first)).contains("am [Meer]"))
        try await store.delete(byID: photo.id)
        #expect(try await store.search("urlaub").isEmpty)
    }

    @Test("Marks differ from text that looks like them")
    func lookalikes() async throws {
        _ = try await store.create(.note("[tea] <b>tea</b> \u{1}tea\u{2}"))
        let hit = try #require(try await store.search("tea").first)
        #expect(hit.snippet.filter(\.isMatch).map(\.text) == ["tea", "tea", "tea"])
        #expect(hit.snippet.map(\.text).joined() == "[tea] <b>tea</b> \u{1}tea\u{2}")
    }

    @Test(
        "Query syntax is treated as plain words",
        arguments: [
            "\"", "a AND", "NEAR(", "col:x", "*", "^", "a*b", "-", "(", "{x}:y", "\u{0}", "'; DROP TABLE experience",
        ])
    func hostileQueries(_ text: String) async throws {
        _ = try await store.create(.note("and col x y drop table experience"))
        _ = try await store.search(text)
        #expect(try await store.fetch(ExperienceFetchRequest()).count == 1)
    }
}
