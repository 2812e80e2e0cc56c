import Glibc
import Ledger
import Platform

/// Classifies a settled folder for rules about folders: unchanged, arrived or changed. Commits that and the resulting
/// jobs in one transaction (docs/design/folders.md).
package struct FolderJudge: Sendable {
    package enum Verdict: Sendable, Equatable {
        /// The ledger already has it, or no rule matches it.
        case known
        case news([PlannedJob])
        /// The agent is working in it, or it changed in the meantime. Look again.
        case again
        /// Jobs for its contents run first.
        case waits
    }

    let planner: Planner
    private let inWork: PathsInWork

    package init(planner: Planner, inWork: PathsInWork) {
        self.planner = planner
        self.inWork = inWork
    }

    /// Whether a rule could match the folder, judging by its name and status only. Reads nothing.
    package func mightWant(_ path: BytePath, in place: PlaceInfo, _ status: FileStatus) -> Bool {
        planner.mightWantFolder(path, in: place, status)
    }

    /// Judges a settled folder.
    ///
    /// - Parameters:
    ///   - baseline: how to judge folders that the ledger does not know.
    ///   - began: when the baseline scan began. A folder that changed later did not exist before.
    ///   - isMovedIn: whether it came from outside its place, so that no name in the place can be its old one.
    @concurrent
    package func judge(
        _ place: PlaceInfo, _ path: BytePath, baseline: ChangeClassifier.Baseline = .normal, began: Timestamp? = nil,
        isMovedIn: Bool = false
    ) async throws -> Verdict {
        try await BlockingPool.run(for: .place(place.name)) {
            try await judgeHere(place, path, baseline, began, isMovedIn: isMovedIn)
        }
    }

    private func judgeHere(
        _ place: PlaceInfo, _ path: BytePath, _ asked: ChangeClassifier.Baseline, _ began: Timestamp?, isMovedIn: Bool
    ) async throws -> Verdict {
        let (planner, absolute) = (planner, place.root.appending(path))
        guard !inWork.touches(absolute) else { return .again }
        // Jobs for its files run first; until then the folder stays as a whole.
        guard try await !planner.ledger.read({ try FolderHistory.isAtWork(path, in: place, $0) }) else { return .waits }
        let found: FolderLook?
        do {
            found = try await planner.pool.run { try FolderLook(path, in: place, planner) }
        } catch let fault as Fault where fault.code == FolderContents.tooMuch {
            // No timed look is needed.
            try await planner.ledger.writeSeen { try $0.removeDue(place.name, path) }
            return .known
        }
        let look = found
        let (ruleSet, term) = (planner.inForce.ruleSet, planner.inForce.term)
        @Sendable func past(_ transaction: LedgerTransaction) throws -> FolderHistory {
            try FolderHistory(of: path, look, isMovedIn: isMovedIn, in: place, transaction)
        }
        var before = try await planner.ledger.read(past)
        guard !before.isAtWork else { return .waits }
        guard let look else {
            guard before.known?.present == true else { return .known }
            // The folder may be missing because its place is away.
            guard try await planner.pool.run({ try planner.presence.isHere(place.root) }) else { return .known }
            try await planner.withdrawQuestions(about: [path], nil, in: place)
            try await planner.ledger.writeSeen { try $0.setFolderGone(place.name, path) }
            return .known
        }
        if try await planner.withdrawQuestions(about: [path] + (before.former.map { [$0.path] } ?? []), look, in: place)
        {
            // The withdrawn questions are owed work now.
            before = try await planner.ledger.read(past)
        }
        let isLater = began.map { look.status.fingerprint.changed > $0.nanoseconds } ?? false
        let known = before
        let judgement = try await planner.pool.run {
            try FolderJudgement(look, known, baseline: isLater ? .normal : asked, in: place, ruleSet, planner)
        }
        if judgement.isNothingNew { return .known }
        let isFree: @Sendable () -> Bool = { [inWork] in !inWork.touches(absolute) }
        guard isFree() else { return .again }
        let planned = try await planner.ledger.writeSeen { transaction -> [PlannedJob]? in
            guard planner.inForce.term == term, try past(transaction) == known, isFree() else { return nil }
            if let old = known.former { try transaction.setFolderGone(place.name, old.path) }
            try transaction.setFolder(judgement.record)
            try transaction.setDue(place.name, path, judgement.upcoming)
            return try Planner.add(judgement.drafts, lineage: known.product, to: transaction)
        }
        guard let planned else { return .again }
        return planned.isEmpty ? .known : .news(planned)
    }
}

