import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Conditions on a file's bytes and attributes") struct FileConditionTests {
    private let folder: TemporaryFolder
    private let place: PlaceInfo

    init() throws {
        folder = try TemporaryFolder()
        place = PlaceInfo(name: "other", kind: .folder, root: folder.path)
    }

    /// What `explain` shows of the condition, and whether it holds; nil if that is unknown.
    private func look(
        _ condition: String, _ path: BytePath = "a.txt", isRead: Bool = true
    ) throws -> (held: Bool?, seen: String) {
        let set = RuleSet([try rule(where: condition, places: [place])])
        let status = try FileStatus.of(folder.path.appending(path))
        let content: FileFacts.Content =
            if !isRead { .unread } else if status == nil { .none } else {
                .open(try Descriptor(folder.path.appending(path)))
            }
        let facts = FileFacts(
            place: place, path: path, status: status, event: .arrived, now: .now(), content: content)
        let result = try #require(set.explain(facts).first?.conditions.last)
        if isRead { #expect(try set.match(facts).isEmpty == (result.held != true), "explain says the same as match") }
        return (result.held, result.seen)
    }

    @Test(
        "`empty` is a file without bytes, `blank` also one with only white space",
        arguments: [
            ("", "empty: true", true, "0 bytes"), ("", "empty: false", false, "0 bytes"),
            ("", "empty: blank", true, "0 bytes"), (" \n\t\n", "empty: true", false, "4 bytes"),
            (" \n\t\n", "empty: blank", true, "4 bytes of white space"),
            ("\u{FEFF}\r\n", "empty: blank", true, "5 bytes of white space"),
            (" x ", "empty: blank", false, "3 bytes of text"),
            (" \u{0}", "empty: blank", false, "2 bytes that are no text"),
        ])
    func empty(_ content: String, _ condition: String, _ expected: Bool, _ seen: String) throws {
        try folder.write("a.txt", content)
        let found = try look(condition)
        #expect(found.held == expected)
        #expect(found.seen == seen)
    }

    @Test("Whether a text is blank needs reading, unless its size decides") func emptyUnread() throws {
        try folder.write("a.txt", "x")
        try folder.write("long.txt", String(repeating: " ", count: FileFacts.textLimit + 1))
        #expect(try look("empty: blank", isRead: false).held == nil)
        #expect(try look("empty: blank", "long.txt", isRead: false).held == false)
        #expect(try look("empty: false", isRead: false).held == true)
        #expect(try look("empty: true", "gone.txt").held == false)
        #expect(
            complaints("rule: R\nin: other\nwhere: { empty: maybe }\ndo: trash\n") == [
                "3:17 `empty` must be `true` or `false`, not `maybe`"
            ])
    }

    @Test(
        "Permission bits are compared as by find",
        arguments: [
            ("0640", true), ("640", true), ("0644", false), ("-0600", true), ("-0444", false), ("/0111", false),
            ("/0022", false), ("/0044", true), ("private", false), ("executable", false), ("[0644, 0640]", true),
        ])
    func mode(_ wanted: String, _ expected: Bool) throws {
        let path = try folder.write("a.txt", "x")
        #expect(chmod(path.text, 0o640) == 0)
        let found = try look("mode: \(wanted)")
        #expect(found.held == expected)
        #expect(found.seen == "0640")
    }

    @Test("Words name permission bits, and invalid ones are rejected") func modeWords() throws {
        let path = try folder.write("a.txt", "x")
        #expect(chmod(path.text, 0o700) == 0)
        #expect(try look("mode: private").held == true)
        #expect(try look("mode: executable").held == true)
        for wrong in ["rwx", "0999", "77777", "-", "+644"] {
            #expect(
                complaints("rule: R\nin: other\nwhere: { mode: \"\(wrong)\" }\ndo: trash\n") == [
                    "3:16 `mode` must be permission bits in octal such as `0644`, not `\(wrong)`; `-0111` means all of these "
                        + "bits, `/0111` any of them"
                ])
        }
    }

    @Test("The group is compared by name and number") func group() throws {
        let path = try folder.write("a.txt", "x")
        let status = try #require(try FileStatus.of(path))
        #expect(try look("group: \(status.group)").held == true)
        #expect(try look("group: \(status.group + 1)").held == false)
        let name = String(cString: try #require(getgrgid(status.group)).pointee.gr_name)
        #expect(try look("group: [\"\(name)\"]").held == true)
        let (rules, diagnostics) = parse("rule: R\nin: other\nwhere: { group: nobody-has-this-name }\ndo: trash\n")
        #expect(rules.count == 1)
        #expect(diagnostics.map(\.severity) == [.warning])
    }

    @Test("The origin of a download is compared by host, or as a whole") func downloadedFrom() throws {
        let path = try folder.write("a.txt", "x")
        let file = try Descriptor(path)
        #expect(try look("downloaded-from: \"*\"").seen == "nothing says where from")
        do {
            let origin = "https://me:secret@CDN.Example.org:8443/files/2026/a.txt?x=1"
            try ExtendedAttributes.set("user.xdg.origin.url", Array(origin.utf8), on: file)
        } catch {
            return  // This file system has no user attributes.
        }
        try ExtendedAttributes.set("user.xdg.referrer.url", Array("https://[2001:db8::1]/list".utf8), on: file)
        for (glob, expected) in [
            ("cdn.example.org", true), ("*.example.org", true), ("example.org", false), ("*/files/*", false),
            ("https://**/files/**", true), ("2001:db8::1", true), ("[!c]*", true), ("cdn.example.org:8443", false),
        ] {
            #expect(try look("downloaded-from: \"\(glob)\"").held == expected, "\(glob)")
        }
        #expect(try look("downloaded-from: \"*\"", isRead: false).held == nil)
        let set = RuleSet([try rule(where: "downloaded-from: \"*.example.org\"", places: [place])])
        let facts = FileFacts(
            place: place, path: "a.txt", status: try FileStatus.of(path), event: .arrived, now: .now(),
            content: .open(file))
        let values = try #require(try set.match(facts).first?.hits.first?.values)
        #expect(values["download.host"] == .text("cdn.example.org"))
    }

    @Test("Mounts are recognised by their folder") func mounted() throws {
        let set = RuleSet([try rule(where: "mounted: [/, /proc]", places: [place])])
        let none = RuleSet([try rule(where: "mounted: \"\(folder.path)\"", places: [place])])
        let facts = FileFacts(
            place: place, path: "a.txt", status: nil, event: .arrived, now: .now(), content: .none,
            sources: FactSources(surroundings: NothingAround()))
        #expect(try set.match(facts).count == 1)
        #expect(try none.match(facts).isEmpty)
        #expect(try look("mounted: /", isRead: false).held == nil, "nothing is asked where nothing is to be looked at")
        #expect(
            complaints("rule: R\nin: other\nwhere: { mounted: backup }\ndo: trash\n") == [
                "3:19 `mounted` must be a whole path such as `/media/backup`, or `label=NAME`, not `backup`"
            ])
    }
}

/// For conditions that look at neither files nor ledger.
struct NothingAround: FileSurroundings {
    func files(in folder: BytePath, of place: PlaceInfo) -> [Neighbour] { [] }
    func contents(ofSize size: Int64, _ hash: ContentHash) -> [ContentPlace] { [] }
    func holds(_ other: ContentPlace, _ hash: ContentHash) -> Bool { false }
    func root(of place: String) -> BytePath? { nil }
}
