import Foundation
import Glibc
import Ledger
import Logging
import OwnFiles
import Platform
import Rules
import Synchronization
import TestSupport

/// What the `probe` action of a bench does, by the name in the rule, and a record of its calls.
final class Script: Sendable {
    typealias Decide = @Sendable (StepInput) async throws -> Void
    typealias Perform = @Sendable (Probe.Intent, StepContext) async throws -> Receipt
    typealias Recover = @Sendable (Probe.Intent, StepContext) async throws -> Recovery
    typealias Undo = @Sendable () async throws -> Void

    private struct State {
        var decide: [String: Decide] = [:]
        var perform: [String: Perform] = [:]
        var recover: [String: Recover] = [:]
        var undo: [String: Undo] = [:]
        var lines: [String] = []
        var onBlocks: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// `perform NAME PATH TEXT`, and the same with `recover`, in the order in which they began.
    var lines: [String] { state.withLock { $0.lines } }

    /// Called whenever a note's blocks are looked for: after it was hashed, and before its values are read.
    var onBlocks: (@Sendable () -> Void)? {
        get { state.withLock { $0.onBlocks } }
        set { state.withLock { $0.onBlocks = newValue } }
    }

    func note(_ line: String) { state.withLock { $0.lines.append(line) } }
    func forget() { state.withLock { $0.lines = [] } }

    func decide(_ name: String, _ body: @escaping Decide) { state.withLock { $0.decide[name] = body } }
    func perform(_ name: String, _ body: @escaping Perform) { state.withLock { $0.perform[name] = body } }
    func recover(_ name: String, _ body: @escaping Recover) { state.withLock { $0.recover[name] = body } }
    func undo(_ name: String, _ body: @escaping Undo) { state.withLock { $0.undo[name] = body } }

    func decide(_ name: String) -> Decide? { state.withLock { $0.decide[name] } }
    func perform(_ name: String) -> Perform? { state.withLock { $0.perform[name] } }
    func recover(_ name: String) -> Recover? { state.withLock { $0.recover[name] } }
    func undo(_ name: String) -> Undo? { state.withLock { $0.undo[name] } }
}

/// An action whose every part a test can define; without a script it only records that it ran.
struct Probe: RuleAction {
    struct Intent: Codable, Sendable, Equatable {
        var name: String
        var text: String
        var file: BytePath
        var hash: ContentHash?
    }

    static let declaration = ActionDeclaration(
        name: "probe", summary: "Does what the test says.", guarantee: .exactlyOnce, work: .disk, canUndo: true,
        mayBeRepeated: true, takes: .both,
        parameters: [
            ParameterSpec("name", .literal, default: "p", "Which of the script's parts."),
            ParameterSpec("text", .template, default: "", "What to say."),
        ],
        provides: [ValueSpec("probe.out", "What it says.")], example: "probe: { name: p }")

    let name: String
    let arguments: Arguments
    let script: Script

    /// Names with this prefix use a kind of work with a lower limit.
    var work: WorkKind { name.hasPrefix("slow") ? .process : Self.declaration.work }

    func intent(for input: StepInput) async throws -> Intent {
        try await script.decide(name)?(input)
        return Intent(
            name: name, text: try arguments.text("text", values: input.values), file: input.file.absolute,
            hash: input.file.hash)
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        script.note(
            ["perform", intent.name, intent.file.nameText, intent.text].filter { !$0.isEmpty }.joined(separator: " "))
        if let perform = script.perform(name) { return try await perform(intent, context) }
        return Receipt("did \(intent.name)", values: ["probe.out": .text("out of \(intent.name)")])
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        script.note("recover \(intent.name) \(intent.file.nameText)")
        return try await script.recover(name)?(intent, context) ?? .notDone
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        script.note("undo \(intent.name)")
        try await script.undo(name)?()
        return Receipt("took back \(intent.name)")
    }

