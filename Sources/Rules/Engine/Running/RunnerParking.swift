import DequeModule
import Platform

/// Jobs that wait for a place for one kind of work, or for others of their rule, in the order in which they are to go on: those
/// that have begun, those of what arrives, and then the backlog. Nothing of them is in memory but this.
struct ParkedJobs {
    typealias Parked = (job: Runner.Queued, key: Runner.FileKey)

    private var begun: Deque<Parked> = []
    private var others: Deque<Parked> = []
    private var backlog: Deque<Parked> = []

    var count: Int { beforeBacklog + backlog.count }
    var beforeBacklog: Int { begun.count + others.count }

    mutating func append(_ parked: Parked, hasBegun: Bool = false) {
        if hasBegun {
            begun.append(parked)
        } else if parked.job.isBacklog {
            backlog.append(parked)
        } else {
            others.append(parked)
        }
    }

    mutating func popFirst() -> Parked? {
        begun.popFirst() ?? others.popFirst() ?? backlog.popFirst()
    }
}

/// Jobs that wait until there is less of a kind of work. However many wait for a slow kind, they keep nobody from what is
/// quick.
extension Runner {
    /// Has a job wait for its kind of work; its file stays one that is worked on, so that nothing else of it begins.
    func park(_ job: Queued, _ key: FileKey, _ kind: WorkKind, hasBegun: Bool) {
        parked[kind, default: ParkedJobs()].append((job.toBeRead, key), hasBegun: hasBegun)
        executor.tell(othersWait: true)
        pump()
    }

    /// Asks once for a place for a kind of work.
    func awaitPlace(for kind: WorkKind) {
        guard awaited.insert(kind).inserted else { return }
        executor.place(for: kind) { place in Task { await self.unpark(kind, place) } }
    }

    /// Lets the first of those go on that wait for a kind of work. While nothing begins, they wait on.
    private func unpark(_ kind: WorkKind, _ place: WorkPlace) {
        awaited.remove(kind)
        guard canBegin, let next = parked[kind]?.popFirst() else { return place.leave() }
        if parked[kind]?.count == 0 { parked[kind] = nil }
        executor.tell(othersWait: !parked.isEmpty)
        shares.begin(next.job.whose)
        begin(next, place)
        pump()
    }
}
