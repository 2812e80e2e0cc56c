import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// What a running agent exposes to monitoring.
@Suite("Metrics, status and health")
struct MetricsTests {
    private static let rules = """
        - rule: "Say \\"hi\\""
          in: dropbox
          settle: 50ms
          do:
            - index-capture
            - append-block: { heading: Captures, text: "got {{ capture.text }}" }
            - trash
        """

    private func steward(_ configuration: String = "") async throws -> AgentFixture {
        let steward = try AgentFixture(configuration: configuration)
        try steward.rule(Self.rules)
        try await steward.start()
        return steward
    }

    @Test("Metrics and status count what was done, and neither contains a file name")
    func counted() async throws {
        let steward = try await steward()
        for number in 1...3 { try steward.drop(BytePath("dropbox/secretly\(number).md"), "capture \(number)") }
        try steward.wait()
        let lines = try steward.run(["metrics"]).check().output.split(separator: "\n").map(String.init)
        let rule = #"rule="Say \"hi\"""#
        #expect(lines.contains("steward_jobs_ended_total{result=\"done\",\(rule)} 3"))
        #expect(lines.contains("steward_job_latency_seconds_count{\(rule)} 3"))
        for action in ["index-capture", "append-block", "trash"] {
            #expect(lines.contains("steward_steps_total{action=\"\(action)\",result=\"done\"} 3"))
            #expect(lines.contains("steward_step_duration_seconds_count{action=\"\(action)\"} 3"))
        }
        #expect(lines.contains(#"steward_files_judged_total{place="dropbox",verdict="news"} 3"#))
        #expect(lines.contains { $0.hasPrefix(#"steward_settling_seconds_count{place="dropbox"} "#) })
        #expect(lines.contains(#"steward_jobs{state="done"} 3"#))
        #expect(lines.contains("steward_oldest_job_age_seconds 0"))
        #expect(lines.contains(#"steward_place_up{place="dropbox"} 1"#))
        #expect(lines.contains("steward_ledger_writable 1"))
        #expect(lines.contains { $0.hasPrefix("process_open_fds ") })
        let events = lines.first { $0.hasPrefix("steward_watch_events_total ") }
        #expect(events.flatMap { Int($0.split(separator: " ")[1]) } ?? 0 > 3)
        #expect(!lines.contains { $0.contains("secretly") })

        let work = try steward.json(["status"])["work"]
        #expect(work["ended"]["done"].number == 3)
        #expect(work["atWork"].number == 0 && work["queued"].number == 0)
        #expect(work["median"].number != nil && work["ninetyNine"].number != nil)
        #expect(try steward.run(["status"]).output.contains("since the start: 3 done; half of those done within "))
        try await steward.stop()
        #expect(try steward.json(["status"])["work"].keys.isEmpty)
        let gone = try steward.run(["metrics"])
        #expect(gone.status == 1 && gone.errors.contains("no agent is running"))
    }

    @Test(
        "Prometheus's own parser reads everything, and finds no violation of its conventions",
        .enabled("Python and PyPI's prometheus-client are wanted (see Tests/Peers/metrics-peers.sh)") {
            await MetricsReader.python.value != nil
        })
    func parsed() async throws {
        let steward = try await steward()
        try steward.drop("dropbox/a.md", "one")
        try steward.wait()
        let text = try steward.run(["metrics"]).check().output
        let python = try #require(await MetricsReader.python.value)
        let read = try MetricsReader.execute([python, MetricsReader.peers + "/metrics_reader.py"], input: text)
        #expect(read.status == 0, "\(read.errors)")
        let found = try Answer(parsing: read.output)
        #expect(found.keys.count > 30)
        #expect(found["steward_jobs_ended"]["type"].text == "counter")
        let sample = found["steward_jobs_ended"]["samples"].items.first
        #expect(sample?["labels"]["rule"].text == #"Say "hi""#)
        #expect(sample?["value"].number == 1)
    }

    @Test("The exit code of `health` says whether the agent runs, and whether something needs a user")
    func health() async throws {
        let steward = try AgentFixture()
        try steward.rule(Self.rules)
        let before = try steward.run(["health"])
        #expect(before.status == 69 && before.output.hasPrefix("not running: nobody listens at "))
        #expect(try steward.json(["health"], status: 69)["isRunning"] == Answer(parsing: "false"))
        try await steward.start()
        try steward.wait()
        let well = try steward.run(["health"])
        #expect(well.status == 0 && well.output == "healthy\n")
        #expect(try steward.json(["health"])["isHealthy"].isTrue)
        try steward.rule("20-bad.yaml", "- rule: Bad\n  in: nowhere\n  do: [trash]\n")
        try await steward.until("the rules are found to be wrong") { try steward.run(["health"]).status == 2 }
        #expect(try steward.run(["health"]).output.contains("the rule files have errors"))
        try Durable.remove(steward.home.path.appending(".config/steward/rules.d/20-bad.yaml"))
        try await steward.until("they are right again") { try steward.run(["health"]).status == 0 }
        let (place, aside) = (steward.path("library"), steward.path("aside"))
        guard rename(place.text, aside.text) == 0 else { throw Fault.system("rename", place) }
        try await steward.until("a place is missed") { try steward.run(["health"]).status == 2 }
        #expect(try steward.json(["health"], status: 2)["findings"].items.map { $0["subject"].text } == ["place"])
    }