    func targets(of intent: Intent) -> [BytePath] { intent.name == "work" ? [intent.file] : [] }
    func summary(of intent: Intent) -> String { "probe \(intent.name)" }
}

/// The engine over real files and a real ledger: `inbox`, `notes` and `out` below one folder. Another bench over the
/// same folder is the next run of the agent.
final class Bench: Sendable {
    let folder: BytePath
    let script: Script
    let ledger: Ledger
    let journal: EffectJournal
    let inWork = PathsInWork()
    let planner: Planner
    let judge: ChangeClassifier
    let executor: JobExecutor
    let quarantine: Quarantine
    let runner: Runner
    let registry: ActionRegistry

    /// How many steps of a bench run at a time, and how many of the slow ones.
    static let limit = 8
    static let slowLimit = 2

    /// Making a ledger takes longer than most benches run.
    private static let unusedLedger = PreparedFiles { try Ledger.open(directory: $0).ledger.close() }

    static func places(_ folder: BytePath) -> [PlaceInfo] {
        // One name is a prefix of another.
        [("inbox", PlaceKind.inbox), ("notes", .notes), ("out", .folder), ("in", .folder)].map {
            PlaceInfo(name: $0.0, kind: $0.1, root: folder.appending($0.0))
        }
    }

    init(
        _ folder: BytePath, _ script: Script = Script(), rules yaml: String, more: [ActionDefinition] = [],
        maximumFiles: Int = 512, share: Int = 128, window: Int = 1024, clock: WallClock = .system,
        inspector: (any ContentInspector)? = nil, adding nested: [PlaceInfo] = [], quarantine held: BytePath? = nil,
        hungCalls: @escaping @Sendable () -> Int = { 0 }, onLog: (@Sendable (String) -> Void)? = nil
    ) throws {
        self.folder = folder
        self.script = script
        let log = Logger(label: "test") { _ -> any LogHandler in
            if let onLog { HeardLog(onLog) } else { SwiftLogNoOpLogHandler() }
        }
        let places = Self.places(folder) + nested
        for place in places { try Durable.makeDirectory(place.root) }
        let state = folder.appending("state")
        try Durable.makeDirectory(state)
        if try FileStatus.of(state.appending("ledger.sqlite")) == nil { try Self.unusedLedger.copy(to: state) }
        ledger = try Ledger.open(directory: state).ledger
        journal = EffectJournal(ledger: ledger, places: PlaceMap(places))
        registry = ActionRegistry(
            more + [
                ForEach.definition,
                ActionDefinition(Probe.self) {
                    Probe(name: try $0.literal("name"), arguments: $0, script: script)
                },
            ])
        let pool = BlockingPool("test", threads: 2)
        planner = Planner(
            ledger: ledger, presence: journal.presence, rules: RuleSet(try Self.rules(yaml, registry, places)),
            blocksOf: { bytes in
                script.onBlocks?()
                return Self.blocks(bytes)
            }, pool: pool, host: "host", clock: clock, inspector: inspector)
        judge = ChangeClassifier(
            ledger: ledger, planner: planner, presence: journal.presence, inWork: inWork, pool: pool)
        quarantine = Quarantine(root: held ?? folder.appending("quarantine"), journal: journal)
        executor = JobExecutor(
            journal: journal, registry: registry, quarantine: quarantine, inWork: inWork,
            limits: [.disk: Self.limit, .process: Self.slowLimit], log: log, rules: { [planner] in planner.ruleSet },
            hungCalls: hungCalls)
        runner = Runner(
            executor: executor, planner: planner, ledger: ledger, maximumFiles: maximumFiles, share: share,
            window: window, log: log)
    }

    private static func rules(_ yaml: String, _ registry: ActionRegistry, _ places: [PlaceInfo]) throws -> [Rule] {
        let (rules, diagnostics) = RuleDirectories.parse(
            file: "10-test.yaml", bytes: Array(yaml.utf8), registry: registry, places: places, timeZone: .gmt)
        guard !diagnostics.hasErrors else { throw TestFailure(diagnostics.map(\.description).joined(separator: "\n")) }
        return rules
    }

