import Ledger
import Platform

/// What the agent would decide about a file or a folder if it was judged now: asked of the same code, and of what the ledger
/// holds. Nothing is written. For `steward explain`.
package struct Preview: Sendable {
    /// What has happened to it, for rules.
    package let event: FileEvent
    /// Whether this very version was judged.
    package let isKnown: Bool
    /// When it came; nil where that is not known.
    package let arrived: Timestamp?
    /// Blocks of a note that rules have not seen; where they have seen all, all of them, as if they were new.
    package private(set) var blocks: [BlockFacts] = []
    /// By rule: as what it sees the file, and what is done.
    private var decided: [String: (event: FileEvent, verdict: Decision.Verdict)] = [:]
    private var otherwise: [String: Decision.Reason] = [:]

    /// As what a rule sees it.
    package func event(for rule: String) -> FileEvent { decided[rule]?.event ?? event }

    /// Why a rule runs, where that is more than what has happened; nil for that, and where it does not run.
    package func whyDone(_ rule: String) -> String? {
        guard case .runs(let cause) = decided[rule]?.verdict else { return nil }
        switch cause {
        case .happened: return nil
        case .firstMatch: return "it has not met the rule's conditions before"
        case .owed: return "the rule was to do it, and the file changed before that was done"
        case .time: return "time has brought it"
        case .scheduled: return "it is time for the rule's schedule"
        case .asked: return "it is asked for"
        }
    }

    /// Why a rule does nothing although its conditions hold; nil where it runs, or has run.
    package func whyNotDone(_ rule: String, _ path: BytePath) -> String? {
        let reason: Decision.Reason
        switch (decided[rule]?.verdict, otherwise[rule]) {
        case (.runs?, _), (nil, nil): return nil
        case (_, let why?), (.passes(let why)?, nil): reason = why
        }
        let what = isFolder ? "folder" : "file"
        let remedy =
            isFolder
            ? "taken out of the place and put back, it has arrived"
            : "`steward reprocess \(path.nameText)` has it done"
        switch reason {
        case .seenByRule: return nil
        case .placeIsNew:
            return
                "this will not be done: the place is yet to be watched, and the rule leaves alone what is there by then "
                + "(`existing: skip`); \(remedy), once the agent runs"
        case .ledgerLost:
            return "this was not done: the ledger was lost, and nobody knows what had been done; \(remedy)"
        case .ownWrite:
            return
                "this was not done: Steward has put the \(what) there, and what it does in a place is no news to the rules "
                + "of that place; \(remedy)"
        case .olderThanRule:
            return "this was not done: the \(what) was there before the rule, which leaves such \(what)s alone"
                + (isFolder ? " " : " until they change ")
                + "(`existing: skip`), or it was done so long ago that it is forgotten; \(remedy)"
        case .unchanged:
            return
                "this was not done: the \(what) met the rule's conditions only later, and nothing has happened to it since; "
                + remedy
        case .chain(let why): return "this is not done: \(why)"
        }
    }

    private let isFolder: Bool
}

extension Preview {
    /// Of a file that may not be read, or is none.
    fileprivate init(_ event: FileEvent?, known: FileRecord?, _ status: FileStatus?) {
        isKnown = known?.present == true && known?.fingerprint == status?.fingerprint
        let isOther = known?.present == true && !isKnown
        self.event = event ?? (status == nil ? .removed : isOther ? .changed : .arrived)
        (arrived, isFolder) = (known?.arrived, false)
    }

    fileprivate init(_ event: FileEvent, isKnown: Bool, arrived: Timestamp?, isFolder: Bool) {
        (self.event, self.isKnown, self.arrived, self.isFolder) = (event, isKnown, arrived, isFolder)
    }

    fileprivate mutating func take(_ blocks: [BlockFacts]) { self.blocks = blocks }

    /// Of several decisions about one rule that which runs it.
    fileprivate mutating func take(_ rule: String, _ event: FileEvent, _ verdict: Decision.Verdict) {
        if case .runs = decided[rule]?.verdict, case .passes = verdict { return }
        decided[rule] = (event, verdict)
    }

    fileprivate mutating func take(_ rule: String, otherwise reason: Decision.Reason) { otherwise[rule] = reason }
}