/// A folder in its present state.
struct FolderLook: Sendable {
    let path: BytePath
    let status: FileStatus
    let contents: FolderContents

    /// nil if there is no such folder, or its place is away. Blocks.
    init?(_ path: BytePath, in place: PlaceInfo, _ planner: Planner) throws {
        do {
            let folder = try planner.presence.root(of: place).folder(path)
            (self.path, status, contents) = (path, try folder.status(), try FolderContents(folder))
        } catch let fault as Fault
            where [ENOENT, ENOTDIR].contains(fault.errno) || fault.code == Fault.link
            || fault.kind == .transient && fault.errno == nil
        {
            return nil
        }
    }
}

/// The ledger's state of a folder.
struct FolderHistory: Sendable, Equatable {
    var known: FolderRecord?
    /// The row under its former name, if a person renamed it.
    var former: FolderRecord?
    /// The latest row of this very folder, under either name.
    var last: FolderRecord?
    /// Identities of the rules in force when it was last judged.
    var inForce: Set<String> = []
    var overdue: [String: Planner.Overdue] = [:]
    /// What the agent, in another place, made it from or put into it.
    var product: ProductRecord?
    /// Whether jobs for it or its contents are pending.
    var isAtWork: Bool
    /// Whether a timed look at it is due.
    var hasDue = false
    /// The rules that have had a job for it.
    var hadJobs: Set<String> = []

    init(
        of path: BytePath, _ look: FolderLook?, isMovedIn: Bool, in place: PlaceInfo,
        _ transaction: LedgerTransaction
    ) throws {
        known = try transaction.folder(place.name, path)
        isAtWork = try Self.isAtWork(path, in: place, transaction)
        guard let look else { return }
        hasDue = try !transaction.due(place.name, path).isEmpty
        last = known.flatMap { $0.present && Self.isSame($0, look) ? $0 : nil }
        if last == nil, !isMovedIn {
            let found = try transaction.folder(place.name, device: look.status.device, inode: look.status.inode)
            former = found?.path == path ? nil : found
            last = former
        }
        inForce = try last?.matched.map { try transaction.rules(inSet: $0.ruleSet) } ?? []
        let jobs = try last.map { try transaction.jobs(at: .init(place: place.name, path: $0.path)) } ?? []
        hadJobs = Set(jobs.map(\.rule))
        overdue = try Planner.overdue(jobs, by: look.contents.digest, in: transaction)
        if let known, known.present, let lineage = known.lineage, [0, look.status.inode].contains(known.inode),
            [nil, look.contents.digest].contains(lineage.digest)
        {
            product = ProductRecord(
                path: place.root.appending(path), hash: look.contents.digest, firstJob: lineage.firstJob,
                depth: lineage.depth,
                job: "")
        }
    }

    static func isAtWork(_ path: BytePath, in place: PlaceInfo, _ transaction: LedgerTransaction) throws -> Bool {
        let entry = JobRecord.FileLocation(place: place.name, path: path)
        return try !transaction.jobs(in: [.ready, .waiting], within: entry).isEmpty
    }

    /// Another folder may have taken the name unnoticed; one with the same content counts as the same.
    private static func isSame(_ known: FolderRecord, _ look: FolderLook) -> Bool {
        known.digest == nil || known.inode == look.status.inode || known.digest == look.contents.digest
    }
}

/// The result of judging a folder.
private struct FolderJudgement: Sendable {
    private(set) var record: FolderRecord
    private(set) var drafts: [Planner.Draft] = []
    private(set) var upcoming: [String: Timestamp] = [:]
    private let before: FolderHistory

    /// Whether the ledger needs no update.
    var isNothingNew: Bool { drafts.isEmpty && before.known == record && upcoming.isEmpty && !before.hasDue }

