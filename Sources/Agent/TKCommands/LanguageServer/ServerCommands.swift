import ArgumentParser
import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import TKCore

/// Commands that ask a model, switch rules off, or write the review's files.
extension LanguageServer {
    // MARK: Rules

    func ignore(_ uri: String, key: String, scope: String) async throws {
        guard let view = try await view(of: uri), let open = drafts[uri] else { return }
        guard let finding = view.finding(key), let rule = finding.suggestion.rule else {
            throw ReplyError.failed("finding \(key) is not of a rule, or has been answered")
        }
        switch scope {
        case "everywhere":
            examiner.given.ignoredSince.insert(rule)
            try await pool.run { [wiring] in try wiring.ignore(rule) }
            examineAll()
        case "paragraph", "draft":
            let (draft, encoding) = (view.draft, client.encoding)
            var line = 1
            if scope == "paragraph" {
                let start = view.range(of: finding).lowerBound
                line = draft.line(
                    at: DraftMask(draft).blocks.last { $0.range.lowerBound <= start }?.range.lowerBound ?? start)
            } else if let front = FrontMatterSpan(Array(draft.string.utf8).span) {
                line = front.lineCount + 1
            }
            let verb = scope == "paragraph" ? "ignore" : "off"
            let place = draft.position(at: draft.range(ofLine: line).lowerBound, encoding)
            let comment = "<!-- tk: \(verb) \(rule) -->\n"
            guard
                try await apply([(TextRange(start: place, end: place), comment)], to: open, named: "tk: ignore \(rule)")
            else { throw ReplyError.failed("the document changed; try again") }
        default: throw ReplyError.invalid("the scope is `paragraph`, `draft` or `everywhere`, not `\(scope)`")
        }
    }

    func addWord(_ uri: String, key: String) async throws {
        guard let finding = try await view(of: uri)?.finding(key), QuickPass.isSpelling(finding.suggestion.rule) else {
            throw ReplyError.failed("finding \(key) is not about a word, or has been answered")
        }
        let (words, word) = (examiner.words, finding.suggestion.originalText)
        _ = try await pool.run { try words.add([word]) }
        examineAll()
    }

    // MARK: Models

    /// Shows the council's report as a document of its own.
    func council(_ open: OpenDraft, _ advisors: [String], token: JSON?) async throws {
        guard client.showsDocuments else {
            throw ReplyError.failed("this editor shows no documents for a server; use `tk council` in a terminal")
        }
        let shown = try await asked(open)
        let command = try Council.parse(advisors.isEmpty ? [] : ["--advisors", advisors.joined(separator: ",")])
        let draft = try Draft(name: open.name, Array(shown.draft.string.utf8), from: open.name, path: open.path)
        let text = try await connection.withProgress(
            "tk: a council about \(open.name)", token: token, creates: client.showsProgress
        ) { _ in
            try await command.debate(draft).0.text(.plain)
        }
        let path = try await pool.run {
            let file = BytePath(FileManager.default.temporaryDirectory.path)
                .appending("tk-council-\(getpid())-\(open.path?.nameText ?? "draft").txt")
            try Durable.replaceOwn(file, with: Array(text.utf8))
            return file
        }
        _ = await connection.request("window/showDocument", ["uri": .string(FileURI.of(path)), "takeFocus": true])
    }

    func asked(_ open: OpenDraft) async throws -> DraftView {
        guard let view = try await view(of: open.uri) else {
            throw ReplyError.failed("\(open.name) is the sidecar of a review; open the draft")
        }
        return view
    }

    // MARK: Sidecar

    /// Records an answer that changes no words: by a tick in the sidecar, which the agent reads, or without an agent by
    /// writing the review's files. A sidecar that somebody has open with unsaved changes is left alone: the answer is
    /// known here, and recorded with the next one or when the draft is saved.
    func answered(_ findings: [ReviewFinding], _ mark: SidecarAnswers.Mark, of open: OpenDraft) async {
        guard let path = open.path else { return }
        guard await agent.keeps(path) else { return await record(open.uri).value }
        do {
            let unsaved = unsaved(for: path)
            _ = try await pool.run {
                try SidecarTick.write(findings, mark == .skip ? .skip : .take, draft: path, unsaved)
            }
        } catch {
            await connection.log(.warning, "\(ReviewFiles(draft: path).sidecar.nameText): \(explain(error))")
        }
    }
}
