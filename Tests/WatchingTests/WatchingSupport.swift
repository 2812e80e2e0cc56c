import Dispatch
import Foundation
import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Watching

/// All watching tests, with each of the two event sources. The library's state is global, so they run one after the
/// other.
@Suite("Watching", .serialized, .byEachWay, .timeLimit(.minutes(30))) struct WatchingTests {}

/// Runs each test of a suite once for each event source.
struct ByEachWay: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal static var events = WatchOptions.Events.standard

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> ByEachWay? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for events in WatchOptions.Events.allCases {
            try await Self.$events.withValue(events) { try await function() }
        }
    }
}

extension Trait where Self == ByEachWay {
    static var byEachWay: ByEachWay { ByEachWay() }
}

/// A consumer of marks: like the agent, it handles every mark by looking at the disk.
final class Observer: Sendable {
    struct Seen {
        var files: [String: [BytePath: Int]] = [:]
        var marks: Set<DirtyMark> = []
        var list: [DirtyMark] = []
    }

    let source: InotifySource
    private let roots: [String: WatchRoot]
    private let ignore: IgnoreList
    private let seen = Mutex(Seen())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ roots: [WatchRoot], _ options: WatchOptions = WatchOptions(), dirty: DirtySet = DirtySet()) throws {
        var options = options
        options.events = ByEachWay.events
        source = try InotifySource(options, dirty: dirty)
        self.roots = Dictionary(uniqueKeysWithValues: roots.map { ($0.name, $0) })
        ignore = options.ignore
        try source.start(roots)
        let running = Task {
            while !Task.isCancelled { self.look(await dirty.next().marks) }
        }
        task.withLock { $0 = running }
    }

    func stop() async {
        source.stop()
        let running = task.withLock { $0 }
        running?.cancel()
        await running?.value
    }

    private func look(_ marks: [DirtyMark]) {
        for mark in marks {
            switch mark {
            case .file(let name, let path):
                if let root = roots[name], let status = try? FileStatus.of(root.path.appending(path)),
                    status.kind == .file
                {
                    note(name, path)
                }
            case .subtree(let name, let path):
                guard let root = roots[name] else { continue }
                _ = try? Scanner.walk(root: root, from: path, ignoring: ignore) { path, _ in note(name, path) }
            case .renamed, .movedIn, .rootState: break
            }
        }
        seen.withLock {
            $0.marks.formUnion(marks)
            $0.list += marks
        }
    }

    private func note(_ root: String, _ path: BytePath) {
        seen.withLock { $0.files[root, default: [:]][path, default: 0] += 1 }
    }

    func files(_ root: String = "root") -> Set<BytePath> { seen.withLock { Set($0.files[root, default: [:]].keys) } }
    var marks: Set<DirtyMark> { seen.withLock { $0.marks } }

    /// Waits until every root has been walked once: a pending walk would swallow the marks of what it will see.
    func firstLook() async throws {
        try await eventually("every root was walked once") {
            marks.isSuperset(of: roots.keys.map { .subtree(root: $0, path: "") })
        }
    }

    /// The source's status once its thread has finished its current work: it publishes after marking.
    var status: WatchStatus {
        for _ in 0..<2 { _ = source.catchUp() }
        return source.status()
    }

    /// Begins a new account.
    func forget() { seen.withLock { $0 = Seen() } }
}

/// Waits for a condition, not for a time, and goes on with the test if it never comes true.
func eventually(
    _ what: @autoclosure () -> String, _ seconds: Double = 60, _ condition: () async throws -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    var timeout = Timeout(seconds: seconds)
    while try await !condition() {
        guard try await timeout.pause() else {
            Issue.record("never came true: \(what())", sourceLocation: sourceLocation)
            return
        }
    }
}

/// Runs a program to its end; its exit code.
@discardableResult
func shell(_ line: String) throws -> Int32 { try runProgram(["/bin/sh", "-c", line]).status }

let isRoot = geteuid() == 0

/// Whether file systems can be mounted here.
let canMount: Bool = {
    guard isRoot, let folder = try? TemporaryFolder("mount-probe") else { return false }
    guard (try? shell("mount -t tmpfs none \(folder.path)")) == 0 else { return false }
    _ = try? shell("umount \(folder.path)")
    return true
}()

func rename(_ from: BytePath, _ to: BytePath) throws {
    let code = from.withCString { from in to.withCString { Glibc.rename(from, $0) } }
    if code != 0 { throw Fault.system("rename", from) }
}

func remove(_ path: BytePath) throws {
    if path.withCString({ Glibc.remove($0) }) != 0 { throw Fault.system("remove", path) }
}

func makeFolder(_ path: BytePath) throws {
    if path.withCString({ mkdir($0, 0o755) }) != 0 { throw Fault.system("make the folder", path) }
}

func writeFile(_ path: BytePath, _ text: String = "text") throws {
    let file = try Descriptor(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    try file.write(Array(text.utf8), at: 0)
}