    /// Blocks.
    init(
        _ look: FolderLook, _ before: FolderHistory, baseline: ChangeClassifier.Baseline, in place: PlaceInfo,
        _ ruleSet: RuleSet,
        _ planner: Planner
    ) throws {
        self.before = before
        let (last, now, host, names) = (before.last, planner.clock.now(), planner.host, planner.ledger.names)
        let (path, digest, print) = (look.path, look.contents.digest, look.status.fingerprint)
        let arrived = last?.arrived ?? now
        let reference = FileReference(
            place: place.name, root: place.root, path: path, fingerprint: print, hash: digest, isFolder: true)
        let version = (before.known?.version ?? 0) + 1
        func facts(_ event: FileEvent) -> FileFacts {
            FileFacts(
                place: place, path: path, status: look.status, event: event, now: now, content: .folder(look.contents),
                hash: digest, arrived: arrived, sources: planner.sources)
        }
        var wanting = last?.matched?.rules ?? []
        for event in [FileEvent.arrived, .changed] {
            let matches = try ruleSet.match(facts(event))
            let due = matches.filter { before.event(for: $0.rule, look, baseline, in: place, ruleSet) == event }
            drafts += try Planner.drafts(
                due, facts: facts(event), file: reference, version: version, arrival: now, host: host, names: names,
                values: [:]
            ).map { try $0.succeeding(before.overdue[$0.rule]) }
            if event == .arrived { wanting.formUnion(matches.map(\.rule.name)) }
        }
        let matched = MatchedRules(ruleSet: ruleSet.id, rules: wanting.intersection(ruleSet.arrivalNames))
        upcoming = ruleSet.upcoming(facts(.arrived), except: wanting)
        record = FolderRecord(
            place: place.name, path: path, device: print.device, inode: print.inode, digest: digest,
            version: drafts.isEmpty ? before.known?.version ?? 1 : version, matched: matched, arrived: arrived,
            // Time alone may still trigger a rule.
            lineage: before.product.map { FolderRecord.Lineage(firstJob: $0.firstJob, depth: $0.depth, of: digest) })
    }
}

extension FolderHistory {
    /// The event as which the rule sees the folder, if the rule matches and runs; otherwise nil.
    fileprivate func event(
        for rule: Rule, _ look: FolderLook, _ baseline: ChangeClassifier.Baseline, in place: PlaceInfo,
        _ ruleSet: RuleSet
    ) -> FileEvent? {
        let (event, verdict) = verdict(on: rule, look, baseline, in: place, ruleSet)
        if case .runs = verdict { return event }
        return nil
    }

    /// The decision for a rule whose conditions hold for the folder.
    func verdict(
        on rule: Rule, _ look: FolderLook, _ baseline: ChangeClassifier.Baseline, in place: PlaceInfo,
        _ ruleSet: RuleSet
    ) -> (FileEvent, Decision.Verdict) {
        if let owed = overdue[rule.name] { return (owed.event, .runs(.owed(owed))) }
        let atFirst: Decision.Verdict =
            switch baseline {
            case .normal: .runs(.happened)
            case .first: rule.existing(in: place) == .process ? .runs(.happened) : .passes(.placeIsNew)
            case .silent: .passes(.ledgerLost)
            }
        guard let last else { return (.arrived, atFirst) }
        let hasChanged = last.digest != look.contents.digest && last.digest != nil && rule.events.contains(.changed)
        let old: Decision.Reason = rule.existing(in: place) == .skip ? .olderThanRule : .judgedBefore
        let had: Decision.Reason = hadJobs.contains(rule.name) ? .hadByRule : old
        let change: (FileEvent, Decision.Verdict) = (.changed, hasChanged ? .runs(.happened) : .passes(had))
        if last.matched?.rules.contains(rule.name) == true { return change }
        // The agent put it there, and it has not been judged since.
        if last.digest == nil, baseline != .normal { return (.arrived, atFirst) }
        guard rule.events.contains(.arrived) else { return change }
        // It arrives when it first meets the conditions. For a new rule it existed before.
        let isOld = last.digest == nil || inForce.contains(ruleSet.identity(of: rule))
        let arrives = isOld || rule.existing(in: place) == .process
        return (.arrived, arrives ? .runs(.firstMatch) : .passes(had))
    }
}
