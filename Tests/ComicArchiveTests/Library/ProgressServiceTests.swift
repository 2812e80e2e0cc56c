import ComicTestSupport
import GRDB
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Progress and bookmarks follow a comic's content.
@Suite("Progress and bookmarks") struct ProgressServiceTests {
    private let folder: TemporaryFolder
    private let service: ProgressService
    private let one = ContentHash(of: [1])
    private let other = ContentHash(of: [2])

    init() throws {
        folder = try TemporaryFolder("comics")
        service = try ProgressService.open(directory: folder.path)
    }

    private func read(_ page: Int, of total: Int, _ content: ContentHash? = nil, at seconds: Int64 = 1) async throws {
        try await service.saveProgress(
            for: content ?? one, at: "a.cbz", currentPage: page, totalPages: total,
            now: Timestamp(nanoseconds: seconds * 1_000_000_000))
    }

    @Test("Progress and bookmarks survive a restart") func progressBookmarksKept() async throws {
        try await read(4, of: 10)
        #expect(try await service.toggleBookmark(for: one, page: 7))
        try service.close()
        let again = try ProgressService.open(directory: folder.path)
        let record = try #require(try await again.loadProgress(for: one))
        #expect((record.currentPage, record.totalPages, record.isCompleted, record.bookmarks) == (4, 10, false, [7]))
        #expect(record.percent == 50)
        #expect(record.lastReadDate == Timestamp(nanoseconds: 1_000_000_000))
    }

    @Test("The last page completes a comic; turning back undoes that") func lastPageCompletes() async throws {
        try await read(9, of: 10)
        #expect(try await service.loadProgress(for: one)?.isCompleted == true)
        try await read(3, of: 10)
        #expect(try await service.loadProgress(for: one)?.isCompleted == false)
        try await read(99, of: 10)
        #expect(try await service.loadProgress(for: one)?.percent == 100)
        try await read(-5, of: 0)
        let empty = try #require(try await service.loadProgress(for: one))
        #expect((empty.currentPage, empty.percent, empty.isCompleted) == (0, 0, false))
    }

    @Test("A bookmark needs no progress, can be toggled, and is listed in order") func bookmarkNeedsProgress()
        async throws
    {
        for page in [7, 2, 9] { #expect(try await service.toggleBookmark(for: one, page: page)) }
        #expect(try await service.toggleBookmark(for: one, page: 7) == false)
        #expect(try await service.bookmarks(for: one) == [2, 9])
        #expect(try await service.isBookmarked(one, page: 2))
        #expect(try await service.loadProgress(for: one) == nil)
        await #expect(throws: Fault.self) { try await service.toggleBookmark(for: one, page: -1) }
    }

    @Test("Recent files are the last read; clearing them loses neither progress nor bookmarks") func recentFilesLast()
        async throws
    {
        try await read(1, of: 5, one, at: 1)
        try await read(1, of: 5, other, at: 2)
        #expect(try await service.recent().map(\.content) == [other, one])
        #expect(try await service.recent(limit: 1).map(\.content) == [other])
        try await service.forgetRecent(other)
        #expect(try await service.recent().map(\.content) == [one])
        try await service.forgetRecent()
        #expect(try await service.recent().isEmpty)
        #expect(try await service.loadProgress(for: other)?.currentPage == 1)
        try await service.deleteProgress(for: other)
        #expect(try await service.loadProgress(for: other) == nil)
    }

    @Test("The file uses WAL mode and is readable by its owner only") func fileWalMode() async throws {
        try await read(1, of: 5)
        let file = folder.path.appending("comics.sqlite")
        #expect(try FileStatus.of(file)?.mode == 0o600)
        let mode = try await DatabaseQueue(path: file.text).read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
    }

    @Test("A damaged or newer file is left alone, and reported") func damagedNewerFile() throws {
        let damaged = try TemporaryFolder("comics")
        let file = try damaged.write("comics.sqlite", String(repeating: "not a database ", count: 100))
        let fault = #expect(throws: Fault.self) { try ProgressService.open(directory: damaged.path) }
        #expect(fault?.kind == .fatal)
        #expect(try TemporaryFolder.text(file).hasPrefix("not a database"))
        try service.close()
        let queue = try DatabaseQueue(path: folder.path.appending("comics.sqlite").text)
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 future')") }
        try queue.close()
        #expect(throws: Fault.self) { try ProgressService.open(directory: folder.path) }
    }
}
