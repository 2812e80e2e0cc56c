import Glibc
import Platform
import Rules

/// Attributes of a file besides its name and content, as far as a step sets them.
protocol FileTraits: Equatable, Sendable {
    /// The current values of the same traits. Blocks.
    func now(of file: Descriptor) throws -> Self

    /// Applies the traits. Values that already match are not set again, because that would make the file look changed.
    /// Blocks.
    func set(on file: Descriptor) throws

    /// A trait that matches neither `one` nor `other`, as messages name it; nil for none.
    func stray(from one: Self, or other: Self) -> String?

    /// Whether a trait already has its value of `after` and had another in `before`.
    func isBegun(_ before: Self, _ after: Self) -> Bool

    /// The extended attributes among them; a nil value removes one.
    var attributes: [String: [UInt8]?] { get }
}

/// Sets traits exactly once. They must have their old or new values; other people's changes are never reverted. A file
/// with other hard links is left alone.
struct AttributeEdit<Traits: FileTraits>: Primitive {
    let services: FileServices
    let content: JudgedContent
    let before: Traits
    let after: Traits
    /// Whether the traits belong to the judged content and must not be set on another.
    var needsContent = false
    /// For messages: `the tags`.
    let name: String
    /// The receipt once the traits are set.
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
            // Before reading the content, which would update the access time.
            let now = try after.now(of: open)
            if needsContent, try !content.isHeld(by: open) { return .notDone }
            // A half-done edit continues. Deciding it again would lose the old values.
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
        // Content that someone else saved is news, even though the agent set attributes on the file.
        receipt.effects = try content.touched(open, isJudged: isJudged, set: traits.attributes)
        return receipt
    }

    /// Also checked at decision time. Blocks.
    static func requireOneName(_ open: Descriptor, _ name: String) throws {
        try JudgedContent.requireOneName(open, "\(name) would be set as well; they were left as they are")
    }
}

/// Extended attributes by name; nil if absent.
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
                // A full disk is transient. A file's room for attributes, often one block, is not.
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
