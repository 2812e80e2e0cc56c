import Platform

/// One rule's work on one version of one file.
package struct JobRecord: Sendable, Equatable {
    package enum State: String, Sendable, Codable, CaseIterable {
        case ready
        /// Tried and failed for a reason that may pass; `nextAttempt` says when it is tried again.
        case waiting
        case done
        /// Waits for a person's word: `steward confirm`.
        case asking
        /// For a human: `steward retry`.
        case parked
        /// Failed for good, and what its rule says under `on-failure` has been done: nobody has to look.
        case handled
        /// The file was refused and lies in quarantine (or was left where it is).
        case refused
        /// The file changed or vanished before its turn; what replaced it has jobs of its own.
        case superseded
        /// A person has said no to what it asked, or has said nothing in time.
        case declined
        /// Being taken back. `nextAttempt` says when that is tried again; where there is none and `problem` says why, it is
        /// for a human: some of its steps are taken back, and others cannot be.
        case undoing
        case undone

        /// Whether the runner still has something to do with it.
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
    /// Where the file is now, as JSON of the engine's.
    package var file: String
    /// The same for finding it; nil where it has the name under which it was judged.
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
    /// The values of templates, as JSON of the engine's.
    package var values: String
    /// `quarantine` or `leave`.
    package var refused: String
    package var problem: String?
    package var updated: Timestamp
    /// Whether it is of a file that lay there when its place was looked through: jobs of what arrives come first.
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
        /// The intent is committed; whether the effect happened is for `recover` to say.
        case intended
        case done
        /// Being taken back: whether that has happened is for the action's `undo` to find out.
        case undoing
        case undone
    }

    package var job: String
    package var number: Int
    package var action: String
    /// Which step of the rule it is, and what the rule gave it when the job was planned: in the engine's own form. It says
    /// nothing of what is yet to be done, which the rule in force says.
    package var arguments: String
    package var repeatSafe: Bool
    /// The values that it alone sees, as JSON of the engine's, until it is done: the line of a file that it is about.
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

    /// The name under which the step's effect is known everywhere.
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
