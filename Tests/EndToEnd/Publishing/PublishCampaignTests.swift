import Foundation
import Platform
import TestSupport
import Testing

/// Publishes events while the agent and their receiver are both killed at random, and while the receiver misbehaves: in
/// the end each has been received once, and those of each key in order. With `STEWARD_TEST_WHOLE=1` for a hundred
/// rounds.
@Suite("The campaign of events")
struct PublishCampaignTests {
    private static let rules = """
        - rule: Tell
          in: dropbox
          settle: 50ms
          do:
            - publish:
                to: hook
                key: "{{ file.extension }}"
                payload: '{"name": "{{ file.name }}", "text": "{{ file.text }}"}'
        """

    @Test(
        "Agent and receiver are killed at random: every event is received once by its id, in order for each key",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"))
    func kills() async throws {
        var random = SeededGenerator(for: "the campaign of events")
        let folder = try TemporaryFolder("receiver")
        let receiver = try WebhookReceiver(
            in: folder, secret: "s3cret", trouble: UInt32.random(in: 0...9999, using: &random))
        let steward = try AgentFixture(
            configuration: """
                publish:
                  hook:
                    kind: webhook
                    url: "http://127.0.0.1:\(receiver.port)/"
                    allow-insecure-http: true
                    secret: hook
                """)
        steward.variables["HOOK_API_KEY"] = "s3cret"
        try steward.rule(Self.rules)
        var names: [String] = []
        var isUp = true
        for round in 0..<(Thoroughness.isWhole ? 100 : 8) {
            let process = try await steward.launch()
            let end = ContinuousClock.now.advanced(by: .milliseconds(Int.random(in: 50...1_500, using: &random)))
            for _ in 0..<Int.random(in: 2...8, using: &random) {
                let name = "e\(names.count).k\(Int.random(in: 0..<6, using: &random))"
                // Long ones are stored among the ledger's texts while they are intents.
                let size = Bool.random(using: &random) ? 10 : 2_000
                try steward.drop(BytePath("dropbox/\(name)"), "\(name) " + String(repeating: "x", count: size))
                names.append(name)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...150, using: &random)))
                guard Int.random(in: 0..<8, using: &random) == 0 else { continue }
                if isUp { receiver.kill() } else { try await receiver.restart() }
                isUp.toggle()
            }
            try await Task.sleep(until: end, clock: .continuous)
            #expect(process.isRunning, "round \(round)")
            try await steward.kill9()
        }
        if !isUp { try await receiver.restart() }
        try await steward.start()
        try steward.wait()
        try steward.run(["outbox", "retry", "--all"]).check()
        try await steward.until("the outbox is empty", seconds: 600) { try steward.json(["outbox"]).items.isEmpty }
        try await steward.stop()
        try expectEverything(names, receiver, steward)
        receiver.kill()
    }

    private func expectEverything(_ names: [String], _ receiver: WebhookReceiver, _ steward: AgentFixture) throws {
        let taken = try receiver.taken()
        let ids = taken.map { $0["id"].text }
        #expect(Set(ids).count == ids.count, "each id once")
        let received = try taken.map { try Answer(parsing: $0["body"].text)["name"].text }
        #expect(received.sorted() == names.sorted(), "each event once")
        // A step's history line is in the transaction that adds its event to the outbox, so their order is the order of
        // events.
        let steps = try steward.history().filter { $0["kind"].text == "step" }
        #expect(steps.count == names.count)
        for key in 0..<6 {
            let wanted = steps.map { $0["path"].text }.filter { $0.hasSuffix(".k\(key)") }
            #expect(received.filter { $0.hasSuffix(".k\(key)") } == wanted, "in order, for the key k\(key)")
        }
        let sent = taken.count { !$0["x-steward-delivery"].text.hasSuffix("/1") }
        print("the campaign of events: \(names.count) events, \(sent) of them received at a later try than the first")
    }
}
