import ComicTestSupport
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Favourites follow a comic's content.
@Suite("Favourites") struct FavouriteTests {
    private let folder: TemporaryFolder
    private let service: ProgressService
    private let comics = (0..<4).map { ContentHash(of: [UInt8($0)]) }

    init() throws {
        folder = try TemporaryFolder("favourites")
        service = try ProgressService.open(directory: folder.path)
    }

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(nanoseconds: seconds * 1_000_000_000) }

    @Test("Favourites are kept, newest first, each once") func favouritesKeptNewest() async throws {
        for number in 0..<3 {
            try await service.setFavourite(
                true, for: comics[number], at: BytePath("\(number).cbz"), now: time(Int64(number)))
        }
        try await service.setFavourite(true, for: comics[0], at: "moved.cbz", now: time(9))
        try await service.setFavourite(false, for: comics[1], at: "1.cbz", now: time(9))
        try service.close()
        let again = try ProgressService.open(directory: folder.path)
        let found = try await again.favourites()
        #expect(found.map(\.content) == [comics[2], comics[0]])
        #expect(found.map(\.path) == ["2.cbz", "moved.cbz"])
        #expect(found.last?.added == time(0))
        #expect(try await again.isFavourite(comics[0]))
        #expect(try await !again.isFavourite(comics[1]))
    }

    @Test("A moved comic stays a favourite") func movedComicStays() async throws {
        try await service.setFavourite(true, for: comics[0], at: "a.cbz", now: time(1))
        try await service.relocate(comics[0], to: "b/a.cbz")
        #expect(try await service.favourites().map(\.path) == ["b/a.cbz"])
    }
}
