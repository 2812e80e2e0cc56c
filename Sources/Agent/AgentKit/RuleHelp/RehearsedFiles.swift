import Platform
import Rules

/// The files after simulated steps: those on the disk, minus the removed ones, plus the new ones.
struct RehearsedFiles {
    /// New files, with their content.
    private(set) var made: [BytePath: ContentHash] = [:]
    private(set) var left: Set<BytePath> = []
    private let files: HeldFiles

    init(_ files: HeldFiles) { self.files = files }

    /// What occupies a name.
    private enum Taken {
        case by(ContentHash)
        /// Something other than a readable file.
        case bySomething
    }

    /// The name that a file with this content would actually get; nil if it would stay where it is. Blocks.
    func landing(_ target: BytePath, _ ifTaken: Forecast.IfTaken, _ content: ContentHash) throws -> BytePath? {
        for candidate in Mover.alternatives(target).prefix(1000) {
            guard let taken = try taken(candidate) else { return candidate }
            switch ifTaken {
            case .replaces: return candidate
            case .leaves: return nil
            case .leavesSame: if case .by(content) = taken { return nil }
            case .takesAnotherName: break
            }
        }
        return nil
    }

    private func taken(_ path: BytePath) throws -> Taken? {
        if let content = made[path] { return .by(content) }
        if left.contains(path) { return nil }
        guard let status = try files.status(path) else { return nil }
        guard status.kind == .file else { return .bySomething }
        if let content = RuleRehearsal.standIn(status) { return .by(content) }
        guard let content = try? files.hash(path) else { return .bySomething }
        return .by(content)
    }

    mutating func put(_ content: ContentHash, at path: BytePath) {
        made[path] = content
        left.remove(path)
    }

    mutating func remove(_ path: BytePath) {
        made[path] = nil
        left.insert(path)
    }
}
