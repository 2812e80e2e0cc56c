import NoteActions
import Platform
import TKCore

/// What can be done about findings, and doing it. Every action is a command, so that the server decides with the text
/// that the buffer has then, and knows whether the client has made the change.
extension LanguageServer {
    func codeActions(_ parameters: JSON) async throws -> JSON {
        let uri = try Self.document(parameters)
        if let only = parameters["context"]?["only"]?.elements.compactMap(\.text), !only.isEmpty,
            !only.contains(where: { $0 == "" || $0 == "quickfix" })
        {
            return []
        }
        guard let view = try await view(of: uri) else { return [] }
        return .array(
            findings(in: try TextRange(parameters["range"]), of: view).flatMap { actions($0, in: view, uri) })
    }

    private func actions(_ finding: ReviewFinding, in view: DraftView, _ uri: String) -> [JSON] {
        var actions: [JSON] = []
        func add(_ title: String, _ command: ServerCommand, _ arguments: [String], isPreferred: Bool = false) {
            let call: JSON = [
                "title": .string(title), "command": .string(command.rawValue),
                "arguments": .array(([uri, finding.key] + arguments).map { .string($0) }),
            ]
            actions.append([
                "title": .string(title), "kind": "quickfix", "diagnostics": [diagnostic(finding, in: view)],
                "isPreferred": .bool(isPreferred), "command": call,
            ])
        }
        if let proposal = finding.proposal {
            let words =
                proposal.isEmpty
                ? "Remove \(Self.quoted(finding.suggestion.originalText))"
                : "Change to \(Self.quoted(proposal))"
            add(words, .answer, ["take"], isPreferred: true)
            let count = Self.alike(finding, in: view).count
            if count > 1 { add("\(words), \(count) times in this draft", .takeEverywhere, []) }
        } else {
            add("Mark as read", .answer, ["take"])
        }
        add("Skip", .answer, ["skip"])
        add("Ask for another proposal", .ask, [])
        if QuickPass.isSpelling(finding.suggestion.rule) {
            add("Add \(Self.quoted(finding.suggestion.originalText)) to your words", .addWord, [])
        }
        if let rule = finding.suggestion.rule {
            if [.markdown, .mdx].contains(view.draft.syntax) {
                add("Ignore \(rule) in this paragraph", .ignore, ["paragraph"])
                add("Ignore \(rule) in this draft", .ignore, ["draft"])
            }
            add("Ignore \(rule) everywhere", .ignore, ["everywhere"])
        }
        return actions
    }

    private static func quoted(_ text: String) -> String {
        let line = Printable.line(text.split(whereSeparator: \.isNewline).joined(separator: " "))
        return "“\(line.count > 60 ? line.prefix(57) + "…" : line[...])”"
    }

    /// Findings of the same rule that propose the same for the same words.
    private static func alike(_ finding: ReviewFinding, in view: DraftView) -> [ReviewFinding] {
        guard let rule = finding.suggestion.rule else { return [] }
        let words = finding.suggestion.originalText.lowercased()
        let proposal = finding.proposal?.lowercased()
        return view.open.filter {
            $0.suggestion.rule == rule && $0.suggestion.originalText.lowercased() == words
                && $0.proposal?.lowercased() == proposal
        }
    }

    // MARK: Commands

    func execute(_ parameters: JSON) async throws -> JSON {
        let name = parameters["command"]?.text ?? ""
        guard let command = ServerCommand(rawValue: name) else { throw ReplyError.invalid("unknown command `\(name)`") }
        let arguments = parameters["arguments"]?.elements ?? []
        let words = arguments.compactMap(\.text)
        guard words.count == arguments.count else { throw ReplyError.invalid("the arguments of \(name) are strings") }
        guard let uri = words.first, let open = drafts[uri] else {
            throw ReplyError.invalid("the first argument of \(name) is the address of an open document")
        }
        let rest = Array(words.dropFirst())
        func key() throws -> String {
            guard let key = rest.first else { throw ReplyError.invalid("the second argument is the finding's key") }
            return key
        }
        switch command {
        case .answer:
            guard rest.count == 2, let mark = ["take": SidecarAnswers.Mark.accept, "skip": .skip][rest[1]] else {
                throw ReplyError.invalid("\(name) takes a finding's key, and `take` or `skip`")
            }
            try await answer(uri, mark) { view in try Self.known(key(), in: view) }
        case .takeEverywhere:
            try await answer(uri, .accept) { view in
                try Self.known(key(), in: view).flatMap { Self.alike($0, in: view) }
            }
        case .ignore:
            guard rest.count == 2 else { throw ReplyError.invalid("\(name) takes a finding's key and a scope") }
            try await ignore(uri, key: rest[0], scope: rest[1])
        case .addWord: try await addWord(uri, key: try key())
        case .ask: try await ask(open, key: try key(), rest.dropFirst().first ?? "", token: parameters["workDoneToken"])
        case .review: try await review(open, rest, token: parameters["workDoneToken"])
        case .feedback: try await review(open, [], token: parameters["workDoneToken"])
        case .council: try await council(open, rest, token: parameters["workDoneToken"])
        case .final: try await finish(open)
        }
        return .null
    }

