import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// `steward dots` from a user's point of view: the built program and a real store.
@Suite("Dot commands")
struct DotCommandTests: DotCommands {
    let steward: AgentFixture

    init() throws { steward = try Self.home() }

    // MARK: Grids

    @Test("A day, a week, a month and a year as dots")
    func grids() throws {
        try fill()
        #expect(
            try dots("today").check().output == """
                Thursday, March 5: 2 experiences

                12am  ○  ○  ○  ○  ○  ○
                6am   ○  ●  ○  ○  ○  ○
                12pm  ○  ○  ○ [●] ·  ·
                6pm   ·  ·  ·  ·  ·  ·

                """)
        #expect(try dots().check().output == dots("today").check().output)
        #expect(
            try dots("week").check().output == """
                Mar 2 - Mar 8: 5 experiences

                 Mon Tue Wed Thu Fri Sat Sun
                  ●   ○   ●  [●]  ·   ●   ·

                """)
        let month = try dots("month").check().output
        #expect(
            month.hasPrefix("March 2026: 5 experiences\n") && month.contains("\nWeek 10   ●   ○   ●  [●]  ·   ●   ·\n"))
        #expect(
            try dots("month", "--scale", "weeks").check().output == """
                March 2026: 5 experiences

                Week 09  ○ [●] ·  ·  ·
                Week 14  ·

                """)
        let year = try dots("year").check().output
        #expect(year.hasPrefix("2026: 5 experiences\n\nJan  ○ ○"))
        #expect(year.filter { $0 == "●" }.count == 4)
        #expect(
            try dots("today", "--date", "2026-03-04", "--plain").check().output.hasSuffix(
                "9pm: 1 experience\n10pm: no experiences\n11pm: no experiences\n"))
        #expect(
            try dots("year", "--plain").check().output.contains("\nToday, March 5: 2 experiences\nMarch 6: future\n"))
    }

    @Test("Zooming steps through the ladders, and a scale is a shortcut")
    func zoom() throws {
        try fill()
        let week = try dots("week").check().output
        #expect(try dots("today", "--zoom", "out").check().output == week)
        #expect(try dots("today", "--scale", "days").check().output == week)
        #expect(try dots("month", "--zoom", "in").check().output == week)
        let months = try dots("year", "--scale", "months").check().output
        #expect(try dots("week", "--zoom", "out", "--zoom", "out").check().output == months)
        #expect(try dots("year", "--zoom", "in").check().output == dots("month").check().output)
        #expect(
            try refusal("today", "--zoom", "in")
                == "steward: the day is the closest grid here; one `--zoom in` is too many\n")
        #expect(try refusal("year", "--zoom", "out").contains("the year is the largest grid"))
        #expect(
            try refusal("week", "--scale", "hours").contains(
                "`steward dots week` has no grid of hours; it has days, weeks, months, and `steward dots today` has hours"
            ))
        #expect(try refusal("today", "--scale", "minutes").contains("use hours, days, weeks, months"))
        #expect(try refusal("today", "--zoom", "up").contains("use `--zoom in` or `--zoom out`"))
        #expect(
            try refusal("today", "--date", "2026-02-30").contains(
                "`2026-02-30` is not a day, hour, week, month or year"))
    }

    @Test("Any date selects the day, week, month or year that contains it")
    func dates() throws {
        #expect(try answer("today", "--date", "2026-11-22")["bucket"].text == "2026-11-22")
        #expect(try answer("today", "--date", "yesterday")["bucket"].text == "2026-03-04")
        #expect(try answer("week", "--date", "2026-11-22")["bucket"].text == "2026-W47")
        // The week of New Year's Day belongs to the year of its Thursday.
        #expect(try answer("year", "--date", "2026-W01")["bucket"].text == "2026")
        #expect(try answer("month", "--date", "2026-W01")["bucket"].text == "2026-01")
        #expect(try answer("month", "--date", "2024")["bucket"].text == "2024-01")
        // Clocks go forward on that day, and back on the other.
        #expect(try answer("today", "--date", "2026-03-29")["dots"].items.count == 23)
        #expect(try answer("today", "--date", "2026-10-25")["dots"].items.count == 25)
    }

    @Test("The JSON of a grid has every dot with its bucket, count and phase")
    func json() throws {
        try fill()
        let grid = try answer("week")
        #expect(grid["grid"].text == "weekByDays" && grid["timeZone"].text == "Europe/Berlin")
        #expect(grid["count"].number == 5 && grid["columns"].number == 7)
        #expect(grid["start"].text == "2026-03-01T23:00:00Z" && grid["end"].text == "2026-03-08T23:00:00Z")
        let dots = grid["dots"].items
        #expect(dots.map { $0["count"].number } == [1, 0, 1, 2, 0, 1, 0])
        #expect(dots.map { $0["isFilled"].isTrue } == [true, false, true, true, false, true, false])
        #expect(dots.map { $0["phase"].text } == ["past", "past", "past", "current", "future", "future", "future"])
        #expect(dots[3]["bucket"].text == "2026-03-05" && dots[3]["text"].text == "Thu: 2 experiences")
        #expect(try answer("year")["dots"].items.count == 365)
        #expect(try answer("year")["grid"].text == "yearByDays")
    }

    @Test("A grid is written as an SVG picture, and nothing is overwritten unless asked")
    func svg() throws {
        try fill()
        #expect(try dots("week", "--svg", "w.svg").check().output == "wrote \(home.appending("w.svg"))\n")
        let picture = try steward.home.read("w.svg")
        #expect(picture.contains("<title>Thu: 2 experiences</title>") && !picture.contains("chapters"))
        #expect(try dots("week", "--svg", "-").check().output == picture)
        let again = try dots("week", "--svg", "w.svg")
        #expect(again.status == 1 && again.errors.contains("w.svg exists already"))
        try dots("week", "--svg", "w.svg", "--theme", "dark", "--force").check()
        #expect(try steward.home.read("w.svg") != picture)
        try Durable.makeDirectory(home.appending("pictures"))
        try dots("today", "--svg", "pictures/").check()
        #expect(try FileStatus.of(home.appending("pictures/dots-2026-03-05-hours.svg")) != nil)
        #expect(try refusal("week", "--svg", "-", "--json").contains("standard output takes one of"))
        #expect(try refusal("week", "--theme", "pink").contains("use automatic, light, dark"))
    }

    @Test(
        "A grid is written as a PNG picture", .enabled(if: Editor.has("rsvg-convert"), "librsvg2-bin is not installed"))
    func png() throws {
        try fill()
        for view in ["today", "week", "month", "year"] {
            try dots(view, "--png", "\(view).png").check()
            let bytes = try Descriptor(home.appending(BytePath("\(view).png"))).readAll()
            #expect(PictureFormat.of(bytes) == .png)
            #expect(bytes.count > 2_000)
        }
        let piped = try steward.shell([
            "sh", "-c", "exec \"$0\" dots week --png - | head -c 8 | wc -c", AgentFixture.binary,
        ])
        #expect(piped.output.trimmingCharacters(in: .whitespacesAndNewlines) == "8")
    }

    // MARK: Captures

    @Test("`show` lists a range of time, newest first, with kind, content, moment and time in each row")
    func show() throws {
        try fill()
        let day = try dots("show").check().output.split(separator: "\n").map(String.init)
        try #require(day.count == 3)
        #expect(day.first == "Thursday, March 5: 2 experiences")
        #expect(day[1].hasPrefix("  15:05  note  Read the chapters aloud, then sleep  today  "))
        #expect(day[2].hasPrefix("  07:10  note  Swap the two chapters                now    "))
        let week = try answer("show", "2026-W10")["captures"].items
        try #require(week.count == 5)
        #expect(week.map { $0["kind"].text } == ["dot", "note", "note", "link", "dot"])
        #expect(week.map { $0["moment"].text } == ["now", "today", "now", "now", "this week"])
        #expect(week[3]["link"].text == "https://example.org/a?b=c" && week[3]["time"].text == "2026-03-04T20:30:00Z")
        #expect(week[1]["note"].text == "Read the chapters aloud,\n then sleep")
        for name in ["2026-03-05T15", "now", "yesterday", "2026-03-02"] {
            #expect(try answer("show", name)["captures"].items.count == 1, "\(name)")
        }
        for name in ["2026", "year", "2026-03", "month", "week"] {
            #expect(try answer("show", name)["captures"].items.count == 5, "\(name)")
        }
        let cut = try dots("show", "week", "--limit", "2").check().output
        #expect(cut.hasPrefix("Mar 2 - Mar 8: 5 experiences, the newest 2\n\n") && cut.filter { $0 == "\n" }.count == 4)
        #expect(try answer("show", "week", "--limit", "2")["count"].number == 5)
        let one = try dots("show", week[1]["id"].text).check().output
        #expect(
            one == "2026-03-05 15:05  note, today  \(week[1]["id"].text)\n  Read the chapters aloud,\n   then sleep\n")
        #expect(try dots("show", "2025").check().output.hasPrefix("2025: no experiences yet\n`steward dots add note"))
        #expect(try refusal("show", "00000000").contains("no capture has an id that begins with 00000000"))
        for name in ["2026-W54", "2026-13", "noon", "2026-03-05T24"] {
            #expect(
                try refusal("show", name).contains("`\(name)` is not a day, hour, week, month or year of Europe/Berlin")
            )
        }
    }

    @Test("A note with control characters is displayed without effect on the terminal")
    func steering() throws {
        try dots("add", "note", input: "red \u{1B}[31m wine \u{202E}desrever").check()
        for arguments in [["show"], ["search", "wine"], ["show", "2026"]] {
            let shown = try steward.run(["dots"] + arguments + now).check().output
            #expect(shown.contains("red \\x1B[31m wine") && !shown.contains("\u{1B}") && !shown.contains("\u{202E}"))
        }
    }

    @Test("A photo is copied, with its attachments; its time is the camera's")
    func photo() throws {
        let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44]
        try steward.home.write("heron.png", picture)
        try steward.home.write("song.txt", "la la")
        let added = try answer("add", "photo", "heron.png", "--attach", "song.txt", "--time", "09:00")
        #expect(added["files"].items.map { $0["name"].text } == ["heron.png", "song.txt"])
        #expect(added["files"].items.map { $0["kind"].text } == ["photo", "file"])
        let path = BytePath(added["files"].items[0]["path"].text)
        #expect(try Descriptor(path).readAll() == picture)
        #expect(try dots("show").check().output.contains("  09:00  photo  heron.png, song.txt  now  "))
        #expect(try dots("search", "heron").check().output.contains("heron.png"))
        #expect(try refusal("add", "photo", "song.txt").contains("song.txt is not a picture (JPEG, PNG, "))
        #expect(try refusal("add", "photo", "none.png").contains("there is no file \(home.appending("none.png"))"))
        try dots("delete", "--yes", added["id"].text).check()
        #expect(try FileStatus.of(path) == nil)
    }

    @Test("Invalid captures are not added, and the message says what would be valid")
    func additions() throws {
        #expect(try refusal("add", "note", " ").contains("The note is empty"))
        #expect(try refusal("add", "note").contains("The note is empty"))
        #expect(
            try refusal("add", "link", "rain").contains("`rain` is not an address: Invalid URL; write it as https://"))
        #expect(try refusal("add", "dot", "--time", "25:00").contains("`25:00` is not a time; write 09:30, "))
        #expect(try refusal("add", "dot", "--moment", "soon").contains("`soon` is not a moment; use now, today or"))
        #expect(try refusal("add", "dot", "--attach", "none").contains("there is no file"))
        #expect(try refusal("add", "photo").contains("Missing expected argument"))
        #expect(try dots("show", "2026").check().output.contains("no experiences yet"))
        let added = try dots("add", "link", "--moment", "this-week", input: "https://example.org\n").check().output
        #expect(added.wholeMatch(of: /added the link [0-9a-f]{8}, 2026-03-05 15:30, this week\n/) != nil, "\(added)")
    }

    @Test("`delete` names what it removes, asks, and accepts an id's prefix")
    func delete() throws {
        try fill()
        let id = try answer("search", "swap").items[0]["capture"]["id"].text
        #expect(try refusal("delete", id).contains("there is no terminal to ask; use --yes"))
        #expect(
            try dots("delete", "--yes", String(id.prefix(8))).check().output
                == "removed the note \(id.prefix(8)), 2026-03-05 07:10: Swap the two chapters\n")
        #expect(try refusal("delete", "--yes", id).contains("no capture has an id that begins with \(id)"))
        #expect(try refusal("delete", "--yes", "chapters").contains("`chapters` is not an id"))
        #expect(try answer("show", "2026")["captures"].items.count == 4)
        #expect(try dots("search", "swap").check().output == "no capture has words with these prefixes: swap\n")
    }

    @Test("`search` finds prefixes of words, marks them, and lists the best first")
    func search() throws {
        try fill()
        try dots("add", "note", "Chapters, chapters, chapters").check()
        let found = try answer("search", "CHAPT").items
        #expect(found.count == 3)
        try #require(!found.isEmpty)
        #expect(found[0]["capture"]["note"].text == "Chapters, chapters, chapters")
        #expect(
            found[0]["snippet"].items.filter { $0["isMatch"].isTrue }.map { $0["text"].text.lowercased() }.count == 3)
        #expect(try answer("search", "chapters", "aloud").items.count == 1)
        #expect(try answer("search", "chapters", "--limit", "2").items.count == 2)
        #expect(try dots("search", "example").check().output.contains("  2026-03-04 21:30  link  "))
        #expect(try refusal("search", "x", "--limit", "0").contains("--limit must be 1 or more"))
    }
}
