import OwnFiles
import Platform
import SQLiteFile

/// A defect found in a backup.
package struct BackupFinding: Encodable, Sendable, Equatable {
    /// Relative to the backup.
    package let path: BytePath
    package let problem: String

    package var line: String { "\(path): \(problem)" }
}

/// Verifies a backup by reading every byte of it. Everything here blocks.
package struct BackupProof {
    package let path: BytePath
    package let manifest: BackupManifest
    package let origin: BackupOrigin

    /// - Parameters:
    ///   - path: a finished backup, or a folder of backups. In a folder, the newest backup of the agent with state
    ///     folder
    ///     `state` is used; if there is none, the newest of all.
    ///   - key: this installation's key; nil if it has none.
    /// - Throws: `Fault`, also if the manifest or the file list is damaged, and if `path` is a folder whose chosen
    ///   backup lacks this installation's seal although there is a key to check with.
    package init(_ path: BytePath, newestOf state: BytePath, _ key: BackupKey?) throws {
        var backup = path
        if try !BackupFolder.isName(path.nameText) && FileStatus.of(path.appending(BackupManifest.name)) == nil {
            guard let newest = try BackupFolder(path).newest(of: state, key) else {
                throw Fault(
                    .usage,
                    "there is no finished backup in \(path): name a folder steward-…, or one in which `steward backup` has "
                        + "made such", path: path)
            }
            backup = newest
        }
        self.path = backup
        let manifest = try BackupManifest.read(in: backup)
        self.manifest = manifest
        origin = try key.map { try manifest.isSealed(by: $0) ? .here : .elsewhere } ?? .unknown
        let listing = backup.appending(BackupManifest.listingName)
        guard try ContentHash.ofFile(listing) == manifest.listing else {
            throw Fault(
                .failed, "\(listing) is damaged: its hash differs from the manifest; use another backup",
                path: listing)
        }
    }

    /// Reads all of it.
    ///
    /// - Parameter tell: receives progress; an error it throws ends the verification.
    /// - Returns: the defects; empty for an intact backup.
    package func findings(_ tell: (BackupProgress) throws -> Void) throws -> [BackupFinding] {
        var found: [BackupFinding] = []
        var names: Set<BytePath> = []
        var listing = try BackupListing(in: path)
        while let file = try listing.next() {
            names.insert(file.path)
            if let problem = try problem(of: file) { found.append(BackupFinding(path: file.path, problem: problem)) }
            try tell(.file(path: file.path, size: file.size))
        }
        for strange in try strange(names) {
            found.append(
                BackupFinding(path: strange, problem: "is not in the list: it was added later"))
        }
        return found
    }

    private func problem(of file: BackedFile) throws -> String? {
        guard Self.isSafe(file.path) else { return "leads out of the backup" }
        let whole = path.appending(file.path)
        guard let status = try FileStatus.of(whole) else { return "is missing" }
        guard status.kind == .file else { return "is not a file" }
        guard status.size == file.size else { return "has \(status.size) bytes instead of \(file.size)" }
        do {
            guard try ContentHash.ofFile(whole) == file.sha256 else {
                return "is damaged: its bytes differ from the copied ones"
            }
        } catch let fault as Fault {
            return "cannot be read: \(fault.message)"
        }
        guard file.role == .database else { return nil }
        return try SQLiteFile.damage(of: whole, indexes: true).map { "is a damaged database: \($0)" }
    }

    /// Whether a listed path stays within the backup.
    static func isSafe(_ path: BytePath) -> Bool {
        !path.isEmpty && !path.isAbsolute && !path.components.contains { $0.elementsEqual("..".utf8) }
    }

    private func strange(_ names: Set<BytePath>) throws -> [BytePath] {
        var (found, folders) = ([BytePath](), [BytePath("")])
        while let folder = folders.popLast() {
            for entry in try listDirectory(path.appending(folder)) {
                let name = folder.appending(name: entry.name)
                if try FileStatus.of(path.appending(name))?.kind == .directory {
                    folders.append(name)
                } else if !names.contains(name), !BackupManifest.own.contains(name) {
                    found.append(name)
                }
            }
        }
        return found.sorted()
    }
}
