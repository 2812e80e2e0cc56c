import Ledger
import Platform

/// The change of a file since its ledger row was written.
package enum News: Sendable, Equatable {
    /// This version has been judged.
    case nothing
    /// No rule can match it in its present state, so it has not been read.
    case unread
    case happened(FileEvent)
    /// Its content is the same.
    case touched
    /// Only time has passed.
    ///
    /// - Parameter scheduled: the rules with a schedule time that has come, and that time.
    case due(scheduled: [String: Timestamp])
    /// The file takes over the work of a superseded job.
    case owed(Planner.Overdue)
    /// Rules (nil: all) are asked about a file that was already judged.
    case asked(rules: Set<String>?, again: Bool, as: FileEvent)

    /// The event shown to people.
    var event: FileEvent {
        switch self {
        case .happened(let event), .asked(_, _, let event): event
        case .touched: .changed
        case .owed(let owed): owed.event
        case .due(let scheduled): scheduled.isEmpty ? .arrived : .scheduled
        case .nothing, .unread: .arrived
        }
    }

    /// What has happened to a file that was read.
    ///
    /// - Parameters:
    ///   - record: the file's present state.
    ///   - known: the ledger's row under its name.
    ///   - left: names of its inode that do not refer to it any more.
    ///   - isMovedIn: whether it came from outside its place, so that no name in the place can be its old one.
    /// - Returns: the news, and its old row if it was renamed.
    static func of(
        _ record: FileRecord, known: FileRecord?, left: [FileRecord], isMovedIn: Bool
    ) -> (news: News, former: FileRecord?) {
        if let known, known.present {
            if known.fingerprint == record.fingerprint { return (.nothing, nil) }
            return (known.hash == record.hash && record.hash != nil ? .touched : .happened(.changed), nil)
        }
        guard !isMovedIn, let former = left.first(where: { isSame($0, record) }) else {
            return (.happened(.arrived), nil)
        }
        return (.happened(.renamed), former)
    }

    /// Whether two records with one inode are the same file: file systems reuse inode numbers.
    private static func isSame(_ former: FileRecord, _ record: FileRecord) -> Bool {
        guard let old = former.birthTime, let new = record.birthTime else { return former.hash == record.hash }
        return old == new && (former.hash == nil || former.hash == record.hash)
    }
}

/// One look at a file, which is held open for all decisions about it.
struct ObservedFile: Sendable {
    let place: PlaceInfo
    /// The file's present state, as a ledger row.
    var record: FileRecord
    /// nil if the file is gone.
    let status: FileStatus?
    var content: FileFacts.Content
    var news: News
    /// The ledger's row under its name at the time of the look.
    let known: FileRecord?
    /// The rows under other names of its inode; nil if the look does not need its former name.
    var others: [FileRecord]?
    /// Its old row, if it was renamed.
    var former: FileRecord?
    /// Possibly the same file under another name. Unlike ``former``, for a file that has not been read. Files that
    /// the agent made have no known birth time; their content decides once it is read.
    var kin: FileRecord?
    /// Names of its inode that do not refer to it any more.
    var left: [FileRecord] = []
    /// The blocks of a note; nil for other files.
    var blocks: [BlockFacts]?
    /// If it is gone: its present name, by which it was judged as a changed file because it replaced another one.
    var renamedTo: BytePath?
    /// One time for all rules. With two, an age reached in between would be missed.
    let now: Timestamp

    /// The ledger's row of this very file; nil for a new file, or one that had left.
    var before: FileRecord? { former ?? (known?.present == true ? known : nil) }

    /// The facts about the file as a rule sees it.
    ///
    /// - Parameter gained: new blocks of a note.
    func facts(
        as event: FileEvent, at time: Timestamp? = nil, gained: [BlockFacts] = [], _ sources: FactSources
    ) -> FileFacts {
        FileFacts(
            place: place, path: record.path, status: status, event: event, now: time ?? now, content: content,
            gainedBlocks: gained, hash: record.hash, arrived: record.arrived, sources: sources)
    }

    /// The open file; nil if it is gone or was not opened.
    var file: Descriptor? { if case .open(let file) = content { file } else { nil } }

    /// Whether it is larger than its place accepts. No rule sees it until it is replaced.
    var isTooLarge: Bool { status.map { $0.size > place.sizeLimit } ?? false }

    /// Whether it is its ``kin``, as far as can be told without reading it.
    func isAsKin(_ kin: FileRecord) -> Bool {
        let (old, new) = (kin.fingerprint, record.fingerprint)
        return kin.birthTime != nil || (old.size, old.modified) == (new.size, new.modified)
    }

    /// The judgement that its jobs belong to. Asking again about the same content makes new jobs.
    var version: Int {
        switch news {
        case .touched, .asked(_, again: true, _): record.version + 1
        default: record.version
        }
    }

    var reference: FileReference {
        FileReference(
            place: place.name, root: place.root, path: record.path,
            fingerprint: status == nil ? nil : record.fingerprint,
            hash: record.hash, former: formerPath, renamedTo: renamedTo)
    }

    /// Its former name even if its content has changed since, or if it replaced a file of its present name. Then the
    /// birth time alone tells that it is the same file.
    private var formerPath: BytePath? {
        former?.path ?? left.first { $0.birthTime != nil && $0.birthTime == record.birthTime }?.path
    }

    /// Whether the open file is unchanged since the look. Blocks.
    func isStill() throws -> Bool {
        guard let file, let status else { return true }
        return try file.status().fingerprint == status.fingerprint
    }
}