    @Test("The service manager is notified of the start, of the counts, and regularly that the work goes on")
    func manager() async throws {
        let receiver = try DatagramReceiver()
        let steward = try AgentFixture()
        try steward.rule(Self.rules)
        steward.variables["NOTIFY_SOCKET"] = receiver.path.text
        steward.variables["WATCHDOG_USEC"] = "600000"
        try await steward.start()
        func words() -> Int { receiver.texts.count { $0 == "WATCHDOG=1" } }
        try await steward.until("it has told of its work") { words() >= 3 }
        #expect(receiver.texts.contains("READY=1"))
        try await steward.until("it has told its counts") { receiver.texts.contains("STATUS=5 places, 1 rules") }
        try steward.run(["pause"]).check()
        try await steward.until("it has told that it is paused") {
            receiver.texts.contains("STATUS=5 places, 1 rules, paused")
        }
        let (place, aside) = (steward.path("library"), steward.path("aside"))
        guard rename(place.text, aside.text) == 0 else { throw Fault.system("rename", place) }
        try await steward.until("it has told of a problem") {
            receiver.texts.last { $0.hasPrefix("STATUS=") }?.contains("1 problems: `steward health`") == true
        }
        let before = words()
        try await steward.until("it goes on telling, with a place away and paused") { words() > before + 2 }
        try await steward.stop()
        #expect(receiver.texts.contains { $0.hasPrefix("STOPPING=1") })
    }

    @Test("A scraper on this machine gets them over HTTP, if configured")
    func scraped() async throws {
        let port = Int.random(in: 20_000...30_000)
        let steward = try await steward("metrics: { listen: \"127.0.0.1:\(port)\" }")
        try await steward.until("it listens") {
            try steward.log().contains("serving metrics at http://127.0.0.1:\(port)")
        }
        func get(_ page: String, _ more: [String] = []) throws -> ProgramResult {
            let answer = ["-w", "%{http_code}", "http://127.0.0.1:\(port)\(page)"]
            return try steward.shell(["/usr/bin/curl", "-s", "--noproxy", "*"] + more + answer).check()
        }
        let metrics = try get("/metrics").output
        #expect(metrics.hasSuffix("\n200") && metrics.contains("\nsteward_rules 1\n"))
        #expect(try get("/health").output == "healthy\n200")
        #expect(try get("/metrics", ["-H", "Host: evil.example"]).output.hasSuffix("421"))
        try await steward.stop()
    }

    @Test("An agent that was passed the socket answers on it, and leaves it to the listener when it does not")
    func activated() async throws {
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        let home = steward.home.path.text
        let show = try steward.home.write(
            "show", "#!/bin/sh\nenv > '\(home)/shown'; ls -l /proc/self/fd >> '\(home)/shown'\n")
        chmod(show.text, 0o755)
        try steward.rule(
            "- rule: Show\n  in: drafts\n  settle: 50ms\n  do: [run: { command: [\"\(show)\"], repeat: safe }]\n")
        let socket = steward.home.path.appending("run/control.sock")
        // As systemd does: it listens, and passes the socket to the agent as descriptor 3.
        let script = """
            import os, socket, sys
            os.makedirs(os.path.dirname(sys.argv[1]), 0o700, exist_ok=True)
            s = socket.socket(socket.AF_UNIX)
            s.bind(sys.argv[1])
            s.listen(16)
            def agent():
                os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="steward.socket")
                os.dup2(s.fileno(), 3)
                os.set_inheritable(3, True)
                os.execv(sys.argv[2], sys.argv[2:])
            if os.fork() == 0:
                agent()
            os.wait()
            print("again", file=sys.stderr, flush=True)
            s.accept()[0].close()
            agent()
            """
        let python = try steward.home.write("activate.py", script)
        try await steward.start(wrapper: ["/usr/bin/python3", python.text, socket.text])
        try steward.drop("drafts/a.md", "x")
        try steward.wait()
        let shown = try steward.home.read("shown")
        #expect(shown.contains("PATH=") && !shown.contains("LISTEN_"), "\(shown)")
        let first = try #require(try steward.json(["status"])["process"].number)
        #expect(kill(Int32(first), SIGTERM) == 0)
        try await steward.until("the first agent has ended") { try steward.log().contains("again") }
        #expect(try FileStatus.of(socket) != nil, "the socket is not the agent's to remove")
        // A connection is accepted, and starts a second agent.
        _ = try steward.run(["status"])
        try await steward.until("the second agent answers") {
            try steward.run(["status", "--json"]).output.contains("\"isRunning\" : true")
        }
        #expect(try steward.json(["status"])["process"].number != first)
        try await steward.stop()
    }
}

/// Runs `metrics_reader.py`.
private enum MetricsReader {
    static let peers = Checkout.root.appending("Tests/Peers").text

    static func execute(_ command: [String], input: String = "") throws -> ProgramResult {
        try TemporaryFolder().run(command, environment: ProcessInfo.processInfo.environment, input: input)
    }

    /// The environment's Python; nil if there is none.
    static let python = Task<String?, Never> {
        guard ProcessInfo.processInfo.environment["STEWARD_TEST_PEERS"] != "0" else { return nil }
        do {
            // `.build/<triple>/debug/steward`: the environment survives a clean build of one configuration.
            let program = BytePath(AgentFixture.binary)
            let build = (program.real ?? program).parent.parent.parent
            let made = try execute(["/bin/sh", peers + "/metrics-peers.sh", build.text + "/metrics-peers"])
            guard made.status == 0, let folder = made.output.split(separator: "\n").last else {
                print("tests that want metrics-peers.sh are skipped: \(made.errors)")
                return nil
            }
            return folder + "/bin/python"
        } catch {
            print("tests that want metrics-peers.sh are skipped: \(error)")
            return nil
        }
    }
}
