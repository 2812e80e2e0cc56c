import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import Watching

/// `steward explain FILE`: which conditions of the rules a file meets, what the rules would do, and what was done.
package struct Explanation: Codable, Sendable {
    package struct Plan: Codable, Sendable {
        package let rule: String
        package let steps: [String]
        /// The reason, if it is more than the file's event.
        package let why: String?
        /// Why none of it was done, if so.
        package let notDone: String?
    }

    package struct Past: Codable, Sendable {
        package let job: String
        package let rule: String
        package let event: String
        package let state: JobRecord.State
        package let time: Timestamp
        package let problem: String?
        package let done: [String]
        /// The state of the events it published.
        package let deliveries: [String]
        package let undo: String?
    }

    package let path: BytePath
    package let place: String
    package let event: FileEvent
    /// Whether the ledger has judged exactly this version.
    package let isKnown: Bool
    /// Why part of the explanation is missing.
    package let problem: String?
    package let rules: [RuleExplanation]
    package let plans: [Plan]
    package let past: [Past]
    /// What will become due by time alone, the earliest first.
    package let coming: [ComingRule]
    package let diagnostics: [Diagnostic]

    /// - Parameter event: an event name; nil for the one that applies now.
    /// - Throws: `Fault(.usage)` for a file outside all places.
    package static func of(
        _ written: BytePath, event: String?, _ configuration: Configuration, _ directories: Directories
    ) async throws -> Explanation {
        let core = try AgentCore.forPlanning(configuration, directories)
        let places = core.places
        let path = try await BlockingPool("explain").run { places.known(written) }
        guard let (place, relative) = core.places.locate(path) else {
            let names = core.places.places.map { "\($0.name) (\($0.root))" }.joined(separator: ", ")
            throw Fault(.usage, "\(path) is in none of the places: \(names)")
        }
        if let event, FileEvent(rawValue: event) == nil {
            throw Fault(.usage, "there is no event \"\(event)\"; say arrived, changed, renamed, removed or scheduled")
        }
        let loaded = core.loadRules()
        let ruleSet = RuleSet(loaded.rules)
        core.planner.ruleSet = ruleSet
        let files = core.journal.files()
        // A file behind a symlink is out of reach, so it is explained as missing.
        var isBehindLink = false
        var status: FileStatus?
        do {
            status = try files.status(path)
        } catch let fault as Fault where fault.code == Fault.link {
            isBehindLink = true
        }
        let ledger = try Ledger.openForReading(directory: directories.state)
        if let ledger { try await core.learnTime(from: ledger) }
        let folder = try status?.kind == .directory ? FolderContents(files.folder(path)) : nil
        let isReadable = try status?.kind != .file || ReadAccess.isGranted(files.entry(path))
        let isRead = isReadable && status.map { $0.size <= place.sizeLimit } ?? true
        let file = isRead && status?.kind == .file ? try files.file(path) : nil
        let supposed = event.flatMap(FileEvent.init(rawValue:))
        var preview = try await core.judge.preview(relative, in: place, as: supposed, isRead: isRead, ledger)
        if folder != nil, let found = try await core.folderJudge.preview(relative, in: place, as: supposed, ledger) {
            preview = found
        }
        let (found, isKnown) = (preview, preview.isKnown)
        var asked: [FileEvent: FileFacts] = [:]
        func facts(as event: FileEvent) -> FileFacts {
            if let known = asked[event] { return known }
            let facts = FileFacts(
                place: place, path: relative, status: status, event: event, now: .now(),
                content: file.map { .open($0) } ?? folder.map { .folder($0) } ?? (isRead ? .none : .unread),
                gainedBlocks: found.blocks, hash: folder?.digest, arrived: found.arrived,
                sources: isRead
                    ? core.planner.sources(asking: ledger) : core.planner.sources(asking: nil, looks: false))
            asked[event] = facts
            return facts
        }
        let ignored = IgnoreList(extra: configuration.ignore).pattern(ignoringPartOf: relative)
        let explanations = ruleSet.explain(ignoredFor: ignored) { facts(as: found.event(for: $0.name)) }
        let past = try await ledger?.read { transaction in
            try transaction.jobs(of: place.name, relative).prefix(20).map {
                try Past(
                    $0, try transaction.steps(of: $0.id), try transaction.deliveries(jobPrefix: "\($0.id)."))
            }
        }
        let schedules = try await ledger?.read { try $0.schedules() } ?? []
        let known = try await ledger?.read { try $0.file(place.name, relative) }
        let reasons = try await reasonsToPassOver(path, isKnown ? known : nil, ruleSet, ledger)
        let coming =
            ignored == nil && status?.kind == .file
            ? ComingRule.of(
                facts(as: found.event), ruleSet, known: known, schedules: schedules, passedOver: reasons,
                configuration.timeZone) : []
        var plans: [Plan] = []
        if ignored != nil {
            // No rule ever sees it.
        } else if isRead {
            for explanation in explanations where explanation.verdict == .matches {
                let facts = facts(as: found.event(for: explanation.rule))
                let matches = try ruleSet.match(facts).filter { $0.rule.name == explanation.rule }
                for match in matches {
                    plans.append(
                        Plan(
                            rule: match.rule.name,
                            steps: try await steps(match, facts, configuration.device, files, ledger),
                            why: found.whyDone(match.rule.name), notDone: found.whyNotDone(match.rule.name, path)))
                }
            }
        } else {
            plans = explanations.filter { $0.verdict == .matches }.map {
                Plan(
                    rule: $0.rule, steps: $0.actions.map { "\($0), once the file is readable" }, why: nil, notDone: nil)
            }
        }
        return Explanation(
            path: path, place: place.name, event: found.event, isKnown: isKnown,
            problem: ignored.map { passedOver($0, relative) }
                ?? problem(path, place, status, isBehindLink: isBehindLink, isReadable: isReadable),
            rules: explanations, plans: plans, past: past ?? [], coming: coming, diagnostics: loaded.diagnostics)
    }

    /// By rule, why its schedule skips a file.
    private static func reasonsToPassOver(
        _ path: BytePath, _ file: FileRecord?, _ ruleSet: RuleSet, _ ledger: Ledger?
    ) async throws -> [String: String] {
        guard let file, let ledger else { return [:] }
        let rules = ruleSet.rules.filter { !$0.schedules.isEmpty }.map(\.name)
        return try await ledger.read { transaction in
            guard let product = try transaction.product(path), product.isStill(file) else { return [:] }
            let reasons = try rules.map {
                ($0, try Planner.reasonToPassOver(product, rule: $0, in: transaction))
            }
            return Dictionary(reasons) { first, _ in first }.compactMapValues { $0 }
        }
    }

    private static func passedOver(_ pattern: String, _ path: BytePath) -> String {
        "it is ignored: its name, or that of a parent folder, matches `\(pattern)`, a pattern for temporary files. To "
            + "include it, put `ignore: [\"!\(path.nameText)\"]` in steward.yaml"
    }

    private static func problem(
        _ path: BytePath, _ place: PlaceInfo, _ status: FileStatus?, isBehindLink: Bool, isReadable: Bool
    ) -> String? {
        if isBehindLink || status?.kind == .link {
            let what = isBehindLink ? "a folder on the way to it is a symbolic link" : "it is a symbolic link"
            return "\(what), and links are not followed in \(place.name); name the file that it leads to, or say "
                + "`follow-links: inside` at the place for links that stay within it"
        }
        if let size = status?.size, size > place.sizeLimit {
            return
                "it has \(size) bytes, more than the \(place.sizeLimit) that \(place.name) accepts, so it is not read; "
                + "raise `limits: { size: … }` at the place"
        }
        return isReadable
            ? nil : "this user cannot read it; the agent processes a file once its user can: grant access to it"
    }

    /// What each step would do; a step that depends on an earlier one's result shows its template. Counter numbers are
    /// previews: none is drawn.
    private static func steps(
        _ match: RuleMatch, _ facts: FileFacts, _ host: String, _ files: HeldFiles, _ ledger: Ledger?
    ) async throws -> [String] {
        let rule = match.rule
        let hash = try facts.contentHash()
        var values = try BuiltInValues.values(of: facts, names: rule.valueNames)
        values.merge(
            BuiltInValues.values(rule: rule.name, jobID: "dry-run", event: facts.event, arrival: facts.now, host: host)
        ) { $1 }
        values.merge(match.hits.first?.values ?? [:]) { own, _ in own }
        values.merge(PlannedValues.lookups(of: rule, in: values)) { $1 }
        values.merge(try await PlannedValues.preview(of: rule, arrival: facts.now, ledger)) { $1 }
        var lines: [String] = []
        var later: Set<String> = []
        let steps = try rule.plannedSteps(of: facts, knowing: values)
        let shown = ShownSteps(steps)
        for (number, planned) in steps.enumerated() where shown.isShown(number) {
            let step = planned.template
            let name = step.declaration.name
            defer { lines += shown.leftOut(after: number).map { [$0] } ?? [] }
            if !step.valueNames.isDisjoint(with: later) {
                lines.append(planned.named("\(name), with values from the steps before it"))
            } else {
                let input = StepInput(
                    jobID: "dry-run", stepID: "dry-run.\(number)", rule: rule.name, event: facts.event,
                    file: FileReference(
                        place: facts.place.name, root: facts.place.root, path: facts.path,
                        fingerprint: facts.status?.fingerprint, hash: hash, isFolder: facts.subject == .folders),
                    arrival: facts.now, values: planned.values(of: values), files: files)
                do {
                    lines.append(planned.named(try await step.action.dryRun(input)))
                } catch {
                    lines.append(planned.named("\(name) would not do it: \(Platform.explain(error))"))
                }
            }
            later.formUnion(step.declaration.provides.map(\.name))
        }
        if !rule.onFailure.isEmpty {
            let names = rule.onFailure.map(\.declaration.name).joined(separator: ", ")
            lines.append("if one of these fails permanently: \(names)")
        }
        return lines
    }

    /// For the terminal.
    package var lines: [String] {
        var out = [
            "\(path)", "in \(place), as \(event.rawValue)\(isKnown ? "; this version has been judged" : "")",
        ]
        out += (problem.map { ["! \($0)"] } ?? []) + [""]
        out += diagnostics.filter { $0.severity == .error }.flatMap(\.lines)
        for rule in rules { out += rule.lines }
        for plan in plans {
            out += ["", "\(plan.rule) would:"] + plan.steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }
            out += plan.why.map { ["  as \($0)"] } ?? []
            out += plan.notDone.map { ["  ! \($0)"] } ?? []
        }
        if !coming.isEmpty { out += ["", "With time:"] + coming.map { "  \($0.line)" } }
        if !past.isEmpty { out += ["", "Done so far:"] }
        for job in past {
            out.append(
                "  \(job.job.prefix(12))  \(job.time)  \(job.rule) (\(job.event)): \(job.state.rawValue)"
                    + (job.problem.map { ": \($0)" } ?? ""))
            out += (job.done + job.deliveries).map { "      \($0)" }
            if let undo = job.undo { out.append("      undo: \(undo)") }
        }
        return out
    }
}

extension Explanation.Past {
    init(_ job: JobRecord, _ steps: [StepRecord], _ deliveries: [DeliveryRecord]) throws {
        let receipts = try steps.compactMap { step in
            try step.receipt.map { (step.state, try LedgerJSON.decode(Receipt.self, from: $0).summary) }
        }
        self.init(
            job: job.id, rule: job.rule, event: job.event, state: job.state, time: job.updated, problem: job.problem,
            done: receipts.map { $0.0 == .undone ? "\($0.1) (undone)" : $0.1 },
            deliveries: deliveries.map { "`\($0.event)` to \($0.target): \($0.fate)" },
            undo: receipts.contains { $0.0 == .done || $0.0 == .undoing } ? "steward undo \(job.id.prefix(12))" : nil)
    }
}
