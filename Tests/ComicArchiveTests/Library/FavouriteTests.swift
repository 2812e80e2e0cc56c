import ComicTestSupport
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Favourites and the user's own series follow a comic's content.
@Suite("Favourites and series of one's own") struct FavouriteTests {
    private let folder: TemporaryFolder
    private let service: ProgressService
    private let comics = (0..<4).map { ContentHash(of: [UInt8($0)]) }

    init() throws {
        folder = try TemporaryFolder("favourites")
        service = try ProgressService.open(directory: folder.path)
    }

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(nanoseconds: seconds * 1_000_000_000) }

    private func member(_ number: Int) -> ManualSeries.Member {
        ManualSeries.Member(content: comics[number], path: BytePath("\(number).cbz"))
    }

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

    @Test("A moved comic stays a favourite and in its series") func movedComicStays() async throws {
        try await service.setFavourite(true, for: comics[0], at: "a.cbz", now: time(1))
        try await service.makeSeries("Mine", [member(0)], now: time(1))
        try await service.relocate(comics[0], to: "b/a.cbz")
        #expect(try await service.favourites().map(\.path) == ["b/a.cbz"])
        #expect(try await service.manualSeries().first?.members.map(\.path) == ["b/a.cbz"])
    }

    @Test("Series keep the order that the user gave") func seriesKeepOrder() async throws {
        let mine = try await service.makeSeries(" Mine ", [member(2), member(0), member(2)], now: time(1))
        let other = try await service.makeSeries("Other", now: time(2))
        #expect(mine.id.hasPrefix("manual-") && mine.name == "Mine")
        #expect(mine.members.map(\.content) == [comics[2], comics[0]])
        try await service.add([member(1), member(2)], toSeries: mine.id)
        try await service.add([member(2)], toSeries: other.id)
        #expect(try await service.manualSeries().first?.members.map(\.content) == [comics[2], comics[0], comics[1]])
        try await service.order([comics[1], comics[3], comics[0]], inSeries: mine.id)
        #expect(try await service.manualSeries().first?.members.map(\.content) == [comics[1], comics[0], comics[2]])
        try await service.remove([comics[0]], fromSeries: mine.id)
        try await service.renameSeries(mine.id, to: "Ours")
        let all = try await service.manualSeries()
        #expect(all.map(\.name) == ["Ours", "Other"])
        #expect(all.map(\.members.count) == [2, 1])
        try await service.deleteSeries(mine.id)
        #expect(try await service.manualSeries() == [all[1]])
    }

    @Test("A series that is not there, or has no name, is a mistake") func seriesNameMistake() async throws {
        await #expect(throws: Fault.self) { try await service.makeSeries("  ", now: time(1)) }
        await #expect(throws: Fault.self) { try await service.add([member(1)], toSeries: "manual-nothing") }
        await #expect(throws: Fault.self) { try await service.deleteSeries("manual-nothing") }
    }

    @Test("The user's series come first, and their members leave the others") func userSeriesCome() async throws {
        let members = ["Saga #1.cbz", "Saga #2.cbz", "Saga #3.cbz", "x.cbz", "copy/Saga #1.cbz"].map {
            SeriesMember(path: BytePath($0))
        }
        // Of "x.cbz" and "Saga #2.cbz" nothing is known but the path.
        let contents: [BytePath: ContentHash] = [
            "Saga #1.cbz": comics[0], "copy/Saga #1.cbz": comics[0], "Saga #3.cbz": comics[2],
        ]
        let mine = try await service.makeSeries(
            "Best", [ManualSeries.Member(content: comics[3], path: "x.cbz"), member(0)], now: time(1))
        let empty = try await service.makeSeries("Away", [member(1)], now: time(1))
        let found = SeriesGrouping.group(members, manual: [mine, empty], contents: contents)
        #expect(found.groups.map(\.name) == ["Best", "Saga"])
        #expect(found.groups.first?.members.map(\.path) == ["x.cbz", "Saga #1.cbz", "copy/Saga #1.cbz"])
        #expect(found.groups.last?.members.map(\.path) == ["Saga #2.cbz", "Saga #3.cbz"])
        #expect(found.loose.isEmpty)
    }
}
