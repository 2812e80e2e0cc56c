import ComicTestSupport
import Platform
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Series among the files of a library.
@Suite("Series among files") struct SeriesGroupingTests {
    private func group(_ names: String...) -> (groups: [SeriesGroup], loose: [SeriesMember]) {
        SeriesGrouping.group(names.map { SeriesMember(path: BytePath($0)) })
    }

    @Test("Numbers of one series are listed in order") func numbersSeriesStand() {
        let found = group("Saga #10.cbz", "saga  #2.cbz", "Saga #½.cbz", "Other 001.cbz", "Rev 2.cbz")
        #expect(found.groups.map(\.id) == ["auto-saga"])
        #expect(found.groups.first?.name == "Saga")
        #expect(found.groups.first?.members.map(\.number) == ["½", "2", "10"])
        #expect(found.loose.map(\.path.text) == ["Other 001.cbz", "Rev 2.cbz"])
    }

    @Test("Years and words are not numbers") func yearsWordsNumbers() {
        #expect(group("Akira (2022).cbz", "Akira (2023).cbz", "March 5.cbz", "Mar 6.cbz").groups.isEmpty)
        #expect(group("Cyberpunk 2077.cbz", "Cyberpunk 2078.cbz").groups.isEmpty)
    }

    @Test("Copies are not a series") func copiesSeries() {
        #expect(group("Akira.cbz", "Akira (1).cbz", "Akira (2).cbz").groups.isEmpty)
        #expect(group("Akira (1).cbz", "Akira (2).cbz").groups.first?.members.count == 2)
    }

    @Test("A series and its copies are the same however accents are encoded") func accents() {
        let found = group("Cafe\u{301} #1.cbz", "CAF\u{C9} #2.cbz")
        #expect(found.groups.map { Array($0.id.utf8) } == [Array("auto-caf\u{E9}".utf8)])
        #expect(group("Caf\u{E9}.cbz", "Cafe\u{301} (1).cbz", "Cafe\u{301} (2).cbz").groups.isEmpty)
    }

    @Test("Volumes come before numbers") func volumesComeBefore() {
        #expect(group("Saga v02 c01.cbz", "Saga v01 c09.cbz").groups.first?.members.map(\.number) == ["9", "1"])
    }

    @Test("Files named only by numbers take their series from the folder") func folderNamesSeries() {
        let found = group("Saga/02.cbz", "Saga/01.cbz", "Saga/Saga 03.cbz", "04.cbz")
        #expect(found.groups.map(\.name) == ["Saga"])
        #expect(found.groups.first?.members.map(\.number) == ["1", "2", "3"])
        #expect(found.loose.map(\.path.text) == ["04.cbz"])
    }
}
