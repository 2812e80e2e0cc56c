import Platform

/// One rule's work on one version of one file.
package struct JobRecord: Sendable, Equatable {
    package enum State: String, Sendable, Codable, CaseIterable {
        case ready
        /// Failed for a reason that may pass; `nextAttempt` says when it is retried.
        case waiting
        case done
        /// Waits for a person's answer: `steward confirm`.
        case asking
        /// Waits for a person: `steward retry`.
        case parked
        /// Failed permanently, and its rule's `on-failure` was carried out; needs no attention.
        case handled
        /// The file was refused; it is in quarantine, or was left in place.
        case refused
        /// The file changed or vanished before its turn; its replacement has its own jobs.
        case superseded
        /// A person answered no, or did not answer in time.
        case declined
        /// Being undone. `nextAttempt` says when to retry; if it is nil and `problem` says why, a person must act: some
        /// steps are undone, others cannot be.
        case undoing
        case undone

        /// Whether the runner still has work to do on it.
        package var isOpen: Bool { self == .ready || self == .waiting }
    }

    package var sequence: Int64
    package var id: String
    package var rule: String
    package var digest: String
    package var event: String
    package var place: String
    /// The name under which the file was judged.
    package var path: BytePath
    /// Where the file is now, as the engine's JSON.
    package var file: String
    /// The same, for lookups; nil while the file has the name under which it was judged.
    package var moved: FileLocation?
    package var hash: ContentHash?
    package var firstJob: String
    package var depth: Int
    /// The depth at which its file was made: see ``ProductRecord/origin``.
    package var origin = 0
    package var arrived: Timestamp
    package var state: State
    package var attempts: Int
    package var nextAttempt: Timestamp?
    /// The template values, as the engine's JSON.
    package var values: String
    /// `quarantine` or `leave`.
    package var refused: String
    package var problem: String?
    package var updated: Timestamp
    /// Whether its file was found by a scan of its place; jobs of arriving files come first.
    package var isBacklog = false

    package init(
        id: String, rule: String, digest: String, event: String, place: String, path: BytePath, file: String,
        hash: ContentHash?, firstJob: String, depth: Int, arrived: Timestamp, values: String, refused: String
    ) {
        sequence = 0
        self.id = id
        self.rule = rule
        self.digest = digest
        self.event = event
        self.place = place
        self.path = path
        self.file = file
        self.hash = hash
        self.firstJob = firstJob
        self.depth = depth
        self.arrived = arrived
        state = .ready
        attempts = 0
        nextAttempt = nil
        self.values = values
        self.refused = refused
        problem = nil
        updated = arrived
    }
}

/// One `do:` entry of a job.
package struct StepRecord: Sendable, Equatable {
    package enum State: String, Sendable, Codable {
        case pending
        /// The intent is committed; `recover` finds out whether the effect happened.
        case intended
        case done
        /// Being undone; the action's `undo` finds out whether that has happened.
        case undoing
        case undone
    }

    package var job: String
    package var number: Int
    package var action: String
    /// The step's position in the rule, and its arguments when the job was planned, in the engine's format. Not used to
    /// perform it: the rule in force decides that.
    package var arguments: String
    package var repeatSafe: Bool
    /// Values visible only to this step (the line of a file that it handles), as the engine's JSON; nil once it is
    /// done.
    package var item: String?
    package var state: State
    package var intent: String?
    package var receipt: String?

    package init(
        job: String, number: Int, action: String, arguments: String, repeatSafe: Bool, item: String? = nil
    ) {
        self.job = job
        self.number = number
        self.action = action
        self.arguments = arguments
        self.repeatSafe = repeatSafe
        self.item = item
        state = .pending
        intent = nil
        receipt = nil
    }

    /// The name that identifies the step's effect everywhere.
    package var id: String { "\(job).\(number)" }
}

extension JobRecord {
    init(row: any SQLRow) throws {
        sequence = try row["sequence"]
        id = try row["id"]
        rule = try row["rule"]
        digest = try row["digest"]
        event = try row["event"]
        place = try row["place"]
        path = try row["path"]
        file = try row["file"]
        moved = try (row["nowPath"] as BytePath?).map { FileLocation(place: try row["nowPlace"] ?? "", path: $0) }
        hash = try row["hash"]
        firstJob = try row["firstJob"]
        depth = try row["depth"]
        origin = try row["origin"] as Int? ?? depth
        arrived = try row["arrived"]
        state = try State(rawValue: row["state"]) ?? .parked
        attempts = try row["attempts"]
        nextAttempt = try row["nextAttempt"]
        values = try row["vals"]
        refused = try row["refused"]
        problem = try row["problem"]
        updated = try row["updated"]
        isBacklog = try row["backlog"]
    }
}

extension StepRecord {
    init(row: any SQLRow) throws {
        job = try row["job"]
        number = try row["number"]
        action = try row["action"]
        arguments = try row["arguments"]
        repeatSafe = try row["repeatSafe"]
        item = try row["item"]
        state = try State(rawValue: row["state"]) ?? .intended
        intent = try row["intent"]
        receipt = try row["receipt"]
    }
}
