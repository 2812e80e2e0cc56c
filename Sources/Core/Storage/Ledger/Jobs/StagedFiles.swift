import Platform

/// Temporary files that steps have begun and not finished with.
extension LedgerTransaction {
    private static let stagedUpsert = upsert("staged", key: ["path"], ["device", "inode", "job", "birthTime"])

    package func setStaged(_ path: BytePath, _ file: FileIdentity, job: String) throws {
        try execute(Self.stagedUpsert, [path, file.device, file.inode, job, file.born])
    }

    /// The files that `step` made and did not finish with, whatever their names are now.
    package func staged(by step: String) throws -> [FileIdentity] {
        try all("SELECT device, inode, birthTime FROM staged WHERE job = ?", [step], FileIdentity.init(row:))
    }

    /// The same with the names that they had when they were made.
    package func namesStaged(by step: String) throws -> [(path: BytePath, file: FileIdentity)] {
        try all("SELECT * FROM staged WHERE job = ?", [step]) { try ($0["path"], FileIdentity(row: $0)) }
    }

    /// Every temporary file that was begun and not finished with.
    package func staged() throws -> [(path: BytePath, file: FileIdentity, job: String)] {
        try all("SELECT * FROM staged ORDER BY path") { try ($0["path"], FileIdentity(row: $0), $0["job"]) }
    }

    /// Forgets a temporary file that is gone.
    package func clearStaged(path: BytePath) throws {
        try execute("DELETE FROM staged WHERE path = ?", [path])
    }

    /// Forgets what a step has staged and noted: its receipt is there.
    package func clearStaged(job: String) throws {
        try execute("DELETE FROM staged WHERE job = ?", [job])
        try setMeta("effect:\(job)", nil)
    }

    /// Forgets what steps have staged and noted whose jobs are not there any more. As long as a job is there it may be tried
    /// again, and then knows by this what it has made.
    func forgetStaged() throws {
        // Ids of steps are the job's, a dot and a number. A slash stands in those that are for notes.
        try execute(
            """
            DELETE FROM staged WHERE instr(job, '/') = 0
                AND NOT EXISTS (SELECT 1 FROM job WHERE id = substr(staged.job, 1, instr(staged.job || '.', '.') - 1))
            """)
        try execute(
            """
            DELETE FROM meta WHERE key >= 'effect:' AND key < 'effect;'
                AND NOT EXISTS (SELECT 1 FROM job WHERE id = substr(key, 8, instr(key || '.', '.') - 8))
            """)
    }
}

extension FileIdentity {
    fileprivate init(row: any SQLRow) throws {
        self.init(device: try row["device"], inode: try row["inode"], born: try row["birthTime"])
    }
}
