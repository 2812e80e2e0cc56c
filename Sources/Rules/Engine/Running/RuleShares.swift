import Platform

/// How many files each rule has at work in a place, and the jobs that wait until these are fewer: a rule that copies a
/// thousand large files to a slow disk keeps no other rule from its work.
struct RuleShares {
    /// At work for each. Those of which the rule is not known before they have been read count as if they were of one.
    private var atWork: [Bulkhead?: Int] = [:]
    private var queues: [Bulkhead?: ParkedJobs] = [:]
    /// Jobs that wait.
    private(set) var waiting = 0
    /// Those of them that are not of the backlog.
    var waitingFirst: Int { queues.values.reduce(0) { $0 + $1.beforeBacklog } }
    private let most: Int

    /// - Parameter most: how many files of one rule are at work at the same time.
    init(most: Int) { self.most = max(1, most) }

    /// Counts a job as at work, or has it wait: also where its rule has room, as long as anybody waits, whose turn it may be.
    ///
    /// - Returns: the job, where it is to begin.
    mutating func take(_ next: ParkedJobs.Parked) -> ParkedJobs.Parked? {
        if waiting == 0, hasRoom(next.job.whose) {
            begin(next.job.whose)
            return next
        }
        queues[next.job.whose, default: ParkedJobs()].append((next.job.toBeRead, next.key))
        waiting += 1
        return nil
    }

    /// The first that waits of the rule which has least at work; it counts as at work from now on.
    mutating func next() -> ParkedJobs.Parked? {
        let whose = queues.keys.filter(hasRoom).min { atWork[$0, default: 0] < atWork[$1, default: 0] }
        guard let whose, let next = queues[whose]?.popFirst() else { return nil }
        if queues[whose]?.count == 0 { queues[whose] = nil }
        waiting -= 1
        begin(whose)
        return next
    }

    /// Counts a job as at work, also where there are as many as may be: it has waited already, for its kind of work.
    mutating func begin(_ whose: Bulkhead?) {
        atWork[whose, default: 0] += 1
    }

    mutating func end(_ whose: Bulkhead?) {
        guard let count = atWork[whose] else { return }
        atWork[whose] = count > 1 ? count - 1 : nil
    }

    private func hasRoom(_ whose: Bulkhead?) -> Bool { atWork[whose, default: 0] < most }
}