extension Judge {
    /// - Parameters:
    ///   - event: as if that had happened to it; nil for what has.
    ///   - isRead: whether it may be opened.
    ///   - agents: the agent's ledger; nil where there is none.
    /// - Throws: `Fault` where the file, or the ledger, cannot be read.
    package func preview(
        _ path: BytePath, in place: PlaceInfo, as event: FileEvent?, isRead: Bool, _ agents: Ledger?
    ) async throws -> Preview {
        let found = try await lanes.run { try self.look(at: path, in: place) }
        let known = try await agents?.read { try $0.file(place.name, path) }
        guard let (spot, status) = found, status.kind == .file, isRead else {
            return Preview(event, known: known, found?.status)
        }
        let print = status.fingerprint
        let others =
            try await agents?.read {
                try $0.files(place.name, device: print.device, inode: print.inode, besides: path)
            } ?? []
        let file = FoundFile(place: place, path: path, spot: spot, status: status, known: known, others: others)
        guard case .seen(var seen) = try await observe(file, isMovedIn: false) else {
            return Preview(event, known: known, status)
        }
        let isKnown = known?.present == true && known?.fingerprint == print
        if isKnown, known?.attributes?.isOpen != true { seen.news = .nothing }
        let ruleSet = planner.ruleSet
        if let event {
            let scheduled = ruleSet.rules.filter { !$0.schedules.isEmpty }.map { ($0.name, seen.now) }
            seen.news = event == .scheduled ? .due(scheduled: Dictionary(scheduled) { $1 }) : .happened(event)
        }
        let watched = try await agents?.read { try $0.place(place.name)?.root }
        let baseline: Baseline = event == nil && watched != place.root ? .first : .normal
        return try await decide(seen, baseline, isKnown: isKnown, ruleSet, agents)
    }

    private func decide(
        _ seen: SeenFile, _ baseline: Baseline, isKnown: Bool, _ ruleSet: RuleSet, _ agents: Ledger?
    ) async throws -> Preview {
        let past = try await agents?.read { try FilePast(of: seen, ruleSet, in: $0) } ?? .none
        let isUnread = seen.news == .unread
        let event: FileEvent = isUnread && seen.known?.present == true ? .changed : seen.news.event
        let found = Preview(event, isKnown: isKnown, arrived: seen.record.arrived, isFolder: false)
        let (planner, sources) = (planner, planner.sources(asking: agents))
        let (decisions, blocks) = try await lanes.run {
            try (
                Classification(past, seen, baseline: baseline, ruleSet, sources).decisions.map {
                    ($0.match.rule.name, $0.event, $0.verdict)
                },
                seen.file.flatMap { try planner.blocks(of: seen.record.path, $0, in: seen.place) } ?? []
            )
        }
        let origin = past.product?.isStill(seen.record) == true ? past.product : nil
        var preview = found
        for (rule, event, verdict) in decisions {
            guard case .runs = verdict, let reason = try await chain(rule, origin, agents) else {
                preview.take(rule, event, verdict)
                continue
            }
            preview.take(rule, event, .passes(.chain(reason)))
        }
        let circumstances = Circumstances(past, seen.news, in: seen.place)
        let skipped = try await agents?.read { try $0.reasonsToSkip(seen.place.name, seen.record.path) } ?? []
        for rule in ruleSet.rules where isKnown || seen.news == .touched {
            let chain = skipped.first { $0.hasPrefix(Planner.skipped(rule.name)) }
            let reason = circumstances.reason(for: rule)
            preview.take(
                rule.name, otherwise: reason == .seenByRule ? reason : chain.map(Decision.Reason.chain) ?? reason)
        }
        let new = blocks.filter { !past.blocks.contains($0.name) }
        preview.take(new.isEmpty ? blocks : new)
        return preview
    }

    private func chain(_ rule: String, _ origin: ProductRecord?, _ agents: Ledger?) async throws -> String? {
        guard let agents, let origin else { return nil }
        return try await agents.read { try Planner.reasonToSkip(rule, depth: origin.depth, origin, in: $0) }
    }
}

extension FolderJudge {
    /// The same of a folder.
    package func preview(
        _ path: BytePath, in place: PlaceInfo, as event: FileEvent?, _ agents: Ledger?
    ) async throws -> Preview? {
        guard let look = try await planner.lanes.run({ try FolderLook(path, in: place, planner) }) else { return nil }
        let past = try await agents?.read { transaction in
            try FolderPast(of: path, look, isMovedIn: false, in: place, transaction)
        }
        let known = past?.known?.present == true ? past?.known : nil
        let isKnown = known?.digest == look.contents.digest
        let isOther = known?.digest != nil && !isKnown
        var preview = Preview(
            event ?? (isOther ? .changed : .arrived), isKnown: isKnown, arrived: known?.arrived, isFolder: true)
        guard let past, event == nil else { return preview }
        let ruleSet = planner.ruleSet
        let watched = try await agents?.read { try $0.place(place.name)?.root }
        for rule in ruleSet.rules where rule.subject == .folders {
            let baseline: Judge.Baseline = watched == place.root ? .normal : .first
            let (event, verdict) = past.verdict(on: rule, look, baseline, in: place, ruleSet)
            preview.take(rule.name, event, verdict)
        }
        return preview
    }
}
