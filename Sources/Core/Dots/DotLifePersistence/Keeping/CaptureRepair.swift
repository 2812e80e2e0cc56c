import DotLifeDomain
import Foundation
import GRDB
import OwnFiles
import Platform

extension CaptureStore {
    /// Repairs the store where possible: removes stray files, rebuilds indexes, records hashes of files from earlier
    /// versions, makes missing thumbnails. Nothing that a capture names is removed or replaced.
    ///
    /// - Returns: the repaired findings. Those that need a backup still appear in ``check(contents:)``. A failed repair
    ///   is reported and does not stop the others.
    package func repair() async throws -> [StoreFinding] {
        let found = try await check(contents: false).findings.filter(\.isRepairable)
        if shrink != nil, found.contains(where: { $0.kind == .missingThumbnail }) { await remakeThumbnails() }
        return try await BlockingPool("captures.repair").run { [self] in
            found.filter { finding in
                do {
                    return try mend(finding)
                } catch {
                    complain(error)
                    return false
                }
            }
        }
    }

    private func remakeThumbnails() async {
        do {
            for (name, reason) in try await makeThumbnails().failed.sorted(by: { $0.key < $1.key }) {
                complain(Fault(.refused, "photos/\(BytePath.escape(Array(name.utf8))): \(reason)"))
            }
        } catch {
            complain(error)
        }
    }

    /// Rechecks the finding first: much may have happened since the check.
    private func mend(_ finding: StoreFinding) throws -> Bool {
        switch finding.kind {
        case .damagedSearchIndex:
            try write("INSERT INTO experience_text (experience_text) VALUES ('rebuild')")
        case .wrongCounts:
            try write("DELETE FROM experience_count; \(CaptureSchema.countAll)")
        case .unverifiedFile: return try note(finding)
        case .missingThumbnail:
            guard let name = Self.place(finding)?.name.text else { return false }
            if shrink != nil { return try hasThumbnail(name) }
            try write("UPDATE attachment SET thumbnailPath = NULL WHERE localPath = ?", [name])
        case .strayFile, .unfinishedCopy: return try removeStray(finding)
        case .damagedDatabase, .brokenReference, .missingFile, .alteredFile, .impossibleName, .strayFolder:
            return false
        }
        return true
    }

    private func hasThumbnail(_ name: String) throws -> Bool {
        let small = try using("read the captures in \(folder)") { pool in
            try pool.read {
                try String.fetchOne(
                    $0, sql: "SELECT thumbnailPath FROM attachment WHERE localPath = ? AND thumbnailPath IS NOT NULL",
                    arguments: [name])
            }
        }
        guard let small else { return false }
        return try FileStatus.of(photos.path(small, .thumbnails)) != nil
    }

    private func write(_ sql: String, _ arguments: StatementArguments = []) throws {
        try using("repair the captures in \(folder)") { pool in
            try pool.write { try $0.execute(sql: sql, arguments: arguments) }
        }
    }

    /// The folder and the name in it, from the form that ``check(contents:)`` shows.
    private static func place(_ finding: StoreFinding) -> (kind: PhotoFolder.Kind, name: BytePath)? {
        guard let parts = finding.file?.split(separator: "/", maxSplits: 1), parts.count == 2,
            let kind = PhotoFolder.Kind(rawValue: String(parts[0]))
        else { return nil }
        return (kind, BytePath(bytes: BytePath.unescape(String(parts[1]))))
    }

    private func note(_ finding: StoreFinding) throws -> Bool {
        guard let name = Self.place(finding)?.name.text else { return false }
        return try photos.exclusively {
            let path = try photos.path(name)
            guard let status = try FileStatus.of(path), let hash = try contentHash(path) else { return false }
            try write(
                "UPDATE attachment SET sha256 = ?, size = ? WHERE localPath = ? AND sha256 IS NULL",
                [hash.description, status.fingerprint.size, name])
            return true
        }
    }

    private func removeStray(_ finding: StoreFinding) throws -> Bool {
        guard let (kind, name) = Self.place(finding) else { return false }
        let path = photos.folder(kind).appending(name)
        return try photos.exclusively {
            guard let status = try FileStatus.of(path), status.kind != .directory else { return false }
            if let text = String(validating: name.bytes, as: UTF8.self), try isNamed(text, kind) { return false }
            try Durable.remove(path)
            try Durable.syncDirectory(path.parent)
            return true
        }
    }
}
