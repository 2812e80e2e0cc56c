import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// An attacker who can write to a place replaces a folder, a file or a target by a link to where only the agent has
/// access. Whatever the agent then does, it does nothing with its user's files.
@Suite("A folder replaced by a link", .enabled(if: TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
struct SwappedFolderTests {
    @Test("A folder replaced by a link while its file settles leads the shipped rules nowhere")
    func shippedRules() async throws {
        let users = try TwoUsers()
        for name in try ShippedRules.files() where name.hasSuffix(".yaml") {
            try users.steward.rule(name, try ShippedRules.read(name))
        }
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\n\(users.secret("key"))\n"
        let comic = try #require(AttackedAction.all.first { $0.name == "import-comic" })
        try users.keep("id_ed25519", Array(key.utf8), in: ".ssh")
        try users.keep("Saga 01.cbz", comic.content(users.secret("comic")), in: "comics")
        try users.keep("essay.md", Array("# \(users.secret("draft"))\nWe met in order to talk.\n".utf8), in: "drafts")
        try users.keep("inbox.md", Array("## Later\n\n^todo-0930\n\(users.secret("task"))\n".utf8), in: "notes")
        try users.guardVictim()
        try await users.steward.start()
        let ways = [
            ("dropbox", "id_ed25519", ".ssh"), ("comics", "Saga 01.cbz", "comics"), ("drafts", "essay.md", "drafts"),
            ("notes", "inbox.md", "notes"),
        ]
        for (place, file, target) in ways {
            try users.attack("cd \"$1\"; mkdir x; echo hi > \"x/$2\"", [place, file])
            try await seen(BytePath("x/\(file)"), users)
            let link = users.closed.appending(BytePath(target)).text
            try users.attack("cd \"$1\"; mv x .y; ln -s \"$2\" x", [place, link])
        }
        try await users.expectNoDamage()
    }

    /// Waits until the agent is settling the file. Without this there would be no attack: an attacker who comes too
    /// late has lost.
    private func seen(_ file: BytePath, _ users: TwoUsers) async throws {
        var timeout = Timeout(seconds: 2)
        while try !users.steward.status().settling.contains(where: { $0.path == file }), try await timeout.pause() {}
    }

    @Test("A folder replaced by a link while its file settles leads no action to another file")
    func eachAction() async throws {
        let users = try prepared(settle: "4s")
        let all = AttackedAction.all
        try users.guardVictim()
        try await users.steward.start()
        for action in all {
            try users.attack(
                "mkdir -p \"dropbox/$1/x\"; cp \"$2\" \"dropbox/$1/x/$3\"",
                [action.name, staged(action, users), action.file])
        }
        for action in all { try await seen(BytePath("\(action.name)/x/\(action.file)"), users) }
        for action in all {
            try users.attack(
                "cd \"dropbox/$1\"; mv x .y; ln -s \"$2\" x", [action.name, users.closed.appending(action.name).text])
        }
        try await users.expectNoDamage()
    }

    @Test("A target folder that has always been a link is not accepted")
    func targets() async throws {
        let users = try prepared(settle: "100ms")
        let all = AttackedAction.all.filter { $0.target != nil }
        for action in all {
            let target = try #require(action.target).text
            try users.attack("ln -s \"$1\" \"$2\"", [users.closed.appending(action.name).text, target])
        }
        try users.guardVictim()
        try await users.steward.start()
        for action in all {
            try users.attack(
                "mkdir -p \"dropbox/$1/x\"; cp \"$2\" \"dropbox/$1/x/$3\"",
                [action.name, staged(action, users), action.file])
        }
        try await users.expectNoDamage()
    }

    @Test("A folder replaced by a link at any opening of its file leads no action to another file", arguments: 1...6)
    func atOpening(number: Int) async throws {
        try await atOpenings(number, isFile: false) { folder, file, link in
            [folder.text, folder.parent.appending(".bad").text, folder.appending(BytePath(file)).text, link.text]
        }
    }

    @Test("A file replaced by a link at any opening leads no action to another file", arguments: 1...6)
    func fileAtOpening(number: Int) async throws {
        try await atOpenings(number, isFile: true) { folder, file, link in
            let good = folder.appending(BytePath(file))
            return [good.text, folder.appending(".bad").text, good.text, link.appending(BytePath(file)).text]
        }
    }

    /// - Parameter pair: what to exchange for which link when which file is opened: good, bad, file, link.
    private func atOpenings(
        _ number: Int, isFile: Bool, _ pair: (_ folder: BytePath, _ file: String, _ link: BytePath) -> [String]
    ) async throws {
        let users = try prepared(settle: "100ms")
        try users.guardVictim()
        var cases: [String] = []
        for action in AttackedAction.all where !(isFile && action.opensByName) {
            let folder = users.steward.path("dropbox").appending(BytePath(action.name)).appending("x")
            let words = pair(folder, action.file, users.closed.appending(BytePath(action.name)))
            try users.attack(
                "mkdir -p \"$1\"; cp \"$2\" \"$1/$3\"; ln -s \"$4\" \"$5\"",
                [folder.text, staged(action, users), action.file, words[3], words[1]])
            cases += ["\(number)"] + words.prefix(3)
        }
        let script = try users.swaps(["once"] + cases)
        try await users.steward.start()
        try await users.expectNoDamage()
        print("opening \(number): \(try script.finish().split(separator: "\n").last ?? "")")
    }

    @Test("A target folder constantly swapped for a link gets everything, or nothing does")
    func targetStorm() async throws {
        for action in AttackedAction.all where action.target != nil {
            let users = try prepared(settle: "50ms", [action])
            try users.guardVictim()
            try await users.steward.start()
            _ = try SwapStorm(users, action, .target, swaps: 2000).run()
            try await users.expectNoDamage()
        }
    }

    /// Rules for the actions, with a file of the victim in `closed/ACTION` for each, and the file that the attacker
    /// will drop.
    private func prepared(settle: String, _ actions: [AttackedAction] = AttackedAction.all) throws -> TwoUsers {
        try TwoUsers.attacked(by: actions, settle: settle)
    }

    private func staged(_ action: AttackedAction, _ users: TwoUsers) -> String {
        SwapStorm.staged(action, users).text
    }
}
