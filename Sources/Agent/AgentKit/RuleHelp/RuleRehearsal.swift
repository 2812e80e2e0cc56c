import FileActions
import Ledger
import OwnFiles
import Platform
import Rules

/// Simulates the rules on one file after another, each seeing the results of the previous ones.
struct RuleRehearsal {
    private let core: AgentCore
    /// Read-only; nil if the agent has not run yet.
    private let ledger: Ledger?
    private let ruleSet: RuleSet
    private let explains: Bool
    private let held: HeldFiles
    private var files: RehearsedFiles
    private var results: [RuleTrial.File] = []
    private var folders: [RuleTrial.File] = []
    private var notes: [RuleTrial.Note] = []
    private var before = FileTree()
    private var after = FileTree()

    /// How many numbers of each counter the previous files would have drawn.
    private var drawn: [String: Int] = [:]

    /// How far files are followed from place to place, as in the agent.
    private static let deepest = Planner.deepest

    /// - Parameter explains: whether to say why a rule does not match a file.
    init(_ core: AgentCore, _ rules: [Rule], asking ledger: Ledger?, explains: Bool) {
        (self.core, self.ledger, self.explains) = (core, ledger, explains)
        ruleSet = RuleSet(rules)
        held = core.journal.files()
        files = RehearsedFiles(held)
    }

    /// The state of a file during the simulation.
    private struct Subject {
        let found: TrialFiles.Found
        let file: Descriptor
        let status: FileStatus
        /// Computed once a rule matches: files may be many and large.
        var hash: ContentHash?
        /// Where it would be now; nil once it is in the trash.
        var place: PlaceInfo
        var path: BytePath
        var isGone = false
        /// The rules applied so far.
        var rules: Set<String> = []
        var depth = 0

        var absolute: BytePath { place.root.appending(path) }

        var reference: FileReference {
            FileReference(
                place: place.name, root: place.root, path: path, fingerprint: status.fingerprint, hash: hash)
        }
    }

    mutating func add(_ found: TrialFiles.Found) async throws {
        before.add(found.path, in: found.place.name)
        var result = RuleTrial.File(file: found.file, place: found.place.name, path: found.path)
        do {
            let first = try await subject(found)
            guard first.status.size <= first.place.sizeLimit else {
                result.notTaken.append(
                    "it has \(first.status.size) bytes, and \(first.place.name) takes \(first.place.sizeLimit) at most")
                after.add(first.path, in: first.place.name, note: nil)
                result.after.append("\(first.place.name)/\(first.path)")
                results.append(result)
                return
            }
            var waiting = [first]
            while let subject = waiting.popLast() {
                waiting += try await play(subject, &result)
            }
        } catch let fault as Fault {
            // The other rules can still be tried.
            result.notTaken.append(fault.message)
        }
        results.append(result)
    }

    /// Simulates rules about folders on a folder in its present state. The results of rules about files in it are not
    /// taken into account.
    mutating func addFolder(_ folder: BytePath) async throws {
        guard let (place, path) = core.places.locate(folder), ruleSet.hasFolderRules(place.name) else { return }
        let held = held
        let (status, contents) = try await BlockingPool("try").run {
            let opened = try held.folder(folder)
            return (try opened.status(), try FolderContents(opened))
        }
        let facts = FileFacts(
            place: place, path: path, status: status, event: .arrived, now: .now(), content: .folder(contents),
            hash: contents.digest, sources: core.planner.sources(asking: ledger))
        var result = RuleTrial.File(file: folder, place: place.name, path: path)
        for match in try ruleSet.match(facts) {
            guard let hit = match.hits.first else { continue }
            var taking = RuleTrial.Taking(rule: match.rule.name, place: place.name)
            let reference = FileReference(
                place: place.name, root: place.root, path: path, fingerprint: status.fingerprint,
                hash: contents.digest, isFolder: true)
            let values = try await plannedValues(match.rule, hit, facts)
            for step in match.rule.steps {
                guard step.valueNames.isSubset(of: values.keys) else {
                    taking.steps.append("\(step.declaration.name), with what the steps before it find out")
                    continue
                }
                do {
                    let input = StepInput(
                        jobID: "trial", stepID: "trial.\(step.index)", rule: match.rule.name, event: .arrived,
                        file: reference, arrival: facts.now, values: values, files: held)
                    taking.steps.append(try await step.action.rehearse(input).summary)
                } catch {
                    taking.warnings.append("\(step.declaration.name) would not do it: \(explain(error))")
                }
            }
            result.rules.append(taking)
        }
        if !result.rules.isEmpty { folders.append(result) }
    }

