import Platform

/// Records of folders that jobs have moved out of their places, and of the files in them. They are kept separate from
/// the rows of existing files, so that new files of the same names do not replace them, until the job is undone or
/// pruned.
extension LedgerTransaction {
    private static let fileColumns = """
        device, inode, size, modified, changed, hash, version, birthTime, ruleSet, matched, attributes, arrived
        """
    private static let folderColumns = "device, inode, digest, version, ruleSet, matched, arrived"

    /// Moves a folder's rows and those of its contents out of its place; undoing `job` restores them.
    ///
    /// - Returns: the files in it, and the folders including itself, as they were known.
    @discardableResult
    package func moveOutFolder(
        _ place: String, _ path: BytePath, by job: String
    ) throws -> (files: [FileRecord], folders: [BytePath]) {
        var taken: [FileRecord] = []
        for known in try versions(place, within: path) {
            guard let file = try file(known) else { continue }
            // A token does not tell where its file was, and keeping the rest would reveal which file it was.
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

    /// Restores the rows that ``moveOutFolder(_:_:by:)`` took out: the folder is back at `path`.
    ///
    /// - Returns: the previous row of the folder itself; nil if no longer known.
    package func returnFolder(_ place: String, to path: BytePath, by job: String) throws -> FolderRecord? {
        let files = try all(
            """
            SELECT *, below AS path, 1 AS present, 0 AS kept, NULL AS links FROM takenFile WHERE job = ? AND place = ?
            ORDER BY below
            """, [job, place], FileRecord.init(row:))
        for var file in files {
            file.path = path.appending(file.path)
            // Another file may have used the name in the meantime.
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
