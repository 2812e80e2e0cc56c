import Foundation
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import AgentKit

@Suite("Output of the comic commands")
struct ComicTextTests {
    @Test("Columns are aligned, numbers to the right, and an empty column takes no space")
    func table() {
        var table = TextTable([.left, .left, .right], flexible: 0)
        table.add(["Saga 1.cbz", "", "9 B"])
        table.add(["Akira.cbz", "", "12.3 MiB"])
        #expect(table.lines(width: nil) == ["  Saga 1.cbz       9 B", "  Akira.cbz   12.3 MiB"])
    }

    @Test("No line is wider than the terminal: the middle of the name is elided")
    func narrow() {
        var table = TextTable([.left, .left], flexible: 0)
        let name = String(repeating: "A", count: 60) + " 012.cbz"
        table.add([name, "page 3 of 24"])
        table.add(["漫画漫画漫画漫画漫画漫画漫画 3.cbz", "read"])
        for width in 40...100 {
            let lines = table.lines(width: width)
            #expect(lines.allSatisfy { TextWidth.of($0) <= width }, "\(width): \(lines)")
            #expect(lines[0].contains("A") && lines[0].contains("cbz") && lines[0].contains("page 3 of 24"))
        }
        #expect(table.lines(width: nil)[0].contains(name), "nothing is shortened in a pipe")
    }

    @Test(
        "A text is as wide as a terminal displays it",
        arguments: [("abc", 3), ("é", 1), ("e\u{301}", 1), ("漫画", 4), ("한글", 4), ("🦊", 2), ("", 0)])
    func width(_ text: String, _ columns: Int) {
        #expect(TextWidth.of(text) == columns)
    }

    @Test(
        "Short sizes have one decimal",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (102_400, "100 KiB"),
            (1_048_575, "1.0 MiB"), (12_897_485, "12.3 MiB"), (5 << 30, "5.0 GiB"), (3 << 50, "3072 TiB"),
        ] as [(Int64, String)])
    func sizes(_ count: Int64, _ text: String) {
        #expect(ComicText.bytes(count) == text)
    }

    @Test("A page is a number or the word cover")
    func choice() {
        #expect(PageChoice("12") == .number(12))
        #expect(PageChoice("cover") == .cover)
        for text in ["", "x", "1.5", "Cover", "1 2"] { #expect(PageChoice(text) == nil) }
        #expect(PageChoice.number(7).mark(index: 6, of: 120) == "-p007")
        #expect(PageChoice.cover.mark(index: 6, of: 120) == "-cover")
    }

    @Test("A name that cannot be text is accepted in the spelling in which it was printed")
    func escapedName() throws {
        let folder = try TemporaryFolder()
        let odd = folder.path.appending(name: [0x61, 0xFF, 0x0A])
        _ = try Descriptor(odd, 0o101, mode: 0o600)
        #expect(ComicOperations.path("a\\xFF\\x0A", from: folder.path) == odd)
        try folder.write(BytePath("b\\xFF"), "")
        #expect(
            ComicOperations.path("b\\xFF", from: folder.path) == folder.path.appending("b\\xFF"),
            "if it is there, itself")
        #expect(ComicOperations.path("./c", from: folder.path) == folder.path.appending("c"))
        #expect(ComicOperations.path("/x/y", from: folder.path) == "/x/y")
    }
}

@Suite("The progress bar")
struct ComicMeterTests {
    /// A progress meter on a simulated terminal, with a clock moved only by the test.
    private final class Paper: Sendable {
        let text = Mutex("")
        let time = Mutex(Timestamp(nanoseconds: 0))

        func meter(width: Int?) -> ProgressMeter {
            ProgressMeter(width: width, now: { self.time.withLock { $0 } }) { part in self.text.withLock { $0 += part }
            }
        }

        func pass(milliseconds: Int64) { time.withLock { $0.nanoseconds += milliseconds * 1_000_000 } }
        var written: String { text.withLock { $0 } }
    }

    @Test("Hidden for short work; for long work drawn ten times a second, then removed")
    func pace() {
        let paper = Paper()
        let meter = paper.meter(width: 80)
        meter.show(0, of: 10, "a")
        paper.pass(milliseconds: 250)
        meter.show(1, of: 10, "b")
        meter.clear()
        #expect(paper.written.isEmpty)
        paper.pass(milliseconds: 100)
        for step in 0..<1000 { meter.show(Int64(step), of: 1000, "page \(step)") }
        #expect(paper.written.components(separatedBy: "\r").count == 2)
        paper.pass(milliseconds: 100)
        meter.show(500, of: 1000, "half")
        #expect(paper.written.contains(" 50 %  half"))
        meter.clear()
        #expect(paper.written.hasSuffix("\r\u{1B}[K"))
    }

    @Test("Fits its line whatever it shows")
    func width() {
        for width in 20...120 {
            for (done, total) in [(0, 0), (5, 0), (-1, 7), (7, 7), (9, 7), (Int64.max, 3)] as [(Int64, Int64)] {
                let line = ProgressMeter.line(done, total, String(repeating: "漫", count: 99), width: width)
                #expect(TextWidth.of(line) < max(width, 26), "\(line)")
            }
        }
        #expect(ProgressMeter.line(3, 4, "x", width: 80).hasPrefix("[###############.....]  75 %  x"))
    }

    @Test("Prints nothing without a terminal")
    func silent() {
        let paper = Paper()
        let meter = paper.meter(width: nil)
        paper.pass(milliseconds: 10_000)
        meter.show(1, of: 2, "a")
        meter.clear()
        #expect(paper.written.isEmpty)
    }
}
