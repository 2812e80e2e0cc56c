import Foundation
import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

/// Misbehaving clients of the agent's socket.
@Suite("The control socket")
struct ControlSocketTests {
    private func steward() async throws -> AgentFixture {
        let steward = try AgentFixture()
        try steward.rule(CommandDaemonTests.captures)
        try await steward.start()
        return steward
    }

    @Test("While a client holds the steps none begins, and pending ones run when it disconnects without a word")
    func hold() async throws {
        let steward = try await steward()
        var caller: SocketCaller? = try SocketCaller(steward.home.path.appending("run/control.sock"))
        caller?.say(Array("{\"command\":\"hold\"}\n".utf8))
        #expect(caller?.line().contains("isQuiet") == true)
        for number in 1...5 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try await steward.until("five jobs wait") { try steward.inLedger("SELECT COUNT(*) FROM job") == "5" }
        try steward.run(["status"]).check()
        #expect(try steward.inLedger("SELECT COUNT(*) FROM step WHERE state <> 'pending'") == "0")
        #expect(try steward.files("dropbox").count == 5)
        caller = nil
        try steward.wait()
        #expect(try steward.files("dropbox").isEmpty)
        #expect(try steward.status().parked.map(\.problem) == [])
    }

    @Test("Clients that send a byte now and then, or nothing, block nobody")
    func dribble() async throws {
        let steward = try await steward()
        let socket = steward.home.path.appending("run/control.sock")
        let silent = try (0..<20).map { _ in try SocketCaller(socket) }
        let slow = try (0..<20).map { _ in try SocketCaller(socket) }
        let isOver = Mutex(false)
        let rounds = Mutex(0)
        let dribbling = Task {
            var slow = slow
            // Limited, so that a failing test ends.
            for _ in 0..<3_000 where !isOver.withLock({ $0 }) {
                // A client that was told it took too long reconnects, so their number stays constant.
                for index in slow.indices where !slow[index].say([UInt8(ascii: " ")]) {
                    slow[index] = try SocketCaller(socket)
                }
                rounds.withLock { $0 += 1 }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        try await waitUntil("they dribble") { rounds.withLock { $0 } > 2 }
        for _ in 0..<5 {
            let reply = try await BlockingPool("status").run { try steward.run(["status", "--json"]) }
            #expect(try Answer(parsing: reply.check().output)["isRunning"].isTrue)
        }
        #expect(rounds.withLock { $0 } < 3_000, "they were answered while the others dribbled")
        isOver.withLock { $0 = true }
        try await dribbling.value
        withExtendedLifetime(silent) {}
    }

    @Test("A client that trickles, or sends nothing, is told that it took too long")
    func late() async throws {
        let steward = try await steward()
        let socket = steward.home.path.appending("run/control.sock")
        let (slow, silent) = (try SocketCaller(socket), try SocketCaller(socket))
        let dribbling = Task { while slow.say([UInt8(ascii: " ")]) { try await Task.sleep(for: .milliseconds(100)) } }
        for caller in [silent, slow] {
            let answer = try await BlockingPool("answer").run { caller.answer() }
            #expect(try Answer(parsing: answer)["problem"].text.contains("in time"))
        }
        try await dribbling.value
    }

    @Test("The agent answers in the same words as a command that reads the state itself")
    func queries() async throws {
        let steward = try AgentFixture()
        try steward.rule(
            CommandDaemonTests.captures
                + """

                - { rule: Old, in: library, where: { age: "> 30d" }, do: trash }
                - rule: Asked
                  in: drafts
                  settle: 100ms
                  do: [{ confirm: { text: "Keep {{ file.name }}?" } }, { tag: { add: [kept] } }]
                """)
        try await steward.start()
        for file in ["dropbox/a.md", "library/a.txt", "drafts/a.txt"] as [BytePath] { try steward.drop(file, "text") }
        try steward.wait()
        let path = steward.path("drafts/a.txt").text
        let asked: [(words: [String], request: String)] = [
            (["due"], #"{"command":"due","limit":50}"#), (["confirm"], #"{"command":"questions"}"#),
            (["explain", path], #"{"command":"explain","path":"\#(path)"}"#),
            (["outbox"], #"{"command":"outbox"}"#), (["counters"], #"{"command":"counters"}"#),
            (["losses"], #"{"command":"losses"}"#), (["blocks", "list", "--all"], #"{"command":"blocks","all":true}"#),
            (["quarantine"], #"{"command":"quarantine"}"#),
        ]
        func object(_ text: String) throws -> NSObject? {
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSObject
        }
        /// Drops values that change every second.
        func lasting(_ answer: NSObject?) -> NSObject? {
            guard let all = answer as? NSDictionary, let rest = all.mutableCopy() as? NSMutableDictionary else {
                return answer
            }
            rest.removeObject(forKey: "rules")
            return rest
        }
        for (words, request) in asked {
            let caller = try SocketCaller(steward.home.path.appending("run/control.sock"))
            caller.say(Array("\(request)\n".utf8))
            let reply = try object(caller.line()) as? NSDictionary
            let answer = try #require(reply?["answer"] as? NSObject, "\(words): \(reply ?? [:])")
            #expect(try lasting(object(steward.run(words + ["--json"]).check().output)) == lasting(answer), "\(words)")
        }
        let caller = try SocketCaller(steward.home.path.appending("run/control.sock"))
        caller.say(Array("{\"command\":\"log\",\"limit\":1000,\"after\":0}\n".utf8))
        let lines = try steward.run(["log", "--json", "--lines", "1000"]).check().output.split(separator: "\n")
        #expect(try Answer(parsing: caller.answer())["answer"].items.count == lines.count)
    }

    @Test(
        "A request that cannot be understood gets an answer that says why",
        arguments: [
            ("garbage\n", "one line of JSON"), ("garbage", "one line of JSON"), ("\u{0}\n", "one line of JSON"),
            ("{\"command\":\"status\"\n", "one line of JSON"), ("[]\n", "one line of JSON"),
            ("{\"command\":\"dance\"}\n", "unknown request; the agent knows accept, "),
            ("{\"command\":\"undo\",\"job\":7}\n", "a value is missing or has the wrong type"),
            ("{\"command\":\"undo\"}\n", "a value is missing or has the wrong type"),
            ("{\"command\":\"undo\",\"job\":\"\"}\n", "name a job"),
            ("{\"command\":\"vault-list\"}\n", "a value is missing or has the wrong type"),
            (
                "{\"command\":\"vault-list\",\"vault\":\"main\",\"secrets\":[]}\n",
                "a value is missing or has the wrong type"
            ),
            // A request from an older program.
            ("{\"command\":\"vault\",\"vault\":\"main\"}\n", "unknown request; the agent knows accept, "),
        ])
    func malformed(_ request: String, _ complaint: String) async throws {
        let steward = try await steward()
        let caller = try SocketCaller(steward.home.path.appending("run/control.sock"))
        caller.say(Array(request.utf8))
        caller.finish()
        let answer = try Answer(parsing: caller.answer())
        #expect(answer["problem"].text.contains(complaint), "\(answer["problem"].text)")
        #expect(answer["kind"].text == "usage")
    }

    @Test("A line that is too long gets an answer with the limit, and the agent goes on")
    func tooLong() async throws {
        let steward = try await steward()
        let socket = steward.home.path.appending("run/control.sock")
        let caller = try SocketCaller(socket)
        let line = Array("{\"command\":\"status\",\"id\":\"".utf8) + [UInt8](repeating: 0x61, count: 5 << 20)
        #expect(caller.say(line + Array("\"}\n".utf8)))
        #expect(try Answer(parsing: caller.answer())["problem"].text.contains("at most 1048576 bytes"))
        try steward.run(["status"]).check()
    }

    private static let endless = """
        - rule: R
          in: drafts
          settle: 100ms
          do:
            - run:
                command: [/bin/sh, -c, 'touch "$HOME/begun"; while [ -d "$HOME" -a ! -e "$HOME/go" ]; do sleep 0.1; done']
                repeat: safe
        """

    @Test(
        "Abandoned waiting commands make room for others, whatever they waited for",
        arguments: [true, false])
    func givenUp(isAtWork: Bool) async throws {
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        try steward.rule(isAtWork ? Self.endless : "- rule: R\n  in: drafts\n  settle: 1h\n  do: [trash]\n")
        try await steward.start()
        try steward.drop("drafts/a.md", "A\n")
        try await steward.until("it is waited for") {
            try isAtWork
                ? FileStatus.of(steward.home.path.appending("begun")) != nil : !steward.status().settling.isEmpty
        }
        let socket = steward.home.path.appending("run/control.sock")
        // It has sent everything and now waits for the answer.
        let waiting = try SocketCaller(socket)
        waiting.say(Array("{\"command\":\"wait\"}".utf8))
        waiting.finish()
        var many: [SocketCaller] = []
        // A few more than there is room for: an earlier caller may still hold its slot for a moment.
        for _ in 0..<140 {
            let caller = try SocketCaller(socket)
            caller.say(Array("{\"command\":\"wait\"}\n".utf8))
            many.append(caller)
        }
        try await steward.until("there is no room") { try steward.run(["status"]).errors.contains("busy") }
        many = []
        try await steward.until("there is room") { try steward.run(["status"]).status == 0 }
        guard isAtWork else { return }
        try steward.home.write("go", "")
        let answer = try await BlockingPool("answer").run { waiting.answer() }
        #expect(try !Answer(parsing: answer)["answer"]["quietSince"].text.isEmpty)
        try await steward.stop()
    }

    @Test("Health reports that a hung agent does not respond")
    func hanging() async throws {
        let steward = try await steward()
        let agent = try #require(steward.processID)
        kill(agent, SIGSTOP)
        defer { kill(agent, SIGCONT) }
        try await withThrowingTaskGroup(of: ProgramResult.self) { group in
            for command in ["health", "status", "metrics"] {
                group.addTask { try await BlockingPool("ask").run { try steward.run([command]) } }
            }
            for try await result in group {
                #expect(result.status == 1)
                #expect(result.errors.contains("the agent does not answer"), "\(result.errors)")
            }
        }
    }

    @Test("A second agent with its own state leaves the first one its socket, and does nothing")
    func second() async throws {
        let steward = try await steward()
        let other = try AgentFixture()
        other.variables["STEWARD_RUNTIME"] = steward.home.path.appending("run").text
        try other.rule(CommandDaemonTests.captures)
        try other.drop("dropbox/a.md", "capture 1")
        let result = try await BlockingPool("second").run {
            try other.shell(["/usr/bin/timeout", "60", AgentFixture.binary, "run"])
        }
        #expect(result.status == 1)
        #expect(
            result.errors.contains("another agent") && result.errors.contains("STEWARD_RUNTIME"), "\(result.errors)")
        #expect(try other.exists("dropbox/a.md"))
        #expect(try steward.json(["status"])["process"].number == steward.processID.map(Double.init))
        try steward.drop("dropbox/b.md", "capture 2")
        try steward.wait()
        #expect(try !steward.exists("dropbox/b.md"))
        try await steward.stop()
    }

    @Test("Commands beyond the limit are told that the agent is busy")
    func busy() async throws {
        let steward = try await steward()
        let socket = steward.home.path.appending("run/control.sock")
        // Each of them waits for its turn to send a request.
        let many = try (0..<200).map { _ in try SocketCaller(socket) }
        let last = try await BlockingPool("answer").run { many[199].answer() }
        #expect(try Answer(parsing: last)["problem"].text.contains("busy"))
        let reply = try steward.run(["status"])
        #expect(reply.status == 0 || reply.errors.contains("busy"))
        for caller in many { caller.finish() }
        try await steward.until("the others are forgotten") { try steward.run(["status"]).status == 0 }
    }
}
