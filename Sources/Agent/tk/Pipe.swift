import ArgumentParser
import Platform
import TKCore

struct Pipe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipe", abstract: "Apply the suggestions and print the changed draft.",
        discussion: "Suggestions without a wording of their own are left out; `tk suggest` shows them.")

    @Argument(help: "The draft; - or nothing for standard input.", completion: .file())
    var file: String?

    @Option(name: .shortAndLong, help: "The draft itself.")
    var text: String?

    @OptionGroup var review: ReviewArguments
    @OptionGroup var model: ModelOptions

    @Flag(name: .long, help: "Print what would change as a unified diff.")
    var diff = false

    @Flag(name: .long, help: "Write the changes to the file.")
    var apply = false

    func run() async throws {
        try await Terminal.guarding {
            let draft = try Input.draft(file: file, text: text)
            if apply {
                guard let path = draft.path else { throw Fault(.usage, "--apply writes to a file; name one") }
                // Before anything is paid for.
                try DraftWriting.refuseWhileOpen(path)
            }
            let reviewing = try await Reviewing(review, model)
            let reviewed = try await reviewing.review(draft.name, draft.text)
            reviewing.report(reviewed)
            let changes = reviewed.suggestions.map(\.suggestion).filter(\.hasReplacement)
            let result = SuggestionApplier.apply(changes, to: reviewed.draft)
            if apply, let path = draft.path, result.text != draft.text {
                try DraftWriting.replace(path, draft.bytes, with: Array(result.text.utf8))
            }
            if diff {
                let name = draft.name.drop { $0 == "/" }
                let (old, new) = draft.path == nil ? (draft.name, draft.name) : ("a/\(name)", "b/\(name)")
                show(UnifiedDiff.text(from: draft.text, to: result.text, oldName: old, newName: new))
            } else if !apply {
                Terminal.draft(result.text)
            }
            if apply || model.verbose {
                let left = reviewed.suggestions.count - result.appliedCount
                Terminal.note("tk: \(draft.name): \(result.appliedCount) applied, \(left) left (see `tk suggest`)")
            }
        }
    }

    /// With the colours of `git diff`, on a terminal.
    private func show(_ diff: String) {
        let style = Terminal.style
        guard style.hasColour else { return Terminal.draft(diff) }
        let lines = diff.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        let coloured = lines.map { line in
            let text = Printable.text(String(line))
            if text.hasPrefix("+++") || text.hasPrefix("---") { return style.bold(text) }
            if text.hasPrefix("@@") { return style.cyan(text) }
            if text.hasPrefix("+") { return style.green(text) }
            return text.hasPrefix("-") ? style.red(text) : text
        }
        Terminal.write(coloured.joined(separator: "\n"))
    }
}
