import Foundation
import Glibc
import OwnFiles
import Platform

/// A separate home, and the agent in it: the built `steward`, or one in the tests' own process. Frequent questions go to
/// its socket, all other commands through the binary, as for a user.
///
/// Nothing here sleeps for a result: `wait()` asks the agent until nothing is pending, `until` polls a condition.
package final class AgentFixture: @unchecked Sendable {  // `agent` is only touched by the test's own task
    package let home: TemporaryFolder
    /// Additional variables for everything the fixture starts.
    package var variables: [String: String] = [:]
    /// Where the agent writes its log instead of `agent.log`.
    package var standardError: FileHandle?
    /// The command prefix of every `steward` command, to run it as another user.
    private let wrapper: [String]
    private var agent: Process?
    /// Runs the agent in the tests' own process; nil to start the program.
    private let inner: (any InnerAgent)?
    private var hasSlot = false
    private let isSecond: Bool

    /// The places that `init` creates, by name.
    package var places: [String] { ["notes", "drafts", "comics", "dropbox", "library"] }

    /// Creates the home as `steward init` does.
    ///
    /// - Parameters:
    ///   - configuration: lines added to `steward.yaml` (top-level keys).
    ///   - user: who owns the home and runs `steward`; only root can choose another user.
    ///   - other: a fixture of the same test whose places it shares; both count as one running agent.
    ///   - inner: runs the agent in the tests' own process.
    package init(
        configuration: String = "", as user: TestUser? = nil, sharing other: AgentFixture? = nil,
        inside inner: (any InnerAgent)? = nil
    ) throws {
        self.inner = inner
        isSecond = other != nil
        home = try TemporaryFolder("steward-e2e")
        wrapper = user?.command ?? []
        if let user {
            try user.own(home.path)
            try run(["init"]).check()
        } else {
            let prepared = try Self.prepared.get()
            for name in [".config", "Steward"] {
                try FileManager.default.copyItem(
                    atPath: prepared.path.appending(BytePath(name)).text,
                    toPath: home.path.appending(BytePath(name)).text)
            }
        }
        if !configuration.isEmpty { try configure { $0 + "\n" + configuration + "\n" } }
        if let other { try configure { $0.replacing("~/Steward/", with: other.path("").text + "/") } }
    }

    /// A home after `steward init`. Its configuration names the places by `~`, so copies work as well.
    private static let prepared = Swift.Result {
        let home = try TemporaryFolder("steward-init")
        try home.run([binary, "init"], environment: environment(of: home)).check()
        return home
    }

    /// Removes the vault from the configuration: with one, the agent lets no other process of its user inspect or trace
    /// it.
    package func giveUpVaults() throws {
        try configure { $0.replacing(/\nvaults:\n( .*\n)+/, with: "\n") }
        guard try !home.read(Self.file).contains("\nvaults:") else { throw TestFailure("a vault is left") }
    }

    private func configure(_ change: (String) -> String) throws {
        try home.write(Self.file, change(try home.read(Self.file)))
    }

    private static let file: BytePath = ".config/steward/steward.yaml"

    deinit {
        if let agent, agent.isRunning { kill(agent.processIdentifier, SIGKILL) }
        let (home, hasSlot) = (home, hasSlot)
        // An agent in this process ends later; it keeps its home and its slot until then.
        let end: @Sendable () -> Void = {
            withExtendedLifetime(home) {}
            if hasSlot { AgentSlots.shared.give() }
        }
        if let inner { inner.cancel(then: end) } else { end() }
    }

    /// The program that was built beside the tests.
    package static var binary: String { Built.program("steward")?.text ?? "steward" }

    package var environment: [String: String] { Self.environment(of: home).merging(variables) { $1 } }

    private static func environment(of home: TemporaryFolder) -> [String: String] {
        var all = ProcessInfo.processInfo.environment.filter { ["PATH", "LLVM_PROFILE_FILE", "LANG"].contains($0.key) }
        all["HOME"] = home.path.text
        all["TMPDIR"] = NSTemporaryDirectory()
        all["STEWARD_RULES"] = home.path.appending(".config/steward/rules.d").text
        // A socket's path has a limit of a hundred bytes; a test's folder may be longer.
        all["STEWARD_RUNTIME"] = home.path.appending("run").text
        all["TERM"] = "xterm"
        // No spelling: findings must not depend on the dictionaries of this machine.
        all["DICPATH"] = ""
        return all
    }

    /// A path in one of the places: `path("notes/today.md")`.
    package func path(_ relative: BytePath) -> BytePath { home.path.appending("Steward").appending(relative) }

    /// Writes (truncates, writes, closes) a file of a place.
    @discardableResult
    package func drop(_ relative: BytePath, _ text: String) throws -> BytePath {
        try home.write(BytePath("Steward").appending(relative), text)
    }

    package func read(_ relative: BytePath) throws -> String { try home.read(BytePath("Steward").appending(relative)) }

    package func exists(_ relative: BytePath) throws -> Bool { try FileStatus.of(path(relative)) != nil }

    /// Writes a rule file.
    package func rule(_ name: String = "10-test.yaml", _ yaml: String) throws {
        try home.write(BytePath(".config/steward/rules.d").appending(name), yaml)
    }

    /// All notes of the vault in one text, in path order.
    package func notes() throws -> String {
        try files("notes").filter { $0.nameText.hasSuffix(".md") }
            .map { try TemporaryFolder.text($0) }.joined()
    }

    /// The names in a folder of a place, without the agent's place lock.
    package static func names(in folder: BytePath) throws -> [ListedEntry] {
        try listDirectory(folder).filter { $0.name != PlaceLock.name }
    }

    /// The absolute paths of all files below a place, sorted, without the agent's place lock.
    package func files(_ place: BytePath) throws -> [BytePath] {
        func walk(_ folder: BytePath) throws -> [BytePath] {
            try Self.names(in: folder).flatMap { entry -> [BytePath] in
                let path = folder.appending(name: entry.name)
                return entry.isDirectory == true ? try walk(path) : [path]
            }
        }
        return try walk(path(place)).sorted()
    }

    // MARK: The agent

    /// Starts the agent and returns when it answers.
    package func start(wrapper: [String] = []) async throws {
        if let inner {
            await takeSlot()
            try await inner.start(self)
        } else {
            try await launch(wrapper: wrapper)
        }
        try await until("the agent answers") {
            guard isRunning else { throw TestFailure("the agent ended at once:\n\(try self.log())") }
            if ask("status") != nil { return true }
            // It may refuse a user of another namespace.
            return try FileStatus.of(control) != nil
                && self.run(["status", "--json"]).output.contains("\"isRunning\" : true")
        }
    }

    /// Starts an agent that is killed at a point of its work (`FaultPoint`: `imported:2`), as by a power cut. Later
    /// commands are not affected.
    package func start(endingAt point: String) async throws {
        variables["STEWARD_FAULT"] = point
        defer { variables["STEWARD_FAULT"] = nil }
        try await start()
    }

    /// Waits until it has been killed there.
    package func endedThere() async throws {
        guard let agent else { throw TestFailure("no agent was started") }
        let status = try await ended(agent)
        guard agent.terminationReason == .uncaughtSignal, status == SIGKILL else {
            throw TestFailure("the agent ended by itself, with \(status):\n\(try log())")
        }
    }

    /// Starts the agent and returns at once. Only a few agents run at the same time over all tests.
    @discardableResult
    package func launch(wrapper: [String] = []) async throws -> Process {
        guard inner == nil else { throw needsProgram }
        await takeSlot()
        let process = Process(wrapper + self.wrapper + [Self.binary, "run"], environment: environment)
        let log = home.path.appending("agent.log")
        if try FileStatus.of(log) == nil { try home.write("agent.log", "") }
        let handle = FileHandle(forWritingAtPath: log.text)
        try handle?.seekToEnd()
        process.standardError = standardError ?? handle
        process.standardOutput = handle
        try process.run()
        agent = process
        return process
    }

    private var needsProgram: TestFailure { TestFailure("the agent runs in the tests' own process") }

    private func takeSlot() async {
        guard !hasSlot, !isSecond else { return }
        await AgentSlots.shared.acquire()
        hasSlot = true
    }

    package func log() throws -> String { try home.read("agent.log") }

    package var processID: Int32? { agent.map(\.processIdentifier) }

    /// Whether the agent, or its wrapper, is still running.
    package var isRunning: Bool { inner?.isRunning ?? (agent?.isRunning == true) }

    /// Waits until nothing is settling, being judged or at work.
    package func wait() throws { if ask("wait") == nil { try run(["wait"]).check() } }

    /// The same for agents whose work may keep growing; false if the agent does not become idle.
    package func rest() throws -> Bool {
        try shell(wrapper + ["/usr/bin/timeout", "300", Self.binary, "wait"]).status == 0
    }

    /// Sends SIGTERM; returns the exit status.
    ///
    /// - Parameter body: runs once the agent has announced that it is stopping.
    @discardableResult
    package func stop(while body: (() throws -> Void)? = nil) async throws -> Int32 {
        if let inner {
            guard body == nil else { throw needsProgram }
            try await inner.stop()
            return 0
        }
        guard let agent else { return 0 }
        let before = try log().count
        agent.terminate()
        if let body {
            try await until("the agent is stopping") { try log().dropFirst(before).contains("stopping") }
            try body()
        }
        return try await ended(agent)
    }

    /// Sends SIGKILL, in the middle of whatever it is doing.
    package func kill9() async throws {
        guard inner == nil else { throw needsProgram }
        guard let agent else { return }
        kill(agent.processIdentifier, SIGKILL)
        _ = try await ended(agent)
    }

    private func ended(_ process: Process) async throws -> Int32 {
        try await until("the agent has ended") { !process.isRunning }
        agent = nil
        return process.terminationStatus
    }

    // MARK: Commands

    package typealias Result = ProgramResult

    /// Runs `steward` with these arguments to its end.
    @discardableResult
    package func run(_ arguments: [String]) throws -> Result { try shell(wrapper + [Self.binary] + arguments) }

    /// Runs any program in the fixture's environment.
    @discardableResult
    package func shell(_ command: [String], input: String? = nil) throws -> Result {
        try home.run(command, environment: environment, input: input)
    }

    /// Polls until `condition` holds, for at most `seconds`.
    package func until(_ what: String, seconds: Double = 60, _ condition: () throws -> Bool) async throws {
        var timeout = Timeout(seconds: seconds)
        var begun = ContinuousClock.now
        while try !condition() {
            // Most conditions run a program: polling without a pause would take CPU time from the agent.
            let pause = Int((ContinuousClock.now - begun) / .milliseconds(1)) * 4
            guard try await timeout.pause(milliseconds: min(max(pause, 20), 1_000)) else {
                throw TestFailure("waited \(seconds) s in vain until \(what)\n\((try? log()) ?? "")")
            }
            begun = .now
        }
    }
}

/// An agent in the tests' own process.
package protocol InnerAgent: Sendable {
    var isRunning: Bool { get }

    /// Starts the agent of this home; returns before it answers.
    func start(_ fixture: AgentFixture) async throws

    /// Returns when it has ended.
    func stop() async throws

    /// Has it end without waiting for that.
    ///
    /// - Parameter end: called when it has ended.
    func cancel(then end: @escaping @Sendable () -> Void)
}

/// A failure that a test cannot continue after.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
