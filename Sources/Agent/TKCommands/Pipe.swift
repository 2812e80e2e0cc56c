import ArgumentParser
import Platform
import TKCore

struct Pipe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipe", abstract: "Apply the suggestions and print the changed draft.",
        discussion: "Suggestions without a replacement are omitted; `tk suggest` shows them.")

    @Argument(help: "The draft; - or nothing for standard input.", completion: .file())
    var file: PathArgument?

    @Option(name: .shortAndLong, help: "The draft itself.")
    var text: String?

    @OptionGroup var review: ReviewArguments
    @OptionGroup var model: ModelOptions

    @Flag(name: .long, help: "Print the changes as a unified diff.")
    var diff = false

    @Flag(name: .long, help: "Write the changes to the file.")
    var apply = false

    func run() async throws {
        try await Terminal.guarding {
            let draft = try Input.draft(file: file, text: text)
            guard draft.syntax != .unknown else {
                throw Fault(
                    .refused,
                    "\(draft.name) is in \(draft.syntax.title), so nothing in it is changed; `tk suggest` asks advisors for "
                        + "remarks, and `docs/tk.md` names the formats that are read", path: draft.path)
            }
            if apply {
                guard let path = draft.path else { throw Fault(.usage, "--apply writes to a file; name one") }
                // Before anything costs money.
                try DraftWriting.refuseWhileOpen(path)
            }
            let reviewing = try await Reviewing(review, model)
            let reviewed = try await reviewing.review(draft)
            reviewing.report(reviewed)
            let changes = reviewed.suggestions.map(\.suggestion).filter(\.hasReplacement)
            let result = SuggestionApplier.apply(changes, to: reviewed.draft)
            if apply, let path = draft.path, result.text != draft.text {
                try DraftWriting.replace(path, draft.bytes, with: Array(result.text.utf8))
            }
            if diff {
                DraftDiff.show(draft, changedTo: result.text)
            } else if !apply {
                Terminal.draft(result.text)
            }
            if apply || model.verbose {
                let left = reviewed.suggestions.count - result.appliedCount
                Terminal.note("tk: \(draft.name): \(result.appliedCount) applied, \(left) left (see `tk suggest`)")
            }
            let isRefused = apply && tellRefusals(reviewed, result)
            if reviewed.isUnanswered || reviewed.isOutOfTime || isRefused { throw ExitCode(1) }
        }
    }

    /// Names the changes that the gate has refused, on standard error.
    ///
    /// - Returns: whether there are any.
    private func tellRefusals(_ reviewed: ReviewedDraft, _ result: SuggestionApplier.Result) -> Bool {
        var refused = reviewed.suggestions.map(\.suggestion).compactMap { suggestion in
            ProposalGate.objection(in: suggestion).map { (suggestion, $0) }
        }
        for report in result.reports {
            if case .refused(let what) = report.outcome { refused.append((report.suggestion, what)) }
        }
        for (suggestion, what) in refused {
            let place = "\(suggestion.anchor.line):\(reviewed.draft.column(at: suggestion.anchor.start))"
            let words = Printable.line(suggestion.originalText)
            Terminal.note(
                "tk: \(reviewed.name):\(place): refused: the proposal for “\(words.prefix(60))” would change \(what)")
        }
        return !refused.isEmpty
    }
}
