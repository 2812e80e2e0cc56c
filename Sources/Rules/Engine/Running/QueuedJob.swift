import Platform

/// What is in memory of a job that waits.
extension Runner {
    struct FileKey: Hashable {
        let place: String
        let path: BytePath
    }

    struct Queued {
        let id: String
        /// On whose threads it begins; nil where its rule is not known before it has been read.
        let whose: Bulkhead?
        /// Whether those come first that are of what arrives: see ``JobRecord/isBacklog``.
        var isBacklog: Bool
        /// Whether it comes after jobs of its file that may be in the ledger alone.
        var isBehindBacklog = false
        /// What it was when it was planned, where that is kept until it begins.
        var planned: LoadedJob?

        init(id: String, whose: Bulkhead?, isBacklog: Bool = false) {
            self.id = id
            self.whose = whose
            self.isBacklog = isBacklog
        }

        init(_ job: PlannedJob) {
            self.init(id: job.id, whose: JobExecutor.bulkhead(job.rule, job.place), isBacklog: job.isBacklog)
            isBehindBacklog = job.isBehindBacklog
            planned = job.loaded
        }

        /// As one of thousands that wait: it is in the ledger, too.
        var toBeRead: Queued { Queued(id: id, whose: whose, isBacklog: isBacklog) }
    }
}
