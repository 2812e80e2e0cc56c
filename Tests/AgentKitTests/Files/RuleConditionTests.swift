import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Every condition, once with a file that meets it and once with one that does not.
@Suite("Conditions, end to end", .ownThreads)
struct RuleConditionTests {
    struct Case {
        let condition: String
        /// The lines of `where`; the file is in a folder named after the condition.
        let lines: String
        let yes: BytePath
        let no: BytePath
        var yesBytes: [UInt8] = Array("text\n".utf8)
        var noBytes: [UInt8] = Array("text\n".utf8)
        var prepareYes: (BytePath) throws -> Void = { _ in }
        var prepareNo: (BytePath) throws -> Void = { _ in }
    }

    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func age(_ path: BytePath) throws {
        var times = [
            timespec(tv_sec: time(nil) - 30 * 86_400, tv_nsec: 0),
            timespec(tv_sec: time(nil) - 30 * 86_400, tv_nsec: 0),
        ]
        guard utimensat(AT_FDCWD, path.text, &times, 0) == 0 else { throw Fault.system("age", path) }
    }

    /// Around noon on a Wednesday, in wall time.
    private static let wednesday = 1_795_608_000

    private static func modified(_ seconds: Int) -> (BytePath) throws -> Void {
        { path in
            var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
            guard utimensat(AT_FDCWD, path.text, &times, 0) == 0 else { throw Fault.system("date", path) }
        }
    }

    /// The hour of that Wednesday in the agent's time zone, in the format of `time`.
    private static var hour: String {
        var (moment, parts) = (time_t(wednesday), tm())
        localtime_r(&moment, &parts)
        return "\(parts.tm_hour):00-\((parts.tm_hour + 1) % 24):00"
    }

    private static func giveAway(_ path: BytePath) throws {
        // Only root can change a file's owner; for others the other file has the same owner and is left out below.
        if getuid() == 0, chown(path.text, 54_321, 54_321) != 0 { throw Fault.system("give away", path) }
    }

    private static func origin(_ address: String) -> (BytePath) throws -> Void {
        { try ExtendedAttributes.set("user.xdg.origin.url", text(address), on: Descriptor($0)) }
    }

    /// Conditions on a file's own facts, and on the files beside it.
    private static var factCases: [Case] {
        [
            Case(
                condition: "name-like", lines: "name-like: \"{a}_{date:yyyy-MM-dd}.txt\"",
                yes: "name-like/x_2026-11-23.txt", no: "name-like/x_2026-13-23.txt"),
            Case(
                condition: "name-matches", lines: #"name-matches: '^RG(?<number>\d{3})\.txt$'"#,
                yes: "name-matches/RG123.txt", no: "name-matches/RG12.txt"),
            Case(condition: "empty", lines: "empty: true", yes: "empty/a", no: "empty/b", yesBytes: []),
            Case(
                condition: "group", lines: "group: \(getgid())", yes: "group/a", no: "group/b", prepareNo: giveAway),
            Case(
                condition: "mode", lines: "mode: executable", yes: "mode/a", no: "mode/b",
                prepareYes: { if chmod($0.text, 0o755) != 0 { throw Fault.system("change the mode of", $0) } }),
            Case(
                condition: "downloaded-from", lines: "downloaded-from: \"*.example.org\"", yes: "downloaded-from/a",
                no: "downloaded-from/b", prepareYes: origin("https://cdn.example.org/a"),
                prepareNo: origin("https://example.com/cdn.example.org")),
            Case(
                condition: "weekday", lines: "weekday: { of: modified, is: wednesday }", yes: "weekday/a",
                no: "weekday/b", prepareYes: modified(wednesday), prepareNo: modified(wednesday + 86_400)),
            Case(
                condition: "time", lines: "time: { of: modified, is: \"\(hour)\" }", yes: "time/a", no: "time/b",
                prepareYes: modified(wednesday), prepareNo: modified(wednesday + 7_200)),
            Case(
                condition: "total-size", lines: "total-size: 10", yes: "total-size/a", no: "total-size/in/b",
                yesBytes: [UInt8](repeating: 65, count: 10), noBytes: [UInt8](repeating: 65, count: 11)),
            Case(
                condition: "first-of", lines: "first-of: { by: name, matching: \"*.md\" }", yes: "first-of/b.md",
                no: "first-of/a.txt"),
            Case(
                condition: "mounted", lines: "mounted: /proc, extension: md", yes: "mounted/a.md", no: "mounted/b"),
        ]
    }

