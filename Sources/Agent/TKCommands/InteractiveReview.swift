import ArgumentParser
import Foundation
import Glibc
import Platform
import TKCore

/// Goes through a draft's suggestions with the user: accept, edit, skip, quit. Accepted ones are written to the file at
/// the end, in one step (docs/design/tk.md, "Changing a draft"); a draft without a file goes to standard output.
struct InteractiveReview {
    private let setting: ReviewSetting
    /// Records the answers to quick-pass findings, so that unwanted rules mute themselves.
    private let store: RuleAnswerStore
    private let merger: DriftMerger?

    init(_ reviewing: Reviewing) {
        setting = reviewing.setting
        store = reviewing.answers
        merger = reviewing.merger
    }

    /// - Throws: `Fault` if answers cannot be read, or the result cannot be written to the draft's file.
    static func check(_ draft: Draft) throws {
        _ = try Answers(draft)
        if let path = draft.path { try DraftWriting.refuseWhileOpen(path) }
    }

    func run(_ reviewed: ReviewedDraft, _ draft: Draft) async throws {
        let answers = try Answers(draft)
        let formatter = TextFormatter(setting: setting, style: Terminal.errorStyle)
        var accepted: [Suggestion] = []
        var typed: Set<String> = []
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
                    typed.insert(edited.id)
                case "s", "skip", "n", "no": skipped.append(entry.suggestion)
                case "q", "quit": break loop
                default:
                    Terminal.ask("  Type a, e, s or q.\n")
                    continue
                }
                break
            }
        }
        let ending = Ending(draft: draft, read: reviewed.draft, accepted: accepted, typed: typed, merger: merger)
        let outcome = try await ending.write(answers)
        let open = reviewed.suggestions.count - accepted.count - skipped.count
        Terminal.ask(
            "\n\(outcome.appliedCount) of \(accepted.count) accepted applied, \(skipped.count) skipped, \(open) left open.\n"
        )
        ending.report(outcome)
        remember(accepted, skipped)
    }

    /// Records the user's answers to quick-pass findings, and reports rules that they mute.
    private func remember(_ accepted: [Suggestion], _ skipped: [Suggestion]) {
        let answers = [(accepted, true), (skipped, false)].flatMap { suggestions, isAccepted in
            // House rules are not one person's to mute.
            suggestions.filter { $0.advisorID == Suggestion.quickPass }.compactMap { suggestion in
                suggestion.rule.map { RuleAnswer(finding: suggestion.id, rule: $0, isAccepted: isAccepted) }
            }
        }
        do {
            for rule in try store.record(answers).sorted() {
                Terminal.note(
                    "tk: the rule `\(rule)` is muted from now on, because you skip its findings; "
                        + "`tk config unmute \(rule)` brings it back")
            }
        } catch {
            // The answers are still applied.
            Terminal.note("tk: warning: \(explain(error))")
        }
    }
}

/// Writes the accepted suggestions to the current file, which may have changed since it was read. If it cannot be
/// written, the changes are printed, so that no answer is lost.
private struct Ending {
    let draft: Draft
    let read: DraftText
    let accepted: [Suggestion]
    /// The ids of suggestions whose text the user typed.
    let typed: Set<String>
    let merger: DriftMerger?

    /// How often to retry on a file that keeps changing.
    private static let mostLookups = 5

    /// - Throws: `ExitCode` if nothing was written; the reason and the changes have been printed.
    func write(_ answers: Answers) async throws -> SuggestionApplier.Result {
        var result = SuggestionApplier.apply(accepted, to: read, ownWords: typed)
        guard let path = draft.path else {
            Terminal.draft(result.text)
            return result
        }
        var current = draft
        var lookups = 0
        while result.appliedCount > 0 {
            do {
                try DraftWriting.replace(path, current.bytes, with: Array(result.text.utf8))
                Terminal.note("Wrote \(path).")
                break
            } catch let fault as Fault {
                do {
                    switch fault.kind {
                    case .superseded where lookups < Self.mostLookups:
                        lookups += 1
                        Terminal.note("tk: \(path) has changed; locating the suggestions in the new version")
                        current = try Input.read(path, name: draft.name)
                        result = try await carryOver(to: DraftText(current.text, syntax: read.syntax))
                        continue
                    case .refused:
                        Terminal.note("tk: \(fault.message)")
                        if answers.wantsRetry() { continue }
                    default: Terminal.note("tk: \(fault.message)")
                    }
                } catch {
                    Terminal.note("tk: \(explain(error))")
                }
                Terminal.note("tk: these are the changes that you accepted, for `patch -p1`:")
                DraftDiff.show(current, changedTo: result.text)
                throw ExitCode(1)
            }
        }
        return result
    }

    private func carryOver(to text: DraftText) async throws -> SuggestionApplier.Result {
        if let merger {
            do {
                return try await SuggestionApplier.apply(
                    accepted, to: text, previous: read, ownWords: typed, merging: merger)
            } catch let fault as Fault {
                // Without a model, suggestions for unchanged text are still applied.
                Terminal.note("tk: warning: \(fault.message)")
            }
        }
        return SuggestionApplier.apply(accepted, to: text, previous: read, ownWords: typed)
    }

    /// Prints accepted suggestions that were not applied as accepted, with their text: the user may have typed it.
    func report(_ result: SuggestionApplier.Result) {
        for report in result.reports {
            let old = "“\(Printable.line(report.suggestion.originalText))”"
            let new = "“\(Printable.line(report.suggestion.suggestedText))”"
            let note = report.note.map { " (\($0))" } ?? ""
            switch report.outcome {
            case .applied, .withoutWording: continue
            case .merged: Terminal.note("tk: \(old) had changed; a model has put \(new) there: check it")
            case .alreadyThere: Terminal.note("tk: in place of \(old), the text says \(new) already")
            case .conflict: Terminal.note("tk: warning: \(old) overlaps another change, so \(new) was left out")
            case .drifted: Terminal.note("tk: warning: \(old) has changed, so \(new) was left out\(note)")
            case .orphaned: Terminal.note("tk: warning: \(old) is gone, so \(new) was left out")
            case .refused(let what):
                Terminal.note("tk: warning: in place of \(old), \(new) would change \(what), so it was left out")
            }
        }
    }
}

/// Reads the user's lines: from standard input, or from the terminal if the draft came through standard input.
private struct Answers {
    private let terminal: FileHandle?
    private let isOwn: Bool

    init(_ draft: Draft) throws {
        let draftIsStandardInput = draft.name == "(stdin)"
        isOwn = draftIsStandardInput
        terminal = draftIsStandardInput ? FileHandle(forReadingAtPath: "/dev/tty") : nil
        if draftIsStandardInput, terminal == nil {
            throw Fault(.usage, "--interactive cannot ask, because the draft came through standard input; name a file")
        }
    }

    /// Whether to retry now that the user has made way for the changes; false at the end of input.
    func wantsRetry() -> Bool {
        while true {
            Terminal.ask("  [r]etry, [q]uit? ")
            switch line()?.trimmingCharacters(in: .whitespaces).lowercased() {
            case "r", "retry": return true
            case "q", "quit", nil: return false
            default: Terminal.ask("  Type r or q.\n")
            }
        }
    }

    /// nil at the end of input.
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
