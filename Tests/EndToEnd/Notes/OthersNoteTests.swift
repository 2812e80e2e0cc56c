import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Files of another owner for an agent without privileges: no lease, and no write permission.
@Suite(
    "Notes and files of another owner",
    .enabled(if: TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
struct OthersNoteTests {
    @Test("A note of another owner gets each block once, whatever its owner does with it")
    func once() async throws {
        let users = try TwoUsers(configuration: "notes: { wait-editor: 1s, wait-open: 5s }")
        let steward = users.steward
        try steward.rule(
            "10-captures.yaml",
            EditorTests.Notes.rule.replacingOccurrences(of: "{ heading", with: "{ note: inbox, heading"))
        try await steward.start()
        let rounds = Thoroughness.isWhole ? 20 : 3
        for round in 0..<rounds {
            // Recreated, so that it belongs to the other user again: the agent owns what it exchanges.
            let owners = [
                "cat notes/inbox.md > notes/inbox.new 2> /dev/null || printf '# Inbox\\n' > notes/inbox.new; "
                    + "rm -f notes/inbox.md; mv notes/inbox.new notes/inbox.md",
                "echo \"typed $1\" >> notes/inbox.md",
                "grep -r capture notes > /dev/null; cp notes/inbox.md \"/tmp/$2\"; echo \"typed late $1\" >> \"/tmp/$2\"; "
                    + "cat \"/tmp/$2\" > notes/inbox.md; rm \"/tmp/$2\"",
            ]
            let name = steward.home.path.nameText + "-copy"
            try users.attack(owners[0], ["\(round)", name])
            for number in 1...3 {
                try steward.drop(BytePath("dropbox/c\(round)-\(number).md"), "capture \(round)-\(number);")
            }
            try await steward.until("the captures are in the note") {
                let text = (try? steward.read("notes/inbox.md")) ?? ""
                return (1...3).allSatisfy { text.contains("<capture \(round)-\($0);>") }
            }
            try users.attack(owners[1 + round % 2], ["\(round)", name])
            try steward.wait()
        }
        let text = try steward.read("notes/inbox.md")
        for round in 0..<rounds {
            for number in 1...3 {
                #expect(text.occurrences(of: "<capture \(round)-\(number);>") == 1, "\(round), \(number): \(text)")
            }
        }
        try await steward.stop()
    }

    /// The gid of a family.
    private static let family: gid_t = 65_003

    /// A user's agent, a rule for captures, and a note that the family may read and write.
    private func familyNote(of owner: TestUser, agent: TestUser) throws -> TwoUsers {
        let users = try TwoUsers(configuration: "notes: { wait-editor: 1s, wait-open: 1s }", victim: agent)
        try users.steward.rule(
            "10-captures.yaml",
            EditorTests.Notes.rule.replacingOccurrences(of: "{ heading", with: "{ note: inbox, heading"))
        let note = try users.steward.drop("notes/inbox.md", "# Inbox\n")
        try owner.own(note, group: Self.family)
        chmod(note.text, 0o660)
        return users
    }

    @Test("A note of another owner keeps the group that gives others access")
    func group() async throws {
        var agent = TestUser.victim
        agent.groups = [Self.family]
        let steward = try familyNote(of: .attacker, agent: agent).steward
        try await steward.start()
        try steward.drop("dropbox/c.md", "capture")
        try await steward.until("the capture is in the note") {
            try steward.read("notes/inbox.md").contains("<capture>")
        }
        let status = try #require(try FileStatus.of(steward.path("notes/inbox.md")))
        #expect(status.owner == agent.id && status.group == Self.family && status.mode == 0o660)
        try await steward.stop()
    }

    @Test(
        "A note whose group the agent cannot set is left alone, and written once nobody reads it",
        .enabled(if: TestUser.mayBePrivate, "users may have no namespaces here"))
    func hiddenGroup() async throws {
        var agent = TestUser.victim
        agent.isPrivate = true
        let steward = try familyNote(of: agent, agent: agent).steward
        try await steward.start()
        let note = steward.path("notes/inbox.md")
        do {
            let reader = try Descriptor(note)
            defer { withExtendedLifetime(reader) {} }
            try steward.drop("dropbox/c.md", "capture")
            try await steward.until("the job is parked") { try !steward.status().parked.isEmpty }
            let problem = try steward.status().parked.first?.problem ?? ""
            #expect(problem.contains("cannot keep the group of \(note), so it was left as it is"), "\(problem)")
            #expect(problem.contains("PrivateUsers=no"), "\(problem)")
            #expect(try steward.files("notes") == [note] && steward.read("notes/inbox.md") == "# Inbox\n")
        }
        try steward.run(["retry"]).check()
        try await steward.until("the capture is in the note") {
            try steward.read("notes/inbox.md").contains("<capture>")
        }
        let status = try #require(try FileStatus.of(note))
        #expect(status.group == Self.family && status.mode == 0o660)
        try await steward.stop()
    }

    @Test("`check` names steps that a place's permissions prevent, and the work that waits for them")
    func withheld() async throws {
        let users = try TwoUsers()
        let steward = users.steward
        try users.attack("echo theirs > dropbox/theirs.txt; chmod 644 dropbox/theirs.txt")
        try steward.drop("drafts/own.txt", "own")
        try TestUser.victim.own(steward.path("drafts/own.txt"))
        try steward.rule(
            "10-sort.yaml",
            """
            - rule: Sort
              in: [dropbox, drafts]
              do:
                - tag: { add: [seen] }
                - move: { place: out }
            """)
        let told = try steward.run(["check"]).check().output
        #expect(
            told.contains(
                "warning: `tag` is not permitted on the file theirs.txt in dropbox: this user may not "
                    + "write it; a job for such a file is parked before `move`"), "\(told)")
        #expect(told.occurrences(of: "is not permitted") == 1, "\(told)")
        // Anyone may remove names from this folder; a sticky one would not allow it.
        try steward.shell(["chmod", "1777", steward.path("dropbox").text]).check()
        try steward.shell(["chown", "root", steward.path("dropbox").text]).check()
        let sticky = try steward.run(["check"]).check().output
        #expect(sticky.contains("`move` is not permitted on the file theirs.txt in dropbox"), "\(sticky)")
    }
}