    private static func known(_ key: String, in view: DraftView) throws -> [ReviewFinding] {
        guard let finding = view.finding(key) else {
            throw ReplyError.failed("finding \(key) has been answered, or its words have changed")
        }
        return [finding]
    }

    /// Answers findings. Words go into the buffer by way of the client, for the version that they were decided with;
    /// nothing is recorded unless the client says that it has made the change.
    private func answer(
        _ uri: String, _ mark: SidecarAnswers.Mark, _ chosen: (DraftView) throws -> [ReviewFinding]
    ) async throws {
        for _ in 0..<3 {
            guard let view = try await view(of: uri), let open = drafts[uri], open.version == view.version else {
                throw ReplyError.failed("the document is not open any more")
            }
            let findings = try chosen(view)
            let answers = Dictionary(findings.map { ($0.key, SidecarAnswers.Answer(mark: mark)) }) { first, _ in first }
            let ids = Set(findings.map(\.suggestion.id))
            let examiner = examiner
            let found = try await pool.run { try examiner.examine(open, answers: answers) }
            guard drafts[uri]?.version == open.version else { continue }
            guard let text = found.newText else {
                if let note = found.view.state.findings.first(where: { $0.isOpen && answers[$0.key] != nil })?.note {
                    throw ReplyError.failed(note)
                }
                decided(found, of: uri)
                if mark == .skip { drafts[uri]?.skipped.formUnion(ids) }
                await answered(findings, mark, of: open)
                return await publish(uri)
            }
            guard try await apply(view.draft.edits(to: text, client.encoding), to: open, named: "tk: take a proposal"),
                try await holds(found, Set(answers.keys), uri)
            else { continue }
            return taken(ids, found.view.state, uri)
        }
        throw ReplyError.failed("the document kept changing; try again")
    }

    /// Whether the buffer has the words of these findings: some clients say so of an edit that came too late.
    func holds(_ found: DraftExaminer.Examined, _ keys: Set<String>, _ uri: String) async throws -> Bool {
        guard var open = drafts[uri] else { return false }
        // Emacs tells of its change only once the command is over.
        if open.version == found.view.version || open.text.string == found.newText { return true }
        open.state = found.view.state
        let (examiner, trial) = (examiner, open)
        let now = try await pool.run { try examiner.examine(trial) }
        let accepted = Set(found.view.state.findings.filter { $0.state == .accepted }.map(\.key))
        return !now.view.state.findings.contains { keys.contains($0.key) && accepted.contains($0.key) && $0.isOpen }
    }

    /// Has the client change a document.
    ///
    /// - Returns: false if the document has changed since that version.
    func apply(_ edits: [(range: TextRange, text: String)], to open: OpenDraft, named label: String) async throws
        -> Bool
    {
        let edits = JSON.array(edits.map { ["range": $0.range.json, "newText": .string($0.text)] })
        let change: JSON = [
            "textDocument": ["uri": .string(open.uri), "version": .integer(open.version)], "edits": edits,
        ]
        let reply = await connection.request(
            "workspace/applyEdit", ["label": .string(label), "edit": ["documentChanges": [change]]])
        switch reply {
        case nil: throw CancellationError()
        case .failure(let error): throw error
        case .success(let result):
            if result["applied"]?.bool == true {
                // Some clients tell of the change only after a pause.
                for _ in 0..<200 where drafts[open.uri]?.version == open.version {
                    try await clock.sleep(for: .milliseconds(10))
                }
                return true
            }
            if drafts[open.uri]?.version != open.version { return false }
            let reason = result["failureReason"]?.text.map { ": \($0)" } ?? ""
            throw ReplyError.failed("the editor did not make the change\(reason)")
        }
    }
}

extension DraftText {
    /// The lines' smallest differing ranges, in this text, if both have the same number of lines; else one range.
    func edits(to other: String, _ encoding: PositionEncoding) -> [(range: TextRange, text: String)] {
        let new = DraftText(other, syntax: syntax)
        guard new.lineCount == lineCount else {
            return difference(0..<count, new, 0..<new.count, encoding).map { [$0] } ?? []
        }
        return (1...lineCount).compactMap { line in
            difference(range(ofLine: line), new, new.range(ofLine: line), encoding)
        }
    }

    private func difference(
        _ old: Range<Int>, _ other: DraftText, _ new: Range<Int>, _ encoding: PositionEncoding
    ) -> (range: TextRange, text: String)? {
        let (before, after) = (scalars[old], other.scalars[new])
        let head = zip(before, after).prefix { $0 == $1 }.count
        guard head < max(before.count, after.count) else { return nil }
        let most = min(before.count, after.count) - head
        let tail = min(most, zip(before.reversed(), after.reversed()).prefix { $0 == $1 }.count)
        let changed = old.lowerBound + head..<old.upperBound - tail
        return (range(changed, encoding), other[new.lowerBound + head..<new.upperBound - tail])
    }
}
