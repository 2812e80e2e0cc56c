import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// `steward explain` gives the reason that the agent decides by: both use the same code.
@Suite("Explain says why nothing was done", .ownThreads) struct ExplainTests {
    private func explained(_ steward: AgentFixture, _ path: BytePath) throws -> String {
        try steward.run(["explain", steward.path(path).text]).check().output
    }

    /// The text below `RULE would:`.
    private func said(of rule: String, in output: String) -> String {
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0 != "\(rule) would:" }.dropFirst().prefix { $0.hasPrefix("  ") }.joined(separator: "\n")
    }

    @Test(
        "The agent's own change, a newer rule, a cycle and conditions met later are all given as reasons"
    )
    func known() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - { rule: Rename, in: dropbox, where: { name: "*.raw" }, do: { rename: { name: "own-{{ file.name }}" } } }
            - { rule: Tag, in: dropbox, where: { name: "own-*" }, do: { tag: { add: [seen] } } }
            - { rule: There, in: dropbox, where: { extension: txt }, do: { copy: { place: library } } }
            - { rule: Back, in: library, where: { extension: txt }, do: { copy: { place: dropbox, name: "back-{{ file.name }}" } } }
            - { rule: Album, in: library, match: folders, where: { name: "Old*" }, do: trash }
            - { rule: First, in: notes, where: { first-of: { by: name }, extension: csv }, do: { tag: { add: [first] } } }
            """)
        try steward.drop("notes/old.md", "Old.\n")
        try steward.drop("library/Old/a.md", "Old.\n")
        try await steward.start()
        try steward.drop("dropbox/a.raw", "A")
        try steward.drop("dropbox/b.txt", "B")
        try steward.drop("notes/b.csv", "2")
        try steward.drop("notes/c.csv", "3")
        try steward.wait()

        let own = try explained(steward, "dropbox/own-a.raw")
        #expect(said(of: "Tag", in: own).contains("! this was not done: Steward put the file there itself"), "\(own)")
        let back = try explained(steward, "dropbox/back-b.txt")
        #expect(
            said(of: "There", in: back).contains(
                #"! this is not done: the rule "There" has run already on what this was made from"#), "\(back)")
        // A rule does not run twice for a file, even if the file has been replaced.
        try steward.drop("dropbox/b.txt", "BB")
        try steward.wait()
        let had = try explained(steward, "dropbox/b.txt")
        #expect(had.contains("this version has been judged") && had.contains("There would:"), "\(had)")
        #expect(!had.contains("!"), "\(had)")
        let album = try explained(steward, "library/Old")
        #expect(said(of: "Album", in: album).contains("! this was not done: the folder was there before"), "\(album)")
        // It is the first now, and nobody has touched it.
        try steward.shell(["rm", steward.path("notes/b.csv").text]).check()
        try steward.wait()
        let later = try explained(steward, "notes/c.csv")
        #expect(
            said(of: "First", in: later).contains("! this was not done: the file met the rule's conditions only later"),
            "\(later)")

        try steward.rule(
            "20-late.yaml", "- { rule: Late, in: notes, where: { extension: md }, do: { tag: { add: [late] } } }")
        try steward.wait()
        let old = try explained(steward, "notes/old.md")
        #expect(said(of: "Late", in: old).contains("! this was not done: the file was there before the rule"), "\(old)")
        try await steward.stop()
    }

    @Test(
        "Pending changes are reported as the agent will see them: new name, other content, and what it will do"
    )
    func meanwhile() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - { rule: Renamed, in: dropbox, on: renamed, do: { tag: { add: [renamed] } } }
            - { rule: Pdf, in: dropbox, where: { extension: pdf }, do: { tag: { add: [pdf] } } }
            - { rule: Changed, in: dropbox, on: changed, do: { tag: { add: [changed] } } }
            """)
        try await steward.start()
        try steward.drop("dropbox/a.raw", "A")
        try steward.drop("dropbox/b.txt", "B")
        try steward.drop("dropbox/c.txt", "C")
        try steward.wait()
        try await steward.stop()
        try steward.shell(["mv", steward.path("dropbox/a.raw").text, steward.path("dropbox/a.pdf").text]).check()
        try steward.drop("dropbox/b.txt", "BB")
        try steward.shell(["touch", "-d", "2020-01-01", steward.path("dropbox/c.txt").text]).check()

        let renamed = try explained(steward, "dropbox/a.pdf")
        #expect(renamed.contains("in dropbox, as renamed\n"), "\(renamed)")
        #expect(!said(of: "Renamed", in: renamed).contains("!"), "\(renamed)")
        #expect(said(of: "Pdf", in: renamed).contains("as it has not met the rule's conditions before"), "\(renamed)")
        #expect(renamed.contains("Changed: does not match"))
        let changed = try explained(steward, "dropbox/b.txt")
        #expect(changed.contains("in dropbox, as changed\n") && changed.contains("Changed would:"), "\(changed)")

        let touched = try explained(steward, "dropbox/c.txt")
        #expect(
            said(of: "Changed", in: touched).contains("! this will not be done: only times or attributes"), "\(touched)"
        )
        let scheduled = try steward.run(["explain", "--event", "scheduled", steward.path("dropbox/c.txt").text])
        #expect(scheduled.status == 0, "\(scheduled.errors)")

        // So it arrives.
        try await steward.start()
        try steward.wait()
        let log = try steward.run(["log"]).check().output
        for (rule, count) in [("Renamed", 1), ("Pdf", 1), ("Changed", 1)] {
            #expect(log.components(separatedBy: "rule \"\(rule)\"").count - 1 == count, "\(rule): \(log)")
        }
        try await steward.stop()
    }

    @Test("For a place not yet watched, an arrival rule says that it will skip existing files")
    func before() throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - { rule: Notes, in: notes, do: { tag: { add: [n] } } }
            - { rule: Inbox, in: dropbox, do: { tag: { add: [i] } } }
            """)
        try steward.drop("notes/a.md", "A")
        try steward.drop("dropbox/a.md", "A")
        #expect(
            try said(of: "Notes", in: explained(steward, "notes/a.md")).contains(
                "! this will not be done: the place is yet"))
        #expect(try !said(of: "Inbox", in: explained(steward, "dropbox/a.md")).contains("!"))
    }
}
