import Foundation
import Platform
import TestSupport
import Testing

/// What `systemctl status` shows of the agent.
@Suite("The service manager's status line")
struct StatusLineTests {
    private let receiver: DatagramReceiver
    private let steward: AgentFixture

    init() throws {
        receiver = try DatagramReceiver()
        steward = try AgentFixture(configuration: "run: { allow: true }")
        steward.variables["NOTIFY_SOCKET"] = receiver.path.text
    }

    private func last() -> String { receiver.texts.last { $0.hasPrefix("STATUS=") } ?? "" }

    @Test(
        "A question that is declined, by command or in its note, is no longer mentioned", arguments: [true, false])
    func declined(byCommand: Bool) async throws {
        try steward.rule(
            """
            - rule: R
              in: drafts
              settle: 100ms
              on: arrived
              do:
                - confirm: { text: "Trash it?", note: asks }
                - trash
            """)
        try await steward.start()
        try steward.drop("drafts/a.md", "A\n")
        try steward.wait()
        try await steward.until("it tells that something is asked") { last().contains("1 asking") }
        if byCommand {
            let job = try #require(try steward.json(["confirm"]).items.first?["job"].text)
            try steward.run(["decline", job]).check()
        } else {
            let note = try steward.read("notes/asks.md")
            try steward.drop("notes/asks.md", note.replacingOccurrences(of: "- [ ]", with: "- [-]"))
        }
        try await steward.until("it tells so no longer") { !last().contains("asking") }
        try await steward.stop()
    }

    @Test("While stopping, nothing else is shown, however long the running steps take")
    func stopping() async throws {
        // It ends after the time at which a delayed line would have been sent.
        try steward.rule(
            """
            - rule: R
              in: drafts
              settle: 100ms
              do:
                - run:
                    command: [/bin/sh, -c, 'while [ -d "$HOME" -a ! -e "$HOME/go" ]; do sleep 0.1; done; sleep 6']
                    repeat: safe
            """)
        try await steward.start()
        try steward.drop("drafts/a.md", "A\n")
        try await steward.until("it tells of the step") { last().contains("1 at work") }
        try steward.run(["pause"]).check()
        try steward.home.write("go", "")
        try await steward.stop()
        let texts = receiver.texts
        let stop = try #require(texts.firstIndex { $0.hasPrefix("STOPPING=1") })
        #expect(texts[(stop + 1)...].filter { $0.contains("STATUS=") } == [])
    }
}
