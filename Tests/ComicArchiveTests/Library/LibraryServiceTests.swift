import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// A folder of comics, with real files.
@Suite("A folder of comics") struct LibraryServiceTests {
    private let folder: TemporaryFolder
    private let library: ComicLibrary
    private let zip: [UInt8] = [0x50, 0x4B, 3, 4, 0, 0, 0, 0]

    init() throws {
        folder = try TemporaryFolder("library")
        library = ComicLibrary(root: folder.path)
    }

    private func isThere(_ path: BytePath) throws -> Bool { try FileStatus.of(folder.path.appending(path)) != nil }

    @Test("The library lists what it knows in natural order") func libraryListsKnows() async throws {
        for name in ["b10.cbz", "b2.cbz", "z/1.cbz", ".hidden.cbz", "note.txt", "wrong.rar"] {
            try folder.write(BytePath(name), name == "note.txt" ? Array("hello".utf8) : zip)
        }
        try folder.write(BytePath(bytes: [0xFF] + Array(".cbz".utf8)), zip)
        let files = try await library.allComics().files
        #expect(files.map(\.path.description) == ["b2.cbz", "b10.cbz", "wrong.rar", "z/1.cbz", "\\xFF.cbz"])
        #expect(files.map(\.type.rawValue) == ["cbz", "cbz", "zip", "cbz", "cbz"], "by its content, then by its name")
        #expect(try await library.allComics(in: "z").files.map(\.path) == ["z/1.cbz"])
    }

