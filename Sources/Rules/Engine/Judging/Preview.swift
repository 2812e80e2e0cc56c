import Ledger
import Platform

/// What the agent would decide about a file or folder now, determined by the same code and the ledger. Writes
/// nothing. For `steward explain`.
package struct Preview: Sendable {
    /// The event as rules see it.
    package let event: FileEvent
    /// Whether this version has been judged.
    package let isKnown: Bool
    /// When it arrived; nil if not known.
    package let arrived: Timestamp?
    /// Blocks of a note that rules have not seen; if there are none, all blocks, as if they were new.
    package fileprivate(set) var blocks: [BlockFacts] = []
    fileprivate var isFolder = false
    /// For each rule, the event as which it sees the file, and the verdict if its conditions hold.
    fileprivate var verdicts: [String: (event: FileEvent, verdict: Decision.Verdict)] = [:]

    /// The event as which a rule sees it.
    package func event(for rule: String) -> FileEvent { verdicts[rule]?.event ?? event }

    /// Why a rule runs, if the event alone does not explain it; nil otherwise, or if the rule does not run.
    package func whyDone(_ rule: String) -> String? {
        guard case .runs(let cause) = verdicts[rule]?.verdict else { return nil }
        switch cause {
        case .happened: return nil
        case .firstMatch: return "it has not met the rule's conditions before"
        case .owed: return "the rule was to do it, and the file changed before that was done"
        case .time: return "time has brought it"
        case .scheduled: return "it is time for the rule's schedule"
        case .asked: return "it is asked for"
        }
    }

    /// Why a rule does nothing although its conditions hold; nil if it runs, or has run.
    package func whyNotDone(_ rule: String, _ path: BytePath) -> String? {
        guard case .passes(let reason) = verdicts[rule]?.verdict else { return nil }
        let what = isFolder ? "folder" : "file"
        let remedy =
            isFolder
            ? "taken out of the place and put back, it has arrived"
            : "`steward reprocess \(path.nameText)` has it done"
        switch reason {
        case .hadByRule: return nil
        case .placeIsNew:
            return
                "this will not be done: the place is yet to be watched, and the rule leaves alone what is there by then "
                + "(`existing: skip`); \(remedy), once the agent runs"
        case .ledgerLost:
            return "this was not done: the ledger was lost, and nobody knows what had been done; \(remedy)"
        case .ownWrite:
            return
                "this was not done: Steward put the \(what) there itself, and its own changes do not trigger rules of the "
                + "same place; \(remedy)"
        case .olderThanRule:
            return "this was not done: the \(what) was there before the rule, which leaves such \(what)s alone"
                + (isFolder ? " " : " until they change ")
                + "(`existing: skip`), or the rule ran so long ago that the record is gone; \(remedy)"
        case .judgedBefore:
            return
                "this was not done: the \(what) was last checked before this rule was changed, or the rule ran so long ago "
                + "that the record is gone; \(remedy)"
        case .touched:
            return
                "this will not be done: only times or attributes of the \(what) have changed, and none that the rule looks at"
        case .unchanged:
            return
                "this was not done: the \(what) met the rule's conditions only later, and nothing has happened to it since; "
                + remedy
        case .chain(let why): return "this is not done: \(why)"
        }
    }

    /// The baseline: that of a new place if the agent has not watched it yet.
    fileprivate static func baseline(_ place: PlaceInfo, _ agents: Ledger?) async throws -> ChangeClassifier.Baseline {
        try await agents?.read { try $0.place(place.name)?.root } == place.root ? .normal : .first
    }
}

