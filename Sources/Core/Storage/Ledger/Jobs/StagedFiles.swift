import Platform

/// Temporary files that steps have created and not yet disposed of.
extension LedgerTransaction {
    private static let stagedUpsert = upsert("staged", key: ["path"], ["device", "inode", "job", "birthTime"])

    package func setStaged(_ path: BytePath, _ file: FileIdentity, job: String) throws {
        try execute(Self.stagedUpsert, [path, file.device, file.inode, job, file.born])
    }

    /// The temporary files of `step`, whatever they are called now.
    package func staged(by step: String) throws -> [FileIdentity] {
        try all("SELECT device, inode, birthTime FROM staged WHERE job = ?", [step], FileIdentity.init(row:))
    }

    /// The temporary files of `step` with their original names.
    package func namesStaged(by step: String) throws -> [(path: BytePath, file: FileIdentity)] {
        try all("SELECT * FROM staged WHERE job = ?", [step]) { try ($0["path"], FileIdentity(row: $0)) }
    }

    /// All temporary files.
    package func staged() throws -> [(path: BytePath, file: FileIdentity, job: String)] {
        try all("SELECT * FROM staged ORDER BY path") { try ($0["path"], FileIdentity(row: $0), $0["job"]) }
    }

    /// Forgets a temporary file that is gone.
    package func clearStaged(path: BytePath) throws {
        try execute("DELETE FROM staged WHERE path = ?", [path])
    }

    /// Forgets a step's temporary files and notes: it has its receipt.
    package func clearStaged(job: String) throws {
        try execute("DELETE FROM staged WHERE job = ?", [job])
        try setMeta("effect:\(job)", nil)
    }

    /// Forgets the temporary files and notes of steps whose jobs no longer exist. While a job exists it may be retried,
    /// and needs them to recognize what it has made.
    func forgetStaged() throws {
        // Ids with a slash are those of notes.
        try execute("DELETE FROM staged WHERE job NOT LIKE '%/%' AND NOT \(Self.isOfJob("staged.job"))")
        try execute(
            """
            DELETE FROM meta WHERE key >= 'effect:' AND key < 'effect;'
                AND NOT \(Self.isOfJob("substr(meta.key, 8)"))
            """)
    }

    /// Whether the job of a step exists, as SQL. A step's id is the job's, a dot and more, and no character of a job's id
    /// sorts before the slash: the last id up to the step's is its job's, if any is.
    static func isOfJob(_ step: String) -> String {
        """
        EXISTS (SELECT 1 FROM job WHERE id = (SELECT MAX(id) FROM job WHERE id <= \(step)) AND \(step) < id || '/')
        """
    }
}

extension FileIdentity {
    fileprivate init(row: any SQLRow) throws {
        self.init(device: try row["device"], inode: try row["inode"], born: try row["birthTime"])
    }
}
