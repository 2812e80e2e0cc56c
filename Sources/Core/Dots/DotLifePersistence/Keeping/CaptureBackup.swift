import DotLifeDomain
import Foundation
import GRDB
import Glibc
import OwnFiles
import Platform

/// The result of ``CaptureStore/backUp(to:)``.
package struct StoreBackup: Sendable, Equatable, Encodable {
    package var captures = 0
    /// Files of attachments and thumbnails.
    package var files = 0
    /// Those that are hard links to the store's own: on the same disk they take no space.
    package var linked = 0
    package var copied = 0
    /// Files missing from the store, and therefore from the backup.
    package var missing: [StoreFinding] = []
}

extension CaptureStore {
    /// Copies the whole store into a new folder, which then is a store itself: the database by `VACUUM INTO`, the files
    /// as hard links or, on another disk, as copies. The folder is renamed into place when everything in it is durable.
    ///
    /// Captures wait only for the copy of the database and of files added since it began.
    ///
    /// - Throws: `Fault(.usage)` if `target` exists already.
    package func backUp(to target: BytePath) async throws -> StoreBackup {
        try await BlockingPool("captures.backup").run { [self] in
            try StagedFolder.fill(target) { staged in
                // A file removed in the meantime is no loss yet: only those named by the copied database count.
                _ = try addFiles(into: staged)
                var backup = StoreBackup()
                try photos.exclusively {
                    let copy = staged.path.appending("captures.sqlite")
                    // VACUUM INTO accepts an empty file, and preserves its mode.
                    try PrivateDatabase.prepare(copy)
                    try using("copy the captures in \(folder) to \(target)") { pool in
                        try pool.writeWithoutTransaction {
                            try $0.execute(sql: "VACUUM INTO ?", arguments: [copy.text])
                        }
                        backup.captures =
                            try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM experience") } ?? 0
                    }
                    try Descriptor(copy).sync()
                    (backup.files, backup.missing) = try addFiles(into: staged)
                    try removeGone(from: staged)
                }
                (backup.linked, backup.copied) = (staged.linked, staged.copied)
                return backup
            }
        }
    }

    private func addFiles(into staged: StagedFolder) throws -> (count: Int, missing: [StoreFinding]) {
        var count = 0
        var missing: [StoreFinding] = []
        try attachmentFiles { file in
            let names = [(PhotoFolder.Kind.photos, file.name)] + (file.thumbnail.map { [(.thumbnails, $0)] } ?? [])
            for (kind, name) in names where PhotoFolder.isName(name) {
                let path = try photos.path(name, kind)
                do {
                    _ = try staged.add(path, as: BytePath(kind.rawValue).appending(name), linking: true)
                    count += 1
                } catch let fault as Fault where fault.errno == ENOENT {
                    let shown = "\(kind.rawValue)/\(name)"
                    missing.append(
                        StoreFinding(
                            kind == .photos ? .missingFile : .missingThumbnail, capture: file.capture, file: shown,
                            "\(shown) is gone"))
                }
            }
        }
        return (count, missing)
    }

    /// Removes files copied before their capture was removed.
    private func removeGone(from staged: StagedFolder) throws {
        for kind in [PhotoFolder.Kind.photos, .thumbnails] {
            let root = staged.path.appending(kind.rawValue)
            guard try FileStatus.of(root) != nil else { continue }
            for entry in try listDirectory(root) {
                let path = root.appending(name: entry.name)
                guard try FileStatus.of(path)?.kind == .directory else {
                    if try !isNamed(path.nameText, kind) { try Durable.remove(path) }
                    continue
                }
                for inner in try listDirectory(path) {
                    let name = BytePath(bytes: entry.name).appending(name: inner.name)
                    if try !isNamed(name.text, kind) { try Durable.remove(root.appending(name)) }
                }
            }
        }
    }
}