extension ChangeClassifier {
    /// - Parameters:
    ///   - event: the event to assume; nil for the real one.
    ///   - isRead: whether the file may be opened.
    ///   - agents: the agent's ledger; nil if there is none.
    /// - Throws: `Fault` if the file or the ledger cannot be read.
    package func preview(
        _ path: BytePath, in place: PlaceInfo, as event: FileEvent?, isRead: Bool, _ agents: Ledger?
    ) async throws -> Preview {
        let found = try await pool.run { try self.look(at: path, in: place) }
        let known = try await agents?.read { try $0.file(place.name, path) }
        let isKnown = known?.present == true && known?.fingerprint == found?.status.fingerprint
        let happened: FileEvent = found == nil ? .removed : known?.present == true && !isKnown ? .changed : .arrived
        let unread = Preview(event: event ?? happened, isKnown: isKnown, arrived: known?.arrived)
        guard let (entry, status) = found, status.kind == .file, isRead else { return unread }
        // Hashing a large file to see whether its content changed would take too long here.
        guard isKnown || status.size <= ContentReader.large else { return unread }
        let print = status.fingerprint
        let others = try await agents?.read {
            try $0.files(place.name, device: print.device, inode: print.inode, besides: path)
        }
        let file = FoundFile(place: place, path: path, entry: entry, status: status, known: known, others: others ?? [])
        guard case .seen(var seen) = try await observe(file, isMovedIn: false) else { return unread }
        if isKnown, known?.attributes?.isOpen != true { seen.news = .nothing }
        let ruleSet = planner.ruleSet
        if let event {
            if seen.file == nil { seen.content = .open(try await pool.run { try entry.openFile() }) }
            let scheduled = ruleSet.rules.filter { !$0.schedules.isEmpty }.map { ($0.name, seen.now) }
            seen.news = event == .scheduled ? .due(scheduled: Dictionary(scheduled) { $1 }) : .happened(event)
        }
        let baseline = try await event == nil ? Preview.baseline(place, agents) : .normal
        let shown = event ?? (seen.news == .unread ? happened : seen.news.event)
        var preview = Preview(event: shown, isKnown: isKnown, arrived: seen.record.arrived)
        try await decide(&preview, seen, baseline, ruleSet, agents)
        return preview
    }

    private func decide(
        _ preview: inout Preview, _ seen: ObservedFile, _ baseline: Baseline, _ ruleSet: RuleSet, _ agents: Ledger?
    ) async throws {
        let past = try await agents?.read { try FileHistory(of: seen, ruleSet, in: $0) } ?? .none
        let (planner, sources) = (planner, planner.sources(asking: agents))
        let (decisions, blocks) = try await pool.run {
            try (
                Classification(past, seen, baseline: baseline, ruleSet, sources).decisions.map {
                    (rule: $0.match.rule.name, event: $0.event, verdict: $0.verdict)
                },
                seen.file.flatMap { try planner.blocks(of: seen.record.path, $0, in: seen.place) } ?? []
            )
        }
        let new = blocks.filter { !past.blocks.contains($0.name) }
        preview.blocks = new.isEmpty ? blocks : new
        let skipped = try await agents?.read { try $0.reasonsToSkip(seen.place.name, seen.record.path) } ?? []
        if preview.isKnown || seen.news == .touched {
            let circumstances = Circumstances(past, seen.news, in: seen.place)
            for rule in ruleSet.rules {
                let reason = circumstances.reason(for: rule)
                let chain = skipped.first { $0.hasPrefix(Planner.skipped(rule.name)) }
                let why = reason == .hadByRule ? reason : chain.map(Decision.Reason.chain) ?? reason
                preview.verdicts[rule.name] = (preview.event, .passes(why))
            }
        }
        let origin = past.product?.isStill(seen.record) == true ? past.product : nil
        for case (let rule, let event, var verdict) in decisions {
            guard case .runs = verdict else {
                if preview.verdicts[rule] == nil { preview.verdicts[rule] = (event, verdict) }
                continue
            }
            let reason = try await agents?.read { transaction in
                try origin.flatMap { try Planner.reasonToSkip(rule, depth: $0.depth, $0, in: transaction) }
            }
            if let reason = reason ?? nil { verdict = .passes(.chain(reason)) }
            preview.verdicts[rule] = (event, verdict)
        }
    }
}

extension FolderJudge {
    /// The same for a folder.
    package func preview(
        _ path: BytePath, in place: PlaceInfo, as event: FileEvent?, _ agents: Ledger?
    ) async throws -> Preview? {
        guard let look = try await planner.pool.run({ try FolderLook(path, in: place, planner) }) else { return nil }
        let past = try await agents?.read { transaction in
            try FolderHistory(of: path, look, isMovedIn: false, in: place, transaction)
        }
        let known = past?.known?.present == true ? past?.known : nil
        let isKnown = known?.digest == look.contents.digest
        var preview = Preview(
            event: event ?? (known?.digest != nil && !isKnown ? .changed : .arrived), isKnown: isKnown,
            arrived: known?.arrived, isFolder: true)
        guard let past, event == nil else { return preview }
        let (ruleSet, baseline) = (planner.ruleSet, try await Preview.baseline(place, agents))
        for rule in ruleSet.rules where rule.subject == .folders {
            let (event, verdict) = past.verdict(on: rule, look, baseline, in: place, ruleSet)
            if case .runs = verdict {
                preview.verdicts[rule.name] = (event, verdict)
            } else {
                preview.verdicts[rule.name] = (preview.event, verdict)
            }
        }
        return preview
    }
}
