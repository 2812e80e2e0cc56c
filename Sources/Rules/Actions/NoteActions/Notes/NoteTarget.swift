import A4CoreSwift
import FileActions
import Foundation
import Platform
import Rules

/// The note that a step appends to: its vault, its path, and the starting text of a daily note.
struct NoteTarget: Sendable {
    let vault: PlaceInfo
    private let arguments: Arguments
    private let services: NoteServices

    /// Resolves a rule's `note` and `place`.
    ///
    /// - Parameter action: the action's name, for messages.
    /// - Throws: `ArgumentFault`.
    init(_ arguments: Arguments, _ services: NoteServices, of action: String) throws {
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
                    ? "`\(action)` needs a place of kind `notes`; add one to the configuration"
                    : "several places are of kind `notes` (\(vaults.map(\.name).joined(separator: ", "))); name one as `place`"
            )
        }
        if try arguments.isFixed("note") {
            let note = Self.named(try arguments.pathText("note", values: [:]))
            if let complaint = Self.complaint(note: note) { throw ArgumentFault("note", complaint) }
        }
    }

    /// The capture's own time, otherwise the arrival. Fixed, so that a retry tomorrow still writes to today's note.
    static func date(of input: StepInput) -> Date {
        if case .date(let time)? = input.values["capture.time"] { return Date(timeIntervalSince1970: time.seconds) }
        return Date(timeIntervalSince1970: input.arrival.seconds)
    }

    /// The note's absolute path, spelled as on disk if it exists.
    ///
    /// - Throws: `Fault(.failed)` if it would be outside the vault.
    func note(_ input: StepInput, _ date: Date) async throws -> BytePath {
        let asked = try arguments.pathText("note", values: input.values)
        if asked == "today" { return vault.root.appending(BytePath(Daily.relativePath(for: Dates.utcDay(from: date)))) }
        let path = Self.named(asked)
        if let complaint = Self.complaint(note: path) { throw Fault(.failed, "\(complaint) \(vault.root)") }
        let (root, files) = (vault.root, input.files)
        return try await services.files.run { try Self.existing(path, below: root, files) }
    }

    /// The path with each accented name as its folder spells it: a Mac writes an accent as a character of its own, and
    /// one note must not become two. A name that exists byte for byte is taken as it is.
    private static func existing(_ note: BytePath, below root: BytePath, _ files: HeldFiles) throws -> BytePath {
        try note.components.reduce(root) { folder, part in
            let exact = folder.appending(name: part)
            guard part.contains(where: { $0 >= 0x80 }), try files.status(exact) == nil,
                try folder == root || files.statusFollowing(folder)?.kind == .directory
            else { return exact }
            let wanted = ComparedName(part)
            let names = try files.list(folder).map(\.name).filter { ComparedName($0) == wanted }
            return names.min { $0.lexicographicallyPrecedes($1) }.map { folder.appending(name: $0) } ?? exact
        }
    }

    private static func named(_ note: String) -> BytePath { BytePath(note.hasSuffix(".md") ? note : note + ".md") }

    /// Why a note cannot be inside a vault; nil if it can.
    private static func complaint(note: BytePath) -> String? {
        let staysBelow = !note.isAbsolute && note.components.allSatisfy { $0 != ArraySlice("..".utf8) }
        return staysBelow ? nil : "the note \(note) would be outside the vault"
    }

    /// The starting text of a new daily note: the vault's own template, if it has one.
    func starter(for note: BytePath, _ date: Date, _ files: HeldFiles) async throws -> String {
        let root = vault.root
        let zone = services.timeZone
        let isDaily = note == root.appending(BytePath(Daily.relativePath(for: Dates.utcDay(from: date))))
        guard isDaily else { return "" }
        return try await services.files.run {
            let model = root.appending("routines/templates/daily.md")
            guard try files.status(note) == nil, try files.status(model) != nil else { return "" }
            let template = try files.openFollowing(model).readAll(limit: 1 << 20)
            return String(decoding: Daily.fill(template: Data(template), date: date, zone: zone), as: UTF8.self)
        }
    }
}