    @Test("Paths cannot leave the library") func libraryLeft() async throws {
        let outside = try TemporaryFolder("outside")
        try outside.write("secret.cbz", zip)
        symlink(outside.path.text, folder.path.appending("link").text)
        for path: BytePath in ["../x", "/etc", "link", "link/secret.cbz"] {
            await #expect(throws: ComicError.self) { try await library.allComics(in: path) }
        }
        await #expect(throws: (any Error).self) {
            try await library.moveFile(from: outside.path.appending("secret.cbz"), to: "link/x.cbz")
        }
        #expect(try FileStatus.of(outside.path.appending("secret.cbz")) != nil)
        await #expect(throws: (any Error).self) {
            try await library.moveFile(from: outside.path.appending("secret.cbz"), to: "link/new/x.cbz")
        }
        #expect(try FileStatus.of(outside.path.appending("new")) == nil)
        #expect(try await library.allComics().files.isEmpty)
    }

    @Test("A link to a parent folder does not cause a cycle") func linkFolderAbove() async throws {
        try folder.write("a/1.cbz", zip)
        try folder.write("a/b/2.cbz", zip)
        for name in ["a/b/up", "a/b/again", "a/same"] {
            #expect(symlink(name.hasSuffix("same") ? "b" : "../../a", folder.path.appending(BytePath(name)).text) == 0)
        }
        let found = try await library.allComics()
        #expect(found.unreadable.isEmpty)
        #expect(Set(found.files.map(\.path.nameText)) == ["1.cbz", "2.cbz"] && found.files.count == 2)
    }

    @Test("A comic is moved next to one with the same name, never over it") func comicMovedBeside() async throws {
        let inbox = try TemporaryFolder("inbox")
        for number in 0..<3 {
            let source = try inbox.write("a.cbz", zip + [UInt8(number)])
            let placed = try await library.moveFile(from: source, to: "s/a.cbz")
            #expect(placed == BytePath(number == 0 ? "s/a.cbz" : "s/a (\(number)).cbz"))
            #expect(try FileStatus.of(source) == nil)
        }
        await #expect(throws: ComicError.self) {
            try await library.moveFile(from: inbox.path.appending("gone.cbz"), to: "b.cbz")
        }
    }

    @Test("A link that leads out is not followed; one that stays inside is") func linkLeadsFollowed() async throws {
        let (inbox, outside) = (try TemporaryFolder("inbox"), try TemporaryFolder("outside"))
        try folder.write("real/x.txt", "x")
        symlink("real", folder.path.appending("inside").text)
        symlink("../\(outside.path.nameText)", folder.path.appending("relative").text)
        symlink("\(outside.path.text)/later", folder.path.appending("dangling").text)
        let source = try inbox.write("a.cbz", zip)
        for target: BytePath in ["relative/a.cbz", "relative/new/a.cbz", "dangling/a.cbz", "dangling/new/a.cbz"] {
            await #expect(throws: (any Error).self) { try await library.moveFile(from: source, to: target) }
        }
        #expect(try listDirectory(outside.path).isEmpty)
        #expect(try FileStatus.of(source) != nil)
        #expect(try await library.moveFile(from: source, to: "inside/new/a.cbz") == "inside/new/a.cbz")
        #expect(try FileStatus.of(folder.path.appending("real/new/a.cbz")) != nil)
    }

    @Test("A folder of pictures is moved next to one with the same name") func folderPicturesMoved() async throws {
        let inbox = try TemporaryFolder("inbox")
        for name in ["s", "s (1)"] {
            try inbox.write("pages/1.png", zip)
            #expect(try await library.moveFile(from: inbox.path.appending("pages"), to: "s") == BytePath(name))
            #expect(try isThere(BytePath(name).appending("1.png")))
        }
        await #expect(throws: (any Error).self) {
            try await library.moveFile(from: folder.path.appending("s"), to: "s/s")
        }
        #expect(try isThere("s/1.png"))
    }

    @Test("The caller chooses how files are disposed of") func disposesFileCaller() async throws {
        let trash = try TemporaryFolder("trash")
        try folder.write("a.cbz", zip)
        try await library.deleteFile("a.cbz", expecting: ContentHash(of: zip)) { path, hash in
            _ = try Mover.move(path, expecting: hash, to: [trash.path.appending("a.cbz")]) { _, _ in }
        }
        #expect(try !isThere("a.cbz"))
        #expect(try FileStatus.of(trash.path.appending("a.cbz")) != nil)
        try folder.write("b.cbz", zip)
        await #expect(throws: ComicError.self) {
            try await library.deleteFile("b.cbz", expecting: ContentHash(of: zip)) { _, _ in }
        }
        #expect(try isThere("b.cbz"))
    }

    @Test("Numbered files with different contents are listed for review, not as duplicates") func numberedFilesOther()
        throws
    {
        try folder.write("x.cbz", [1])
        try folder.write("x (1).cbz", [2])
        try folder.write("x (2).cbr", [1])
        try folder.write("y (1).cbz", [3])
        try folder.write("s/x (1).cbz", [4])
        let files = ["x (1).cbz", "x.cbz", "x (2).cbr", "y (1).cbz", "s/x (1).cbz"].map { folder.path.appending($0) }
        let groups = Duplicates.find(among: files).groups
        #expect(groups.map { $0.files.map(\.nameText) } == [["x.cbz", "x (2).cbr"]])
        let namesakes = Duplicates.namesakes(among: files, besides: groups)
        #expect(namesakes.map { $0.map(\.nameText) } == [["x.cbz", "x (1).cbz"]])
        let accented: [BytePath] = ["/Caf\u{E9}.cbz", "/Cafe\u{301} (1).cbz"]
        #expect(Duplicates.namesakes(among: accented, besides: []) == [accented])
    }

    @Test("Only the content that was checked is deleted") func contentLookedDeleted() async throws {
        try folder.write("a.cbz", zip)
        await #expect(throws: ComicError.self) {
            try await library.deleteFile("a.cbz", expecting: ContentHash(of: [1]))
        }
        #expect(try isThere("a.cbz"))
        try await library.deleteFile("a.cbz", expecting: ContentHash(of: zip))
        #expect(try !isThere("a.cbz"))
    }

    @Test("Duplicates are found by content, the original first") func duplicatesFoundContent() throws {
        try folder.write("x (1).cbz", [1, 2, 3])
        try folder.write("x.cbz", [1, 2, 3])
        try folder.write("same size.cbz", [1, 2, 4])
        try folder.write("e1.cbz", [UInt8]())
        try folder.write("e2.cbz", [UInt8]())
        link(folder.path.appending("x.cbz").text, folder.path.appending("y.cbz").text)
        let names = ["x (1).cbz", "x.cbz", "same size.cbz", "e1.cbz", "e2.cbz", "y.cbz", "gone.cbz"]
        var last: Int64 = 0
        let found = Duplicates.find(among: names.map { folder.path.appending($0) }) { done, total in
            last = done
            #expect(done <= total)
        }
        #expect(found.groups.map { $0.files.map(\.nameText) } == [["x.cbz", "x (1).cbz"]])
        #expect(found.groups.first?.wasted == 3)
        #expect(last == 9)
        #expect(found.unreadable.isEmpty)
    }

    @Test("Messages say what to do") func messagesSay() {
        let errors: [ComicError] = [
            .archive(.unsupportedFormat("ACE")), .archive(.corruptedArchive),
            .archive(.extractionFailed(underlying: Fault(.refused, "broken"))), .archive(.passwordProtected),
            .archive(.emptyArchive),
            .fileSystem(.fileNotFound("a")), .fileSystem(.insufficientStorage), .reader(.pageLoadFailed(index: 0)),
            .reader(.imageTooLarge),
        ]
        for error in errors {
            #expect(error.message.contains(";") || error.message.contains(","))
            #expect(error.localizedDescription == error.message)
            #expect(error.fault("x.cbz").message.hasPrefix("x.cbz: "))
        }
        #expect(ComicError.archive(.passwordProtected).fault().kind == .refused)
        #expect(ComicError.fileSystem(.insufficientStorage).fault().kind == .transient)
        #expect(ComicError.reader(.pageLoadFailed(index: 0)).message.hasPrefix("page 1 "))
    }
}
