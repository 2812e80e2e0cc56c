import Foundation
import JSONText
import Platform

/// The plans that steps make from answers. They are durable before anything is written, so that a crash repeats the
/// same writes and a later undo knows them. All calls block.
struct ReviewPlans: Sendable {
    let folder: BytePath?

    /// Retention of answers and plans, in seconds.
    private static let age = 90.0 * 86_400

    private func path(_ key: ContentHash) throws -> BytePath {
        guard let folder else { throw Fault(.failed, "there is no folder for what reviews have decided") }
        return folder.appending("plans/\(key).json")
    }

    func read<Plan: Decodable>(_ type: Plan.Type, _ key: ContentHash) throws -> Plan? {
        let path = try path(key)
        let files = HeldFiles(own: path.parent)
        guard try files.status(path) != nil else { return nil }
        do {
            return try JSONDecoder().decode(type, from: Data(try files.open(path).readAll()))
        } catch let error as DecodingError {
            throw Fault(
                .failed, "\(path) is not what a review decided (\(error)); remove it, then run `steward retry`",
                path: path)
        }
    }

    func write(_ plan: some Encodable, _ key: ContentHash) throws {
        let path = try path(key)
        let files = HeldFiles(own: path.parent)
        try files.makeFolders(for: path, mode: 0o700)
        try prune()
        try files.replaceOwn(path, with: Array(try JSONText.line(plan).utf8))
    }

    func remove(_ key: ContentHash) throws {
        let path = try path(key)
        try HeldFiles(own: path.parent).remove(path)
    }

    private func prune() throws {
        guard let folder else { return }
        let eldest = Timestamp.now().seconds - Self.age
        let files = HeldFiles(own: folder)
        for part in ["answers", "plans"].map({ folder.appending($0) }) where try files.status(part) != nil {
            for entry in try files.list(part) {
                let file = part.appending(name: entry.name)
                guard let status = try files.status(file),
                    Double(status.fingerprint.modified) / 1e9 < eldest
                else { continue }
                try files.remove(file)
            }
        }
    }
}