    func rules(_ yaml: String) throws -> [Rule] { try Self.rules(yaml, registry, Self.places(folder)) }

    func setRules(_ yaml: String) throws { planner.ruleSet = RuleSet(try rules(yaml)) }

    /// Each line `^prefix-hhmm text` is a block.
    private static func blocks(_ bytes: [UInt8]) -> [BlockFacts] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("^") }.map { line in
            let token = line.prefix { $0 != " " }
            let parts = token.dropFirst().split(separator: "-")
            return BlockFacts(
                prefix: String(parts.first ?? ""), time: String(parts.last ?? ""),
                text: String(line.dropFirst(token.count + 1)), heading: "", token: String(token))
        }
    }

    /// As with a rule that keeps the names of a place's files out of the ledger.
    func hideNames(in place: String = "inbox") {
        let places = journal.places
        ledger.names.hide { name, _ in name == place }
        ledger.names.locate { path in places.locate(path).map { ($0.place.name, $0.place.root, $0.path) } }
    }

    func place(_ name: String = "inbox") throws -> PlaceInfo {
        guard let place = journal.places[name: name] else { throw TestFailure("no place \(name)") }
        return place
    }

    func path(_ relative: BytePath) -> BytePath { folder.appending(relative) }

    /// Writes a file with a new inode, as most editors do: `inbox/a.txt`.
    func write(_ relative: BytePath, _ text: String) throws {
        let temporary = folder.appending("writing-\(randomHex(4))")
        let file = try Descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL)
        try file.write(Array(text.utf8), at: 0)
        try Durable.makeDirectory(path(relative).parent)
        // By its bytes, which need not be text.
        let target = path(relative)
        guard temporary.withCString({ from in target.withCString { rename(from, $0) } }) == 0 else {
            throw Fault.system("rename", temporary)
        }
    }

    func read(_ relative: BytePath) throws -> String {
        String(decoding: try Descriptor(path(relative)).readAll(), as: UTF8.self)
    }

    @discardableResult
    func see(_ path: BytePath, in place: String = "inbox", baseline: ChangeClassifier.Baseline = .normal) async throws
        -> ChangeClassifier.Verdict
    {
        try await judge.judge(try self.place(place), path, baseline: baseline)
    }

    /// The names of the rules that a verdict started.
    static func rules(_ verdict: ChangeClassifier.Verdict) -> [String] {
        if case .news(_, let jobs) = verdict { jobs.map(\.rule) } else { [] }
    }

    func submit(_ verdict: ChangeClassifier.Verdict) async {
        guard case .news(_, let jobs) = verdict else { return }
        await runner.submit(jobs)
    }

    /// Looks at a file and waits until everything that follows is done.
    @discardableResult
    func process(_ path: BytePath, in place: String = "inbox") async throws -> ChangeClassifier.Verdict {
        let verdict = try await see(path, in: place)
        await submit(verdict)
        await runner.idle()
        return verdict
    }

    /// Marks the first step of a job as begun in the ledger, as a crash leaves it.
    func begin(_ job: JobRecord, _ name: String) async throws {
        let file = try place(job.place).root.appending(job.path)
        let intent = Probe.Intent(name: name, text: "", file: file, hash: job.hash)
        let text = String(decoding: try JSONEncoder().encode(intent), as: UTF8.self)
        try await ledger.write { transaction in
            guard let step = try transaction.steps(of: job.id).first else { throw TestFailure("no step") }
            try transaction.setIntent(step, text)
        }
    }

    func jobs() async throws -> [JobRecord] { try await ledger.read { try $0.jobs(in: JobRecord.State.allCases) } }

    func onlyJob() async throws -> JobRecord {
        let jobs = try await jobs()
        guard let job = jobs.first, jobs.count == 1 else { throw TestFailure("\(jobs.count) jobs") }
        return job
    }
}

/// Passes each log line to a test where it is written, on the writer's thread.
struct HeardLog: LogHandler {
    let hear: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ hear: @escaping @Sendable (String) -> Void) { self.hear = hear }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { hear(event.message.description) }
}
