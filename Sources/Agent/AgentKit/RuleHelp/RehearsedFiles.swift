import Platform
import Rules

/// Where files would lie after steps that nobody carries out: what is on the disk, less what has left, with what has come.
struct RehearsedFiles {
    /// What has come to lie there, with its content.
    private(set) var made: [BytePath: ContentHash] = [:]
    private(set) var left: Set<BytePath> = []
    private let files: HeldFiles

    init(_ files: HeldFiles) { self.files = files }

    /// What a name is taken by.
    private enum Taken {
        case by(ContentHash)
        /// By no file, or by one that cannot be read.
        case bySomething
    }

    /// The name that a file of that content would really get; nil where it would stay where it is. Blocks.
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
