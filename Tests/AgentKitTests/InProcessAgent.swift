import AgentKit
import Foundation
import Glibc
import Logging
import OwnFiles
import Platform
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Watching

extension AgentFixture {
    /// A home whose agent runs in the tests' own process: for suites about what becomes of files, which have the trait
    /// ``Testing/Trait/ownThreads``. Commands other than the usual ones are still run as programs.
    ///
    /// What belongs to a process needs `init`: kills, signals, limits, users, variables, and vaults, with which an agent
    /// changes what its process allows.
    static func inside(configuration: String = "") throws -> AgentFixture {
        let fixture = try AgentFixture(configuration: configuration, inside: InProcessAgent())
        try fixture.giveUpVaults()
        return fixture
    }
}

/// Starts and stops an agent as `steward run` does, without the process.
private final class InProcessAgent: InnerAgent {
    private struct Running {
        let group: ServiceGroup
        let task: Task<Void, any Error>
    }

    private let running = Mutex<Running?>(nil)
    private let isEnded = Mutex(true)

    var isRunning: Bool { isEnded.withLock { !$0 } }

    func start(_ fixture: AgentFixture) async throws {
        guard TestThreads.isCurrent else { throw TestFailure("the suite lacks the trait .ownThreads") }
        let directories = try Directories(environment: fixture.environment)
        let (loaded, diagnostics) = Configuration.load(directories)
        guard let configuration = loaded else { throw TestFailure("\(diagnostics)") }
        let file = try Descriptor(
            fixture.home.path.appending("agent.log"), O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        let lines = LogQueue(LogOutput(file.raw, journal: nil, keeping: file))
        let format = LogFormat(json: configuration.logsJSON)
        let log = Logger(label: "steward") { _ in
            StewardLogHandler(level: configuration.logLevel, format: format, queue: lines)
        }
        try await Blocking.$isForbiddenHere.withValue(true) {
            // A task of its own has the pool's threads, not the test's.
            let agent = try await Task {
                try await Agent.make(configuration, directories, log: log, lines: lines, events: .calls)
            }.value
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [
                        .init(
                            service: agent, successTerminationBehavior: .gracefullyShutdownGroup,
                            failureTerminationBehavior: .cancelGroup)
                    ], logger: log))
            isEnded.withLock { $0 = false }
            let task = Task {
                defer { isEnded.withLock { $0 = true } }
                try await group.run()
                try await lines.flush()
            }
            running.withLock { $0 = Running(group: group, task: task) }
        }
    }

    func stop() async throws {
        guard let running = running.withLock({ $0 }) else { return }
        await running.group.triggerGracefulShutdown()
        try await running.task.value
    }

    func cancel(then end: @escaping @Sendable () -> Void) {
        guard let task = running.withLock({ $0?.task }) else { return end() }
        task.cancel()
        Task {
            _ = await task.result
            end()
        }
    }
}

/// Runs each test on threads of its own, where it may block: an agent beside it needs those of the cooperative pool.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> OwnThreads? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(TestThreads.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    static var ownThreads: OwnThreads { OwnThreads() }
}

/// A thread for each part of a task up to its next suspension.
private final class TestThreads: TaskExecutor {
    static let shared = TestThreads()

    static var isCurrent: Bool {
        withUnsafeCurrentTask { $0?.unownedTaskExecutor == shared.asUnownedTaskExecutor() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