    static var cases: [Case] {
        factCases + [
            Case(condition: "name", lines: "name: \"*.{cbz,cbr}\"", yes: "name/a.cbz", no: "name/a.cbz.txt"),
            Case(condition: "path", lines: "path: \"path/in/**/*.md\"", yes: "path/in/x/a.md", no: "path/out/a.md"),
            Case(condition: "stem", lines: "stem: \"*draft\"", yes: "stem/a draft.md", no: "stem/a draft 2.md"),
            Case(condition: "extension", lines: "extension: [md, txt]", yes: "extension/a.MD", no: "extension/a.mdx"),
            Case(condition: "depth", lines: "depth: \"<= 1\"", yes: "depth/a.md", no: "depth/deeper/a.md"),
            Case(condition: "hidden", lines: "hidden: true", yes: "hidden/.a", no: "hidden/a"),
            Case(condition: "place", lines: "place: drafts", yes: "place/a.md", no: "../comics/place/a.md"),
            Case(
                condition: "kind", lines: "kind: [image, pdf]", yes: "kind/a", no: "kind/a.png", yesBytes: png),
            Case(condition: "mime", lines: "mime: \"image/*\"", yes: "mime/a", no: "mime/a.png", yesBytes: png),
            Case(
                condition: "text", lines: "text: { contains: \"#inbox\", matches: \"^due: \\\\d+$\" }",
                yes: "text/a.md",
                no: "text/b.md", yesBytes: text("one #inbox\ndue: 12\n"), noBytes: text("one #inbox\ndue: soon\n")),
            Case(
                condition: "front-matter", lines: "front-matter: { status: [draft, \"review*\"], due: present }",
                yes: "front-matter/a.md", no: "front-matter/b.md",
                yesBytes: text("---\nstatus: review 2\ndue: 1\n---\nx\n"),
                noBytes: text("---\nstatus: review 2\n---\nx\n")),
            Case(
                condition: "size", lines: "size: [\"> 1 KiB\", \"<= 2 KiB\"]", yes: "size/a", no: "size/b",
                yesBytes: [UInt8](repeating: 65, count: 2048), noBytes: [UInt8](repeating: 65, count: 2049)),
            Case(condition: "age", lines: "age: \"> 7d\"", yes: "age/a", no: "age/b", prepareYes: age),
            Case(
                condition: "owner", lines: "owner: \(getuid())", yes: "owner/a", no: "owner/b",
                prepareNo: giveAway),
            Case(
                condition: "links", lines: "links: \"> 1\"", yes: "links/a", no: "links/b",
                prepareYes: { path in
                    let kept = BytePath(bytes: path.bytes + Array(".kept".utf8))
                    if link(path.text, kept.text) != 0 { throw Fault.system("link", path) }
                }),
            Case(
                condition: "xattr", lines: "xattr: { user.xdg.tags: \"*later*\" }", yes: "xattr/a", no: "xattr/b",
                prepareYes: { try ExtendedAttributes.set("user.xdg.tags", text("read-later,x"), on: Descriptor($0)) },
                prepareNo: { try ExtendedAttributes.set("user.xdg.tags", text("read"), on: Descriptor($0)) }),
        ]
    }

    /// Conditions with their own tests; those that look into files are in `InsideFilesTests` and `ContentTests`, the
    /// one on folders is in `FolderRuleRunTests`.
    static let elsewhere: Set<String> = [
        "anchor", "archive", "contains", "count", "duplicate-of", "exif", "holds", "language", "media",
        "pages",
    ]

    @Test("Every condition has a case")
    func complete() throws {
        let steward = try AgentFixture.inside()
        let schema = try Answer(parsing: try steward.run(["rules", "schema"]).check().output)
        let conditions = schema["$defs"]["where"]["properties"].keys.subtracting(["all", "any", "not"])
        #expect(conditions == Set(Self.cases.map(\.condition)).union(Self.elsewhere))
    }

    @Test("Each condition accepts its file, and no other")
    func each() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        let rules = Self.cases.map { each in
            """
            - rule: \(each.condition)
              in: [drafts, comics]
              settle: 100ms
              where:
                all:
                  - { path: "\(each.condition)/**" }
                  - { \(each.lines) }
              do:
                - copy: { place: out, folder: "{{ rule }}/{{ file.place }}/{{ file.folder }}" }
            """
        }
        try steward.rule(rules.joined(separator: "\n"))
        #expect(try steward.run(["check"]).check().output.contains("0 errors"))
        try await steward.start()
        for each in Self.cases {
            try steward.moveIn(BytePath("drafts").appending(each.yes), each.yesBytes, each.prepareYes)
            if ["owner", "group"].contains(each.condition), getuid() != 0 { continue }
            let no: BytePath = each.condition == "place" ? "comics/place/a.md" : BytePath("drafts").appending(each.no)
            try steward.moveIn(no, each.noBytes, each.prepareNo)
        }
        try steward.wait()
        let root = steward.path("out")
        for each in Self.cases {
            let folder = BytePath("out/\(each.condition)")
            let found =
                try steward.exists(folder)
                ? steward.files(folder).compactMap { $0.relative(to: root.appending(BytePath(each.condition))) } : []
            #expect(found == [BytePath("drafts").appending(each.yes)], "\(each.condition)")
        }
    }

    @Test("`all`, `any` and `not` can be nested")
    func nesting() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - rule: Nest
              in: drafts
              settle: 100ms
              where:
                any:
                  - { name: "a*", not: { extension: md } }
                  - all: [ { name: "b*" }, { extension: md } ]
              do: [ { copy: { place: out } } ]
            """)
        try await steward.start()
        for name in ["a.md", "a.txt", "b.md", "b.txt"] { try steward.drop(BytePath("drafts/\(name)"), name) }
        try steward.wait()
        #expect(try steward.files("out").map(\.nameText) == ["a.txt", "b.md"])
    }
}