    private func subject(_ found: TrialFiles.Found) async throws -> Subject {
        let held = held
        let (file, status) = try await BlockingPool("try").run {
            let file = found.isThere ? try held.entry(found.file).openFile() : try Descriptor(found.file)
            return (file, try file.status())
        }
        return Subject(
            found: found, file: file, status: status, hash: Self.standIn(status), place: found.place, path: found.path)
    }

    /// Size limit for reading a file completely, in bytes.
    private static let most: Int64 = 1 << 30

    /// A substitute hash for a file that is not read: one that is large or sparse and so may claim any size. It equals
    /// no other file's. nil for other files.
    static func standIn(_ status: FileStatus) -> ContentHash? {
        guard status.size > most || status.size > 1 << 20 && status.allocated < status.size / 2 else { return nil }
        return ContentHash(of: Array("\(status.device) \(status.inode) \(status.fingerprint.changed)".utf8))
    }

    /// Applies the rules of the file's place.
    ///
    /// - Returns: the copies in other places, whose rules come next.
    private mutating func play(_ start: Subject, _ result: inout RuleTrial.File) async throws -> [Subject] {
        var subject = start
        var copies: [Subject] = []
        let facts = FileFacts(
            place: subject.place, path: subject.path, status: subject.status, event: .arrived, now: .now(),
            content: .open(subject.file), gainedBlocks: try blocks(subject), hash: subject.hash,
            sources: core.planner.sources(asking: ledger))
        let matches = try ruleSet.match(facts).filter { !subject.rules.contains($0.rule.name) }
        if matches.isEmpty, explains, start.depth == 0 { result.notTaken = why(facts) }
        if !matches.isEmpty, subject.hash == nil {
            let file = subject.file
            subject.hash = try await BlockingPool("try").run { try ContentHash.of(file) }
        }
        for match in matches {
            guard !subject.isGone else { break }
            var taking = RuleTrial.Taking(rule: match.rule.name, place: start.place.name)
            for hit in match.hits {
                copies += try await perform(match.rule, hit, facts, &subject, &taking)
            }
            subject.rules.insert(match.rule.name)
            result.rules.append(taking)
        }
        guard !subject.isGone else {
            after.add(BytePath(bytes: subject.path.name), in: "trash", note: origin(subject))
            result.after.append("trash")
            return copies
        }
        if subject.place.name != start.place.name, start.depth < Self.deepest {
            subject.depth += 1
            return copies + [subject]
        }
        after.add(subject.path, in: subject.place.name, note: origin(subject))
        result.after.append("\(subject.place.name)/\(subject.path)")
        return copies
    }

    private func origin(_ subject: Subject) -> String? {
        let found = subject.found
        let isUnmoved = subject.place.name == found.place.name && subject.path == found.path && !subject.isGone
        return isUnmoved ? nil : "← \(found.place.name)/\(found.path)"
    }

    private func why(_ facts: FileFacts) -> [String] {
        ruleSet.explain(facts).flatMap(\.conditions).filter { $0.held != true }.flatMap { $0.lines(indent: "") }
    }

    private func blocks(_ subject: Subject) throws -> [BlockFacts] {
        guard subject.place.kind == .notes, subject.path.nameText.hasSuffix(".md") else { return [] }
        return AgentCore.blocks(try subject.file.readAll())
    }

    // MARK: Steps

    /// The values that a job of the rule would have before its first step.
    private mutating func plannedValues(
        _ rule: Rule, _ hit: RuleMatch.Hit, _ facts: FileFacts
    ) async throws -> Values {
        var values = hit.values
        values.merge(try BuiltInValues.values(of: facts, names: rule.valueNames)) { $1 }
        values.merge(
            BuiltInValues.values(
                rule: rule.name, jobID: "trial", event: facts.event, arrival: facts.now,
                host: core.configuration.device, block: hit.block)
        ) { $1 }
        values.merge(PlannedValues.lookups(of: rule, in: values)) { $1 }
        values.merge(try await numbers(for: rule, facts.now)) { $1 }
        return values
    }

