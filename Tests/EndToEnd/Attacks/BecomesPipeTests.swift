import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// A file that has become something else when the agent gets to it.
@Suite("Files that become pipes")
struct BecomesPipeTests {
    /// Nothing is parked or waiting, and a file that arrives later is processed.
    private func expectCalm(_ steward: AgentFixture) async throws {
        let hasRested = try steward.rest()
        #expect(hasRested, "the agent comes to rest")
        let status = try steward.status()
        #expect(status.parked.map(\.problem) == [])
        #expect(status.waiting.map(\.problem) == [])
        try steward.drop("dropbox/later.txt", "A later one.\n")
        try await steward.until("a later file is dealt with") { try steward.count("A later one.") == 1 }
        #expect(try !steward.log().contains("Illegal seek"))
        #expect(try await steward.stop() == 0)
    }

    private static let later = """
        - rule: Later
          in: dropbox
          where: { name: later.txt }
          settle: 100ms
          do: [append-block: { text: "{{ file.text }}" }]

        """

    @Test("A file that becomes a pipe while it settles counts as gone")
    func settling() async throws {
        let steward = try AgentFixture()
        try steward.rule(
            Self.later + """
                - rule: Capture
                  in: dropbox
                  where: { name: "pipe*" }
                  settle: 2s
                  do: [index-capture, append-block: { text: "{{ capture.text }}" }, trash]
                """)
        try await steward.start()
        let file = try steward.drop("dropbox/pipe.txt", "Not yet a pipe.\n")
        try await steward.until("it settles") {
            try steward.status().settling.contains { $0.path == "pipe.txt" } || steward.count("Not yet a pipe.") == 1
        }
        let pipe = steward.home.path.appending("pipe")
        mkfifo(pipe.text, 0o644)
        rename(pipe.text, file.text)
        try await expectCalm(steward)
        #expect(try steward.count("Not yet a pipe.") == 0)
    }

    @Test(
        "A file that becomes a pipe between two steps ends its job as changed",
        arguments: [
            "index-capture", "append-block: { text: \"{{ file.text }}\" }", "move: { place: library }",
            "copy: { place: library }", "rename: { name: other.txt }", "trash", "tag: { add: [seen] }", "review",
            "import-comic", "publish: { to: nowhere }",
        ])
    func between(step: String) async throws {
        let steward = try AgentFixture(configuration: AttackedAction.configuration)
        try steward.rule(
            Self.later + """
                - rule: Becomes
                  in: dropbox
                  where: { name: "pipe*" }
                  settle: 100ms
                  do:
                    - run: { command: [sh, -c, "rm pipe.txt; mkfifo pipe.txt"], in: file }
                    - \(step)
                """)
        try await steward.start()
        try steward.drop("dropbox/pipe.txt", "Not yet a pipe.\n")
        try await expectCalm(steward)
        let states = try steward.past("dropbox/pipe.txt").map { $0["state"].text }
        #expect(
            states == ["superseded"]
                || states == ["done"] && (step.hasPrefix("append-block") || step.hasPrefix("publish")), "\(states)")
        #expect(try steward.exists("dropbox/pipe.txt"), "the pipe is left alone")
        #expect(try steward.files("library").isEmpty)
    }

    @Test("A file that becomes a pipe at any opening parks no job", arguments: 1...6)
    func opening(number: Int) async throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else { try Test.cancel("no python3") }
        let steward = try AgentFixture(configuration: AttackedAction.configuration)
        try steward.addPlace("out")
        var cases: [String] = []
        try steward.rule("10-later.yaml", Self.later)
        // A program that opens a pipe waits for a writer; that is its own business.
        for action in AttackedAction.all where !action.opensByName {
            try steward.rule("50-\(action.name).yaml", action.rule(settle: "100ms"))
            let name = BytePath("dropbox/\(action.name)/x").appending(BytePath(action.file))
            try steward.moveIn(name, try action.content("A file for \(action)."))
            cases += ["\(number)", steward.path(name).text]
        }
        let script = try SwapScript(["fifo"] + cases, in: steward.home)
        try await steward.start()
        try await expectCalm(steward)
        try script.finish()
    }
}
