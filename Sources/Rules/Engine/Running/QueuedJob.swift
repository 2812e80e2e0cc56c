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
        /// What it was when it was planned, where that is kept until it begins.
        var planned: LoadedJob?

        init(id: String, whose: Bulkhead?) {
            self.id = id
            self.whose = whose
        }

        init(_ job: PlannedJob) {
            self.init(id: job.id, whose: JobExecutor.bulkhead(job.rule, job.place))
            planned = job.loaded
        }

        /// As one of thousands that wait: it is in the ledger, too.
        var toBeRead: Queued { Queued(id: id, whose: whose) }
    }
}
