import Foundation
import Glibc
import Platform
import TKCore

/// Goes through a draft's suggestions with the user (seed 001: accept, edit, skip, quit). What was accepted is written
/// to the file at the end, in one step; a draft without a file goes to standard output.
struct InteractiveReview {
    private let setting: ReviewSetting
    private let store: RuleAnswerStore

    /// - Parameter store: keeps the answers to the quick pass, whose rules mute themselves by them.
    init(_ setting: ReviewSetting, _ store: RuleAnswerStore) {
        self.setting = setting
        self.store = store
    }

    func run(_ reviewed: ReviewedDraft, _ draft: Draft) throws {
        let answers = try Answers(draftIsStandardInput: draft.name == "(stdin)")
        let formatter = TextFormatter(setting: setting, style: Terminal.errorStyle)
        var accepted: [Suggestion] = []
        var skipped: [Suggestion] = []
        loop: for (index, entry) in reviewed.suggestions.enumerated() {
            Terminal.ask(formatter.block(entry, reviewed).joined(separator: "\n") + "\n")
            let canAccept = entry.suggestion.hasReplacement
            let choices = canAccept ? "[a]ccept, [e]dit, [s]kip, [q]uit" : "[e]dit, [s]kip, [q]uit"
            while true {
                Terminal.ask("  \(index + 1)/\(reviewed.suggestions.count) \(choices)? ")
                guard let answer = answers.line() else { break loop }
                switch answer.trimmingCharacters(in: .whitespaces).lowercased() {
                case "a", "accept", "y", "yes":
                    guard canAccept else {
                        Terminal.ask("  This one has no wording of its own; edit it, or skip it.\n")
                        continue
                    }
                    accepted.append(entry.suggestion)
                case "e", "edit":
                    Terminal.ask("  in place of “\(Printable.line(entry.suggestion.originalText))”: ")
                    guard let text = answers.line() else { break loop }
                    guard !text.isEmpty else {
                        Terminal.ask("  Nothing was typed; the suggestion is still open.\n")
                        continue
                    }
                    var edited = entry.suggestion
                    edited.suggestedText = text
                    edited.hasReplacement = true
                    accepted.append(edited)
                case "s", "skip", "n", "no": skipped.append(entry.suggestion)
                case "q", "quit": break loop
                default:
                    Terminal.ask("  Type a, e, s or q.\n")
                    continue
                }
                break
            }
        }
        remember(accepted, skipped)
        try finish(accepted, skipped.count, reviewed, draft)
    }

    /// What the user did with findings of the quick pass; a rule that they mute is named.
    private func remember(_ accepted: [Suggestion], _ skipped: [Suggestion]) {
        let answers = [(accepted, true), (skipped, false)].flatMap { suggestions, isAccepted in
            suggestions.compactMap { suggestion in
                suggestion.rule.map { RuleAnswer(finding: suggestion.id, rule: $0, isAccepted: isAccepted) }
            }
        }
        do {
            for rule in try store.record(answers).sorted() {
                Terminal.note(
                    "tk: the rule `\(rule)` is muted from now on, because you skip what it finds; "
                        + "`tk config unmute \(rule)` brings it back")
            }
        } catch {
            // The answers themselves are applied all the same.
            Terminal.note("tk: warning: \(explain(error))")
        }
    }

    private func finish(_ accepted: [Suggestion], _ skipped: Int, _ reviewed: ReviewedDraft, _ draft: Draft) throws {
        let result = SuggestionApplier.apply(accepted, to: reviewed.draft)
        let open = reviewed.suggestions.count - accepted.count - skipped
        Terminal.ask(
            "\n\(result.appliedCount) of \(accepted.count) accepted applied, \(skipped) skipped, \(open) left open.\n")
        for other in result.conflicts {
            Terminal.note(
                "tk: warning: “\(Printable.line(other.originalText))” overlaps another change and was left out")
        }
        guard let path = draft.path else { return Terminal.draft(result.text) }
        guard result.appliedCount > 0 else { return }
        try DraftWriting.replace(path, draft.bytes, with: Array(result.text.utf8))
        Terminal.note("Wrote \(path).")
    }
}

/// Lines of the user's: from standard input, or from the terminal where the draft came through that.
private struct Answers {
    private let terminal: FileHandle?
    private let isOwn: Bool

    init(draftIsStandardInput: Bool) throws {
        isOwn = draftIsStandardInput
        terminal = draftIsStandardInput ? FileHandle(forReadingAtPath: "/dev/tty") : nil
        if draftIsStandardInput, terminal == nil {
            throw Fault(.usage, "--interactive has nobody to ask: the draft came through standard input; name a file")
        }
    }

    /// Nil at the end.
    func line() -> String? {
        guard isOwn, let terminal else { return readLine() }
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(terminal.fileDescriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
    }
}
