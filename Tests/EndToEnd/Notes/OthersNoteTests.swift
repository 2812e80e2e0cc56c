import Foundation
import Platform
import TestSupport
import Testing

/// Files of another owner, as an agent without privileges meets them: no lease, and no right to write.
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
            // Anew, so that it is the other's again: what the agent exchanges is the agent's.
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

    @Test("Check says which step a place's files do not permit, and what waits behind it")
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
        // The folder lets names be taken out of it by everybody; a sticky one does not.
        try steward.shell(["chmod", "1777", steward.path("dropbox").text]).check()
        try steward.shell(["chown", "root", steward.path("dropbox").text]).check()
        let sticky = try steward.run(["check"]).check().output
        #expect(sticky.contains("`move` is not permitted on the file theirs.txt in dropbox"), "\(sticky)")
    }
}
