import ComicTestSupport
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Encrypted, multi-volume, solid: each is recognised in every format.
@Suite("Encrypted, part of several, solid") struct ToldApartTests {
    let folder: TemporaryFolder
    let validator: ComicValidator
    let worker: ArchiveWorker

    init() throws {
        folder = try TemporaryFolder("apart")
        worker = try builtWorker()
        validator = ComicValidator(worker: worker)
    }

    @Test("A part is recognised by its bytes or by its name") func partSeveralBytes() async throws {
        let pages = [Packed(name: "1.png", bytes: picture(1)), Packed(name: "2.png", bytes: picture(2))]
        let zip = try packed(pages)
        let sevenZip = try packed(pages, .sevenZip)
        let samples: [(BytePath, [UInt8])] = [
            ("first.cbz", [0x50, 0x4B, 7, 8] + zip.prefix(zip.count / 2)),
            ("a.z01", Array(zip.prefix(zip.count / 2))), ("a.7z.001", Array(sevenZip.prefix(sevenZip.count / 2))),
            ("a.7z.002", Array(sevenZip.suffix(sevenZip.count / 2))), ("a.r00", picture(3)),
            ("second.cbt", RawTar([.init("1.png", picture(1), kind: "M")]).bytes),
        ]
        for (name, bytes) in samples {
            let path = try folder.write(name, bytes)
            let verdict = try await validator.validate(path)
            #expect(verdict.word == "multi-volume", "\(name): \(verdict.message)")
        }
        // A complete archive is not refused because of its name.
        #expect(try await validator.validate(try folder.write("whole.001", zip)).word == "accepted")
    }

    @Test(
        .enabled(if: !sharedArchives().isEmpty, "no foreign archives beside the checkout"),
        arguments: sharedArchives().filter { path in
            ["encrypt", "multivolume", "multiarchive", "solid", "splitted"].contains { path.nameText.contains($0) }
        })
    func foreignArchivesTold(_ path: BytePath) async throws {
        let (name, verdict) = (path.nameText, try await validator.validate(path))
        if name.contains("partially") || name.contains("encryption_data") {
            // Their pages are not pictures.
            #expect(verdict.word == "no-pages")
        } else if name.contains("encrypt") {
            #expect(verdict.word == "encrypted", "\(verdict.message)")
        } else if name.contains("multi") {
            #expect(verdict.word == "multi-volume", "\(verdict.message)")
        } else if name == "rar4-solid.rar" {
            #expect(verdict.word == (ArchiveWorker.unpacksSolidRar ? "accepted" : "solid"), "\(verdict.message)")
            #expect(verdict.report?.pages.count == (ArchiveWorker.unpacksSolidRar ? 3 : nil))
        } else if name == "rar5-solid.rar" {
            #expect(verdict.report?.isSolid == true)
        }
        // A listing gives the same answer as a verdict.
        guard ["encrypted", "multi-volume"].contains(verdict.word), !name.contains("komga") else { return }
        do {
            let entries = try await worker.list(path).headers
            // If only the contents are encrypted, the names are listed; the contents are recognised as encrypted.
            #expect(verdict.word == "encrypted" && entries.contains(where: \.isEncrypted), "\(name)")
        } catch {
            #expect(explain(error).contains(verdict.word == "encrypted" ? "encrypted" : "one part of several"))
        }
    }

    @Test("A legacy name's second byte is not a backslash") func legacyNameSecond() {
        func refusal(_ bytes: [UInt8]) -> PageRules.Refusal? { PageRules.refusal(bytes) }
        let png = Array(".png".utf8)
        // 表 and ソ in Shift-JIS, and a character whose second byte has the value of a lead byte.
        #expect(refusal([0x95, 0x5C] + png) == nil)
        #expect(refusal([0x83, 0x5C, 0x2F, 0x95, 0x5C] + png) == nil)
        #expect(refusal([0x88, 0xEA, 0x97, 0x97, 0x95, 0x5C] + png) == nil)
        // After a complete character, or after a byte that is not a lead byte, it is a backslash.
        #expect(refusal([0x88, 0xEA, 0x5C] + png) == .backslash)
        #expect(refusal([0xB1, 0x5C, 0x41] + png) == .backslash)
        #expect(refusal([0xFF, 0x5C] + png) == .backslash)
        #expect(refusal([0x95, 0x5C, 0x5C] + png) == .backslash)
        // In UTF-8 it always is.
        #expect(refusal(Array("表\\1.png".utf8)) == .backslash)
        #expect(refusal(Array("é\\1.png".utf8)) == .backslash)
        // A name that escapes does so in either reading.
        #expect(refusal([0x95, 0x5C, 0x2E, 0x2E, 0x5C, 0x31] + png) == .traversal)
        #expect(refusal([0x95] + Array("\\../1.png".utf8)) == .traversal)
    }

    @Test("An archive with legacy names is read") func archiveLegacyNames() async throws {
        let name: [UInt8] = [0x95, 0x5C, 0x8E, 0x86] + Array("/1.png".utf8)
        let path = try folder.write("legacy.cbz", RawZip([RawZip.Entry(name, picture(1))]).bytes)
        let report = try #require(try await validator.validate(path).report)
        #expect(report.pages.map(\.entry.path) == ["\\x95\\x5C\\x8E\\x86/1.png"])
        #expect(report.pages.map(\.hash) == [ContentHash(of: picture(1))])
    }
}