    private mutating func perform(
        _ rule: Rule, _ hit: RuleMatch.Hit, _ facts: FileFacts, _ subject: inout Subject,
        _ taking: inout RuleTrial.Taking
    ) async throws -> [Subject] {
        var values = try await plannedValues(rule, hit, facts)
        var unknown: Set<String> = []
        var copies: [Subject] = []
        let steps = try rule.plannedSteps(of: facts, knowing: values)
        let shown = ShownSteps(steps)
        for (number, planned) in steps.enumerated() {
            let step = planned.template
            let name = step.declaration.name
            func tell(_ text: String) {
                if shown.isShown(number) { taking.steps.append(planned.named(text)) }
                if let rest = shown.leftOut(after: number) { taking.steps.append(rest) }
            }
            guard step.valueNames.isDisjoint(with: unknown) else {
                tell("\(name), with what the steps before it find out")
                unknown.formUnion(step.declaration.provides.map(\.name))
                continue
            }
            do {
                let dry = try await rehearse(planned, number, rule, subject, values, facts.now)
                tell(dry.summary)
                guard let forecast = dry.forecast else {
                    unknown.formUnion(step.declaration.provides.map(\.name))
                    continue
                }
                let target = try await apply(forecast, to: &subject, copies: &copies, &taking)
                let given = target.map(PlacementValues.of) ?? [:]
                values.merge(given) { $1 }
                unknown.formUnion(step.declaration.provides.map(\.name))
                unknown.subtract(given.keys)
            } catch {
                taking.steps.append(planned.named(name))
                taking.warnings.append(planned.named("\(name) would not do it: \(explain(error))"))
                break
            }
            if subject.isGone { break }
        }
        return copies
    }

    /// The counter numbers that a job of the rule would draw, after those of previous jobs.
    private mutating func numbers(for rule: Rule, _ now: Timestamp) async throws -> Values {
        let counters = PlannedValues.counters(of: rule, arrival: now)
        var values = try await PlannedValues.preview(of: rule, arrival: now, ledger)
        for (value, counter) in counters {
            guard case .integer(let next) = values[value] else { continue }
            values[value] = .integer(next + drawn[counter, default: 0])
        }
        for counter in Set(counters.values) { drawn[counter, default: 0] += 1 }
        return values
    }

    /// Runs the step on the file's simulated location; an action that must open the file uses its real one.
    private func rehearse(
        _ planned: PlannedStep, _ number: Int, _ rule: Rule, _ subject: Subject, _ values: Values, _ now: Timestamp
    ) async throws -> DryRun {
        let step = planned.template
        func input(_ file: FileReference) -> StepInput {
            StepInput(
                jobID: "trial", stepID: "trial.\(number)", rule: rule.name, event: .arrived, file: file,
                arrival: now, values: planned.values(of: values), files: held)
        }
        do {
            return try await step.action.rehearse(input(subject.reference))
        } catch let fault as Fault where fault.kind == .superseded || fault.errno != nil {
            let found = subject.found
            guard found.isThere, subject.absolute != found.file else { throw fault }
            var file = subject.reference
            (file.place, file.root, file.path) = (found.place.name, found.place.root, found.path)
            return try await step.action.rehearse(input(file))
        }
    }

    /// - Returns: the file that the step created, for `target.*`.
    private mutating func apply(
        _ forecast: Forecast, to subject: inout Subject, copies: inout [Subject], _ taking: inout RuleTrial.Taking
    ) async throws -> BytePath? {
        guard let content = subject.hash else { return nil }
        var made: BytePath?
        for change in forecast.changes {
            switch change {
            case .moves(let target, let ifTaken):
                guard let path = try await landing(target, ifTaken, content, &taking) else { continue }
                files.remove(subject.absolute)
                files.put(content, at: path)
                made = path
                guard let (place, relative) = core.places.locate(path) else { continue }
                (subject.place, subject.path) = (place, relative)
            case .makes(let target, let ifTaken, let hash):
                guard let path = try await landing(target, ifTaken, hash, &taking) else { continue }
                files.put(hash, at: path)
                made = path
                guard let (place, relative) = core.places.locate(path) else { continue }
                guard hash == content, place.name != subject.place.name, subject.depth < Self.deepest else {
                    after.add(relative, in: place.name, note: "new, by \(taking.rule)")
                    continue
                }
                var copy = subject
                (copy.place, copy.path, copy.depth) = (place, relative, subject.depth + 1)
                copy.rules.insert(taking.rule)
                copies.append(copy)
            case .trashes, .removes:
                files.remove(subject.absolute)
                subject.isGone = true
            case .writes(let note, let text):
                notes.append(RuleTrial.Note(note: note, text: text))
            }
        }
        return made
    }

    private func landing(
        _ target: BytePath, _ ifTaken: Forecast.IfTaken, _ hash: ContentHash, _ taking: inout RuleTrial.Taking
    ) async throws -> BytePath? {
        let files = files
        let landing = try await BlockingPool("try").run { try files.landing(target, ifTaken, hash) }
        guard let landing else {
            taking.warnings.append("\(target) is taken, so the file stays where it is")
            return nil
        }
        if landing != target { taking.warnings.append("\(target) is taken, so it becomes \(landing.nameText)") }
        return landing
    }

    func result(_ diagnostics: [Diagnostic]) -> RuleTrial {
        RuleTrial(
            files: results, folders: folders, notes: notes, before: before.lines, after: after.lines,
            diagnostics: diagnostics)
    }
}
