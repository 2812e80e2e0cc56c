import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import Watching

/// `steward explain FILE`: what the rules say to a file, condition by condition; what they would do; what was done.
package struct Explanation: Codable, Sendable {
    package struct Plan: Codable, Sendable {
        package let rule: String
        package let steps: [String]
        /// Why none of it was done, where that is so.
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
        package let undo: String?
    }

    package let path: BytePath
    package let place: String
    package let event: FileEvent
    /// Whether the ledger has judged this very version.
    package let isKnown: Bool
    /// Why some of it cannot be told.
    package let problem: String?
    package let rules: [RuleExplanation]
    package let plans: [Plan]
    package let past: [Past]
    package let diagnostics: [Diagnostic]

    /// - Parameter event: by name; nil for what it would be now.
    /// - Throws: `Fault(.usage)` for a file outside all places.
    package static func of(
        _ written: BytePath, event: String?, _ configuration: Configuration, _ directories: Directories
    ) async throws -> Explanation {
        let core = try AgentCore.forPlanning(configuration, directories)
        let places = core.places
        let path = try await BlockingLane("explain").run { places.known(written) }
        guard let (place, relative) = core.places.locate(path) else {
            let names = core.places.places.map { "\($0.name) (\($0.root))" }.joined(separator: ", ")
            throw Fault(.usage, "\(path) is in none of the places: \(names)")
        }
        if let event, FileEvent(rawValue: event) == nil {
            throw Fault(.usage, "there is no event \"\(event)\"; say arrived, changed, renamed or removed")
        }
        let loaded = core.loadRules()
        let ruleSet = RuleSet(loaded.rules)
        let files = core.journal.files()
        // What lies behind a link is reached by nobody: it is explained as a file that is not there.
        var isBehindLink = false
        var status: FileStatus?
        do {
            status = try files.status(path)
        } catch let fault as Fault where fault.code == Fault.link {
            isBehindLink = true
        }
        let ledger = try Ledger.openForReading(directory: directories.state)
        let known = try await ledger?.read { try $0.file(place.name, relative) }
        let happened =
            event.flatMap(FileEvent.init(rawValue:))
            ?? (status == nil
                ? .removed : known?.present == true && known?.fingerprint != status?.fingerprint ? .changed : .arrived)
        let isReadable = try status?.kind != .file || ReadAccess.isGranted(files.spot(path))
        let isRead = isReadable && status.map { $0.size <= place.sizeLimit } ?? true
        let file = isRead && status?.kind == .file ? try files.file(path) : nil
        let facts = FileFacts(
            place: place, path: relative, status: status, event: happened, now: .now(),
            content: file.map { .open($0) } ?? (isRead ? .none : .unread),
            gainedBlocks: try await blocks(file, place, relative, ledger))
        let ignored = IgnoreList(extra: configuration.ignore).pattern(ignoringPartOf: relative)
        let explanations = ruleSet.explain(facts, ignoredFor: ignored)
        let isKnown = known?.present == true && known?.fingerprint == status?.fingerprint
        let past = try await ledger?.read { transaction in
            try transaction.jobs(of: place.name, relative).prefix(20).map {
                try Past($0, try transaction.steps(of: $0.id))
            }
        }
        var plans: [Plan] = []
        if ignored != nil {
            // Nothing of it is ever seen.
        } else if isRead {
            for match in try ruleSet.match(facts) {
                let steps = try await steps(match.rule, facts, configuration.device, files)
                let isPassedOver = isKnown && match.rule.existing(in: place) == .skip
                let isDone = past?.contains { $0.rule == match.rule.name } ?? false
                plans.append(
                    Plan(
                        rule: match.rule.name, steps: steps, notDone: isPassedOver && !isDone ? notDone(path) : nil))
            }
        } else {
            plans = explanations.filter { $0.verdict == .matches }.map {
                Plan(rule: $0.rule, steps: $0.actions.map { "\($0), once the file may be read" }, notDone: nil)
            }
        }
        return Explanation(
            path: path, place: place.name, event: happened,
            isKnown: isKnown,
            problem: ignored.map { passedOver($0, relative) }
                ?? problem(path, place, status, isBehindLink: isBehindLink, isReadable: isReadable),
            rules: explanations, plans: plans, past: past ?? [], diagnostics: loaded.diagnostics)
    }

    private static func notDone(_ path: BytePath) -> String {
        "this was not done: the file was there before the rule, which leaves such files alone until they change "
            + "(`existing: skip`), or it was done so long ago that it is forgotten; "
            + "`steward reprocess \(path.nameText)` has it done now"
    }

    private static func passedOver(_ pattern: String, _ path: BytePath) -> String {
        "it is passed over: its name, or that of a folder above it, matches `\(pattern)`, as programs call what they work "
            + "with; `ignore: [\"!\(path.nameText)\"]` in steward.yaml has it seen"
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
                "it has \(size) bytes, more than the \(place.sizeLimit) that \(place.name) takes, so it is not read; "
                + "raise `limits: { size: … }` at the place"
        }
        return isReadable
            ? nil : "this user may not read it; the agent takes a file when its user may: grant access to it"
    }

    /// The blocks of a note that rules have not seen; where they have seen all, all of them, as if they were new.
    private static func blocks(
        _ file: Descriptor?, _ place: PlaceInfo, _ relative: BytePath, _ ledger: Ledger?
    ) async throws -> [BlockFacts] {
        guard let file, place.kind == .notes, relative.nameText.hasSuffix(".md") else { return [] }
        let all = AgentCore.blocks(try file.readAll())
        let seen = try await ledger?.read { try $0.blocks(place.name, relative) } ?? []
        let new = all.filter { !seen.contains(String($0.token.dropFirst())) }
        return new.isEmpty ? all : new
    }

    /// What each step would do; a step that needs what an earlier one finds out shows its template.
    private static func steps(
        _ rule: Rule, _ facts: FileFacts, _ host: String, _ files: HeldFiles
    ) async throws -> [String] {
        let hash = try facts.contentHash()
        var values = try BuiltInValues.values(of: facts, names: rule.valueNames)
        values.merge(
            BuiltInValues.values(rule: rule.name, jobID: "dry-run", event: facts.event, arrival: facts.now, host: host)
        ) { $1 }
        var lines: [String] = []
        var later: Set<String> = []
        for step in rule.steps {
            let name = step.declaration.name
            if !step.arguments.valueNames.isDisjoint(with: later) {
                lines.append("\(name), with what the steps before it find out")
            } else {
                let input = StepInput(
                    jobID: "dry-run", stepID: "dry-run.\(step.index)", rule: rule.name, event: facts.event,
                    file: FileReference(
                        place: facts.place.name, root: facts.place.root, path: facts.path,
                        fingerprint: facts.status?.fingerprint, hash: hash), arrival: facts.now, values: values,
                    files: files)
                do {
                    lines.append(try await step.action.dryRun(input))
                } catch {
                    lines.append("\(name) would not do it: \(Platform.explain(error))")
                }
            }
            later.formUnion(step.declaration.provides.map(\.name))
        }
        return lines
    }

    /// For a terminal.
    package var lines: [String] {
        var out = [
            "\(path)", "in \(place), as \(event.rawValue)\(isKnown ? "; this version has been judged" : "")",
        ]
        out += (problem.map { ["! \($0)"] } ?? []) + [""]
        out += diagnostics.filter { $0.severity == .error }.flatMap(\.lines)
        for rule in rules { out += rule.lines }
        for plan in plans {
            out += ["", "\(plan.rule) would:"] + plan.steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }
            out += plan.notDone.map { ["  ! \($0)"] } ?? []
        }
        if !past.isEmpty { out += ["", "What was done:"] }
        for job in past {
            out.append(
                "  \(job.job.prefix(12))  \(job.time)  \(job.rule) (\(job.event)): \(job.state.rawValue)"
                    + (job.problem.map { ": \($0)" } ?? ""))
            out += job.done.map { "      \($0)" }
            if let undo = job.undo { out.append("      undo: \(undo)") }
        }
        return out
    }
}

extension Explanation.Past {
    init(_ job: JobRecord, _ steps: [StepRecord]) throws {
        let receipts = try steps.compactMap { step in
            try step.receipt.map { (step.state, try LedgerJSON.decode(Receipt.self, from: $0).summary) }
        }
        self.init(
            job: job.id, rule: job.rule, event: job.event, state: job.state, time: job.updated, problem: job.problem,
            done: receipts.map { $0.0 == .undone ? "\($0.1) (undone)" : $0.1 },
            undo: receipts.contains { $0.0 == .done || $0.0 == .undoing } ? "steward undo \(job.id.prefix(12))" : nil)
    }
}
