import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox
@testable import steward_worker

/// What the agent learns of an archive when it need not know its contents.
@Suite("Withheld names")
struct WithheldNamesTests {
    @Test(
        "The verdict is the same without them",
        arguments: [
            HostileComic.names, HostileComic.links, HostileComic.sizes, HostileComic.shapes, HostileComic.pictures,
        ])
    func sameVerdict(_ comics: [HostileComic]) async throws {
        let worker = try builtWorker()
        for comic in comics {
            let archive = try ArchiveSource.file(file(comic.make()))
            for mode in ValidationMode.allCases {
                let told = try worker.judge(archive, mode: mode, hashes: false)
                let withheld = try worker.judge(archive, mode: mode, hashes: false, names: .withheld)
                #expect(withheld.word == told.word, "\(comic), \(mode)")
                #expect(withheld.report?.format == told.report?.format, "\(comic)")
                #expect(withheld.report?.pages.count == told.report?.pages.count, "\(comic)")
                #expect(withheld.report?.damage.count == told.report?.damage.count, "\(comic)")
                #expect(
                    withheld.report?.skipped.map(\.reason.rawValue).sorted()
                        == told.report?.skipped.map(\.reason.rawValue).sorted(), "\(comic)")
            }
        }
    }

    @Test("No contents of an archive are quoted", arguments: Packing.allCases)
    func nothingQuoted(_ packing: Packing) async throws {
        let information = Array("<ComicInfo><Title>Coelacanthus</Title></ComicInfo>".utf8)
        let archive = try ArchiveSource.file(
            file(
                packed(
                    [
                        Packed(name: "Coelacanthus/2.png", bytes: picture(2)),
                        Packed(name: "Coelacanthus/1.png", bytes: picture(1)),
                        Packed(name: "Coelacanthus/torn.png", bytes: Array("Coelacanthus".utf8)),
                        Packed(name: "Coelacanthus.txt", bytes: information),
                        Packed(name: "ComicInfo.xml", bytes: information),
                    ], packing)))
        let worker = try builtWorker()
        let told = try worker.judge(archive, mode: .lenient, names: .told)
        let withheld = try worker.judge(archive, mode: .lenient, names: .withheld)
        func text(_ verdict: Verdict) -> String {
            guard case .accepted(let report) = verdict else { return verdict.message }
            return "\(report) \(report.metadata.map { String(decoding: $0.bytes, as: UTF8.self) })"
        }
        #expect(text(told).contains("Coelacanthus"))
        #expect(!text(withheld).contains("Coelacanthus"), "\(text(withheld))")
        let strict = try worker.judge(archive, mode: .strict, names: .withheld)
        #expect(strict.word == "damaged-page" && !strict.message.contains("torn"), "\(strict.message)")
    }

    @Test("A stand-in has the role of the name it replaces, and is the same each time")
    func roles() throws {
        let names = [
            "1.png", "a/b.JPG", "ComicInfo.xml", "x/metroninfo.XML", "__MACOSX/1.png", ".hidden/1.png", "_x/1.png",
            "notes.txt", "../1.png", "/etc/passwd", "a\\b.png", "c:x.png", "META-INF/container.xml", "",
        ]
        var withheld = WithheldNames()
        for kind in [EntryHeader.Kind.file, .folder, .link, .other, .unreadable] {
            for name in names {
                let header = EntryHeader(
                    position: 0, kind: kind, isEncrypted: false, declaredSize: 1, path: Array(name.utf8))
                guard case .header(let first) = withheld.replacing(.header(header)),
                    case .header(let second) = withheld.replacing(.header(header))
                else { throw TestFailure("it is no header any more") }
                #expect(first == second)
                let (own, other) = (EntryRole(of: header), EntryRole(of: first))
                if case .refused(let reason, _) = own, case .refused(let found, _) = other {
                    #expect(reason == found, "\(name)")
                } else {
                    #expect(own == other, "\(kind) \(name): \(BytePath(bytes: first.path))")
                }
            }
        }
    }

    private func file(_ bytes: [UInt8]) throws -> Descriptor {
        let file = try Descriptor(inMemory: "comic.cbz")
        try file.write(bytes, at: 0)
        return file
    }
}
