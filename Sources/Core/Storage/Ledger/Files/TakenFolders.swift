import Platform

/// What was known of folders that jobs have taken out of their places, and of the files in them: kept beside the rows of
/// what is there, so that nothing that comes under the same names takes its place, until the job is undone or forgotten.
extension LedgerTransaction {
    private static let fileColumns = """
        device, inode, size, modified, changed, hash, version, birthTime, ruleSet, matched, attributes, arrived
        """
    private static let folderColumns = "device, inode, digest, version, ruleSet, matched, arrived"

    /// Takes a folder out of its place, and what lies in it with it: that is known again when `job` is taken back.
    ///
    /// - Returns: the files that lay in it, and the folders, itself included, as they were known.
    @discardableResult
    package func moveOutFolder(
        _ place: String, _ path: BytePath, by job: String
    ) throws -> (files: [FileRecord], folders: [BytePath]) {
        var taken: [FileRecord] = []
        for known in try versions(place, within: path) {
            guard let file = try file(known) else { continue }
            // A hidden name says nothing of where its file lay, and what is kept of it would tell which one it was.
            if let below = file.path.relative(to: path), try names.stored(place, file.path) == file.path {
                try keep("File", Self.fileColumns, place, path, below, by: job)
                taken.append(file)
            }
            try setGone(place, file.path)
        }
        let folders = try folders(place, within: path)
        for inner in folders {
            if let below = inner.relative(to: path) {
                try keep("Folder", Self.folderColumns, place, path, below, by: job)
            }
            try setFolderGone(place, inner)
        }
        return (taken, folders)
    }

    private func keep(
        _ kind: String, _ columns: String, _ place: String, _ top: BytePath, _ below: BytePath, by job: String
    ) throws {
        try execute("DELETE FROM taken\(kind) WHERE job = ? AND place = ? AND below = ?", [job, place, below])
        try execute(
            """
            INSERT INTO taken\(kind) (job, place, top, below, \(columns))
                SELECT ?, place, ?, ?, \(columns) FROM \(kind.lowercased()) WHERE place = ? AND path = ?
            """, [job, top, below, place, top.appending(below)])
    }

    /// Brings back what ``moveOutFolder(_:_:by:)`` has taken out: the folder lies at `path` again.
    ///
    /// - Returns: the row of the folder itself, as it was; nil where that is not known any more.
    package func returnFolder(_ place: String, to path: BytePath, by job: String) throws -> FolderRecord? {
        let files = try all(
            """
            SELECT *, below AS path, 1 AS present, 0 AS kept, NULL AS links FROM takenFile WHERE job = ? AND place = ?
            ORDER BY below
            """, [job, place], FileRecord.init(row:))
        for var file in files {
            file.path = path.appending(file.path)
            // Another file may have had the name meanwhile.
            file.version = max(file.version, try self.file(place, file.path)?.version ?? 0) + 1
            try setFile(file)
        }
        var former: FolderRecord?
        let folders = try all(
            """
            SELECT *, below AS path, 1 AS present, NULL AS firstJob FROM takenFolder WHERE job = ? AND place = ?
            ORDER BY below
            """, [job, place]
        ) { (try FolderRecord(row: $0), try $0["top"] as BytePath) }
        for (known, top) in folders {
            var folder = known
            if folder.path.isEmpty {
                former = folder
                former?.path = top
            }
            folder.path = path.appending(folder.path)
            folder.version = max(folder.version, try self.folder(place, folder.path)?.version ?? 0) + 1
            try setFolder(folder)
        }
        for table in ["takenFile", "takenFolder"] {
            try execute("DELETE FROM \(table) WHERE job = ? AND place = ?", [job, place])
        }
        return former
    }
}
