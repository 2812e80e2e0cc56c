import NoteActions
import Platform
import TKCore

/// Findings as the client shows them: diagnostics, hovers, and the line above the draft.
extension LanguageServer {
    /// Tells the client of a draft's findings, in one way: editors show what is pushed beside what they pull.
    func publish(_ uri: String) async {
        guard let open = drafts[uri], let view = open.view else { return }
        if client.pullsDiagnostics {
            _ = await connection.request("workspace/diagnostic/refresh", .null)
        } else {
            await connection.notify(
                "textDocument/publishDiagnostics",
                ["uri": .string(uri), "version": .integer(view.version), "diagnostics": diagnostics(of: view)])
        }
        if client.refreshesLenses { _ = await connection.request("workspace/codeLens/refresh", .null) }
    }

    /// Pulled by the client, at the version that it has now.
    func diagnostics(_ parameters: JSON) async throws -> JSON {
        let view = try await view(of: try Self.document(parameters))
        return ["kind": "full", "items": view.map { diagnostics(of: $0) } ?? []]
    }

    private func diagnostics(of view: DraftView) -> JSON {
        .array(view.open.map { diagnostic($0, in: view) })
    }

    func diagnostic(_ finding: ReviewFinding, in view: DraftView) -> JSON {
        let suggestion = finding.suggestion
        var members: [(String, JSON)] = [
            ("range", view.draft.range(view.range(of: finding), client.encoding).json),
            ("severity", .integer(Self.severity(suggestion))), ("source", "tk"),
            ("code", .string(suggestion.rule ?? suggestion.advisorID)),
            ("message", .string(Printable.text(finding.note ?? suggestion.reasoning))),
            ("data", ["key": .string(finding.key)]),
        ]
        if client.linksRules, let address = suggestion.rule.flatMap({ examiner.pages?.address(of: $0) }) {
            members.append(("codeDescription", ["href": .string(address)]))
        }
        return .object(members)
    }

    /// Mistakes are warnings, matters of taste are information, and the least important ones hints.
    private static func severity(_ suggestion: Suggestion) -> Int {
        if suggestion.priority >= 5 { return 4 }
        return suggestion.type == .fix || suggestion.priority == 1 ? 2 : 3
    }

    func hover(_ parameters: JSON) async throws -> JSON {
        guard let view = try await view(of: try Self.document(parameters)) else { return .null }
        let position = try TextPosition(parameters["position"])
        let here = findings(in: TextRange(start: position, end: position), of: view)
        guard let first = here.first else { return .null }
        let answers = view.state.ruleAnswers
        let text = here.map { finding in
            let suggestion = finding.suggestion
            let maker = suggestion.rule.map { "`\($0)`" } ?? suggestion.advisorID
            var lines = ["**\(maker)** · \(suggestion.type.rawValue) · P\(suggestion.priority)"]
            lines.append(ReviewSidecar.inline(suggestion.reasoning))
            for other in finding.others where other.reasoning != suggestion.reasoning {
                lines.append(ReviewSidecar.inline("\(other.advisorID): \(other.reasoning)"))
            }
            if let proposal = finding.proposal {
                lines.append(proposal.isEmpty ? "Proposal: remove it." : "Proposal: " + ReviewSidecar.inline(proposal))
            }
            for exchange in finding.exchanges ?? [] {
                if !exchange.question.isEmpty {
                    lines.append("You asked: " + ReviewSidecar.inline(exchange.question))
                }
                if !exchange.reply.isEmpty { lines.append(ReviewSidecar.inline("\(exchange.by): \(exchange.reply)")) }
            }
            if let rule = suggestion.rule, let count = answers[rule] {
                lines.append("In this draft: taken \(count.accepted), skipped \(count.skipped).")
            }
            return lines.joined(separator: "\n\n")
        }.joined(separator: "\n\n---\n\n")
        return [
            "contents": ["kind": "markdown", "value": .string(text)],
            "range": view.draft.range(view.range(of: first), client.encoding).json,
        ]
    }

    /// One lens in the first line: what is open, what became of the rest, and how far along the draft is.
    func lenses(_ parameters: JSON) async throws -> JSON {
        let uri = try Self.document(parameters)
        guard let view = try await view(of: uri) else { return [] }
        let open = view.open.count
        var parts = [open == 1 ? "1 finding" : "\(open) findings"]
        for (state, word) in [(ReviewFinding.State.accepted, "taken"), (.skipped, "skipped"), (.orphaned, "lost")] {
            let count = view.state.count(state)
            if count > 0 { parts.append("\(count) \(word)") }
        }
        let journey = view.state.journey ?? JourneyState()
        var places = [parts.joined(separator: ", ")]
        if journey.stage != .canvas { places.append(journey.place) }
        if journey.cycle > 0 { places.append("cycle \(journey.cycle)") }
        if let cost = journey.cost { places.append(cost.description) }
        let top = TextPosition(line: 0, character: 0)
        return [
            [
                "range": TextRange(start: top, end: top).json,
                "command": [
                    "title": .string("tk: " + places.joined(separator: " · ") + " · review now"),
                    "command": .string(ServerCommand.review.rawValue), "arguments": [.string(uri)],
                ],
            ]
        ]
    }

    func findings(in range: TextRange, of view: DraftView) -> [ReviewFinding] {
        view.open.filter { view.draft.range(view.range(of: $0), client.encoding).touches(range) }
    }

    static func document(_ parameters: JSON) throws -> String {
        guard let uri = parameters["textDocument"]?["uri"]?.text else {
            throw ReplyError.invalid("textDocument.uri is missing")
        }
        return uri
    }
}
