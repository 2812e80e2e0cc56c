import A4CoreSwift
import FilePlacing
import Foundation
import NoteWriting
import Platform
import Rules

/// Appends an anchored block to a note of the A4 vault, in place, beside whatever else writes there.
struct AppendBlock: RuleAction {
    static let declaration = ActionDeclaration(
        name: "append-block", summary: "Appends an anchored block under a heading of a note in the A4 vault.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [
            ParameterSpec(
                "note", .template, default: "today",
                "`today` for the daily note of the capture's own day (UTC), else a path below the vault"),
            ParameterSpec("place", .place, "the vault; needed only where there are several places of kind `notes`"),
            ParameterSpec(
                "heading", .template, default: "Captures", "the H2 that the block stands under, made if missing"),
            ParameterSpec(
                "anchor", .template, default: "cap", "the anchor's prefix; the local time is added: `^cap-0930`"),
            ParameterSpec(
                "text", .template, required: true,
                "the block; a value is one line that is shown and does nothing (see Templates; `md` escapes its emphasis and links, too)"
            ),
            ParameterSpec(
                "at", .choice(["end-of-section", "end-of-file"]), default: "end-of-section",
                "where in the note: the end of the heading's own section, or of the file"),
        ],
        provides: [
            ValueSpec("block.anchor", "the anchor that the block got, without `^`"),
            ValueSpec("note.path", "the note's path below the vault"),
        ],
        example: "append-block: { heading: Journal, anchor: jrnl, text: \"{{ file.text }}\" }")

    private let arguments: Arguments
    private let services: NoteServices
    private let vault: PlaceInfo

    init(_ arguments: Arguments, _ services: NoteServices) throws {
        self.arguments = arguments
        self.services = services
        let vaults = services.journal.places.places.filter { $0.kind == .notes }
        if arguments.has("place") {
            vault = try arguments.place("place")
        } else if let only = vaults.first, vaults.count == 1 {
            vault = only
        } else {
            throw ArgumentFault(
                "place",
                vaults.isEmpty
                    ? "`append-block` needs a place of kind `notes`; add one to the configuration"
                    : "several places are of kind `notes` (\(vaults.map(\.name).joined(separator: ", "))); name one as `place`"
            )
        }
        let prefix = try arguments.template("anchor")
        if prefix.references.isEmpty { try Self.check(prefix: prefix.text) }
        if try arguments.isFixed("note") {
            let note = Self.named(try arguments.pathText("note", values: [:]))
            if let complaint = Self.complaint(note: note) { throw ArgumentFault("note", complaint) }
        }
    }

    private static func check(prefix: String) throws {
        do {
            _ = try AnchorToken(prefix: prefix, hhmm: "0000")
        } catch {
            throw ArgumentFault("anchor", String(describing: error))
        }
    }

    func intent(for input: StepInput) async throws -> NoteRequest {
        let time = Self.time(of: input)
        let date = Date(timeIntervalSince1970: time.seconds)
        let path = try notePath(input, date)
        let note = vault.root.appending(path)
        let heading = try arguments.headingText("heading", values: input.values).trimmingCharacters(in: .whitespaces)
        let prefix = try arguments.lineText("anchor", values: input.values)
        let token: AnchorToken
        do {
            token = try AnchorToken(prefix: prefix, hhmm: Dates.localHHMM(from: date, timeZone: services.timeZone))
        } catch {
            throw Fault(.failed, "the rule \"\(input.rule)\" makes an anchor that A4 refuses: \(error)")
        }
        let files = input.files
        let starter = try await starter(for: note, date, files)
        let source = input.file.absolute
        let status = try await services.files.run { try files.status(source) }
        return NoteRequest(
            step: input.stepID, note: note, root: vault.root, heading: heading, token: token.description,
            content: try arguments.blockText("text", values: input.values),
            atEndOfFile: try arguments.choice("at") == "end-of-file", starter: starter,
            mode: status.map { $0.mode & 0o666 } ?? 0o600, order: input.arrival.nanoseconds)
    }

    static let journalsItself = true

    func perform(_ intent: NoteRequest, _ context: StepContext) async throws -> Receipt {
        let deed = context.rows.map { rows in
            NoteDeed(begin: rows.begin) { try rows.end(self.receipt(intent, token: $0), in: $1) }
        }
        return receipt(intent, token: try await services.notes.append(intent, deed))
    }

    func settle(_ intent: NoteRequest, _ context: StepContext) async throws -> Settlement {
        guard let token = try await services.notes.written(step: intent.step) else { return .notDone }
        return .done(receipt(intent, token: token))
    }

    func undo(_ intent: NoteRequest, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .text(let token)? = receipt.values["block.anchor"] else {
            return Receipt("no block had been written")
        }
        try await services.notes.remove(intent, token: token, resumes: context.resumesUndo)
        return Receipt("took the block ^\(token) out of \(intent.note)")
    }

    var destinations: [String] { [vault.name] }

    func targets(of intent: NoteRequest) -> [BytePath] { [] }

    func summary(of intent: NoteRequest) -> String {
        "append ^\(intent.token) under \"\(intent.heading)\" to \(intent.note): \(intent.content.shown)"
    }

    private func receipt(_ intent: NoteRequest, token: String) -> Receipt {
        Receipt(
            "wrote ^\(token) into \(intent.note)",
            values: [
                "block.anchor": .text(token),
                "note.path": .text((intent.note.relative(to: intent.root) ?? intent.note).text),
            ])
    }

    /// A capture's own time, else the arrival: fixed here, so that a retry tomorrow still lands in today's note.
    private static func time(of input: StepInput) -> Timestamp {
        if case .date(let time)? = input.values["capture.time"] { return time }
        return input.arrival
    }

    private func notePath(_ input: StepInput, _ date: Date) throws -> BytePath {
        let asked = try arguments.pathText("note", values: input.values)
        if asked == "today" { return BytePath(Daily.relativePath(for: Dates.utcDay(from: date))) }
        let path = Self.named(asked)
        if let complaint = Self.complaint(note: path) { throw Fault(.failed, "\(complaint) \(vault.root)") }
        return path
    }

    private static func named(_ note: String) -> BytePath { BytePath(note.hasSuffix(".md") ? note : note + ".md") }

    /// Why a note cannot lie within a vault.
    private static func complaint(note: BytePath) -> String? {
        let staysBelow = !note.isAbsolute && note.components.allSatisfy { $0 != ArraySlice("..".utf8) }
        return staysBelow ? nil : "the note \(note) would lie outside the vault"
    }

    /// What a daily note that is not there yet starts from: the vault's own template, if it has one.
    private func starter(for note: BytePath, _ date: Date, _ files: HeldFiles) async throws -> String {
        let root = vault.root
        let zone = services.timeZone
        let isDaily = note == root.appending(BytePath(Daily.relativePath(for: Dates.utcDay(from: date))))
        guard isDaily else { return "" }
        return try await services.files.run {
            let model = root.appending("routines/templates/daily.md")
            guard try files.status(note) == nil, try files.status(model) != nil else { return "" }
            let template = try files.openFollowing(model).readAll(limit: 1 << 20)
            return String(decoding: Daily.fill(template: Data(template), date: date, timeZone: zone), as: UTF8.self)
        }
    }
}
