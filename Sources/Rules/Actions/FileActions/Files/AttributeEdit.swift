import Glibc
import Platform
import Rules

/// What a file carries besides its name and content, as far as a step sets it.
protocol FileTraits: Equatable, Sendable {
    /// The same traits, as the file has them now. Blocks.
    func now(of file: Descriptor) throws -> Self

    /// Gives them to the file; those that it has are not set again, which would only make it look changed. Blocks.
    func set(on file: Descriptor) throws

    /// One of them that is neither as in the one nor as in the other, as messages call it; nil for none.
    func stray(from one: Self, or other: Self) -> String?

    /// Whether one of them is as in `after`, and was not before.
    func isBegun(_ before: Self, _ after: Self) -> Bool

    /// The extended attributes among them, nil for one that is taken away.
    var attributes: [String: [UInt8]?] { get }
}

/// The primitive of actions that set traits: they are what they were or what they are to be, and nobody else's change of them
/// is undone. A file that has other names stays as it is.
struct AttributeEdit<Traits: FileTraits>: Primitive {
    let services: FileServices
    let content: JudgedContent
    let before: Traits
    let after: Traits
    /// Whether they go with the content that was judged, and are not set on another.
    var needsContent = false
    /// As messages name them: `the tags`.
    let name: String
    /// What is said of the file when it carries them.
    let receipt: @Sendable (Traits, JudgedContent) -> Receipt

    var targets: [BytePath] { [content.file] }

    func perform(_ context: StepContext) async throws -> Receipt {
        let files = context.files
        return try await services.files.run {
            let open = try files.present(content.file)
            try Self.requireOneName(open, name)
            if needsContent { try content.require(open) }
            return try set(after, content, open)
        }
    }

    func recover(_ context: StepContext) async throws -> Recovery {
        let files = context.files
        return try await services.files.run {
            guard try files.status(content.file)?.kind == .file else { return .notDone }
            let open = try files.file(content.file)
            // Before it is read, which is an access.
            let now = try after.now(of: open)
            if needsContent, try !content.isHeld(by: open) { return .notDone }
            // One that was half done goes on: decided anew, it would no longer know what was there before.
            guard now == after || now.isBegun(before, after) && now.stray(from: before, or: after) == nil else {
                return .notDone
            }
            return .done(try set(after, content, open))
        }
    }

    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await services.files.run {
            let (content, open) = try content.openedForUndo(context, orIsWritten: !needsContent)
            if let what = try after.now(of: open).stray(from: after, or: context.resumesUndo ? before : after) {
                throw Fault(
                    .failed, "\(what) of \(content.file) has been changed since; nothing was set back",
                    path: content.file, code: Fault.leftAlone)
            }
            return try set(before, content, open)
        }
    }

    private func set(_ traits: Traits, _ content: JudgedContent, _ open: Descriptor) throws -> Receipt {
        let isJudged = try needsContent || content.isHeld(by: open)
        try traits.set(on: open)
        try open.sync()
        var receipt = receipt(traits, content)
        // What somebody else has saved there is news, whoever has set something.
        receipt.effects = try content.touched(open, isJudged: isJudged, set: traits.attributes)
        return receipt
    }

    /// Asked when it is decided as well. Blocks.
    static func requireOneName(_ open: Descriptor, _ name: String) throws {
        try JudgedContent.requireOneName(open, "\(name) would be set as well; they were left as they are")
    }
}

/// Extended attributes by name, nil where there is none.
struct ExtendedTraits: FileTraits {
    let values: [String: [UInt8]?]

    var attributes: [String: [UInt8]?] { values }

    func now(of file: Descriptor) throws -> ExtendedTraits {
        ExtendedTraits(
            values: try Dictionary(values.keys.map { ($0, try ExtendedAttributes.value($0, of: file)) }) { $1 })
    }

    func set(on file: Descriptor) throws {
        for (name, value) in values.sorted(by: { $0.key < $1.key })
        where try ExtendedAttributes.value(name, of: file) != value {
            do {
                try ExtendedAttributes.set(name, value, on: file)
            } catch let fault as Fault where [ENOSPC, E2BIG, ERANGE, ENOTSUP].contains(fault.errno) {
                // A full disk passes by itself; a file's room for attributes, a block on many systems, does not.
                if fault.errno == ENOSPC, Self.isDiskFull(file) { throw fault }
                throw Fault(
                    .failed,
                    "\(fault.message): the file system gives a file's attributes no room, or too little for this one",
                    path: file.path, errno: fault.errno)
            }
        }
    }

    private static func isDiskFull(_ file: Descriptor) -> Bool {
        var found = statvfs()
        return fstatvfs(file.raw, &found) == 0 && found.f_bavail == 0
    }

    func stray(from one: ExtendedTraits, or other: ExtendedTraits) -> String? {
        let stray = values.filter { $1 != one.values[$0] && $1 != other.values[$0] }.keys.min()
        return stray.map { "the attribute \($0)" }
    }

    func isBegun(_ before: ExtendedTraits, _ after: ExtendedTraits) -> Bool {
        values.contains { $1 == after.values[$0] && $1 != before.values[$0] }
    }
}
