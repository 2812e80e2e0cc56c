import Ledger
import Platform

/// What has happened to a file since the ledger took note of it.
package enum News: Sendable, Equatable {
    /// This very version was judged.
    case nothing
    /// No rule could want it as it is, so that nobody has read it.
    case unread
    case happened(FileEvent)
    /// Its content is what it was.
    case touched
    /// Nothing but that time has gone by.
    ///
    /// - Parameter scheduled: the rules whose schedule has come to it, and at which time.
    case due(scheduled: [String: Timestamp])
    /// A job that was superseded is to be done with it.
    case owed(Planner.Overdue)
    /// Rules (nil: all) are asked for what was judged already.
    case asked(rules: Set<String>?, again: Bool, as: FileEvent)

    /// As what it is shown to people.
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
    ///   - record: the file as it is.
    ///   - known: what the ledger has under its name.
    ///   - left: names of its inode that do not stand for it any more.
    ///   - isMovedIn: whether it has come from outside its place, so that no name in it was its own before.
    /// - Returns: also its old name, where it was renamed.
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

    /// Whether two records with one inode are of one file: file systems give an inode that is free to the next file.
    private static func isSame(_ former: FileRecord, _ record: FileRecord) -> Bool {
        guard let old = former.birthTime, let new = record.birthTime else { return former.hash == record.hash }
        return old == new && (former.hash == nil || former.hash == record.hash)
    }
}

/// What was seen of a file at one look, held open for all that is decided on it.
struct SeenFile: Sendable {
    let place: PlaceInfo
    /// The file as it is, as the ledger is to have it.
    var record: FileRecord
    /// Nil where it is gone.
    let status: FileStatus?
    var content: FileFacts.Content
    var news: News
    /// What the ledger had under its name when it was looked at.
    let known: FileRecord?
    /// The same under the other names of its inode; nil for a look that does not ask which name it had before.
    var others: [FileRecord]?
    /// Its old name, where it was renamed.
    var former: FileRecord?
    /// What may be the same file by another name; unlike ``former``, of a file that nobody has read. Of what the agent has
    /// made no birth is known, and its content tells when it is read.
    var kin: FileRecord?
    /// Names of its inode that do not stand for it any more.
    var left: [FileRecord] = []
    /// The blocks of a note; nil for other files.
    var blocks: [BlockFacts]?
    /// One time for all that is asked: what a rule comes to want between two would be missed by both.
    let now: Timestamp

    /// What the ledger has of this very file; nil for one that has just come, and for one that had left.
    var before: FileRecord? { former ?? (known?.present == true ? known : nil) }

    /// The file as what a rule may see it.
    ///
    /// - Parameter gained: blocks that are news.
    func facts(
        as event: FileEvent, at time: Timestamp? = nil, gained: [BlockFacts] = [], _ sources: FactSources
    ) -> FileFacts {
        FileFacts(
            place: place, path: record.path, status: status, event: event, now: time ?? now, content: content,
            gainedBlocks: gained, hash: record.hash, arrived: record.arrived, sources: sources)
    }

    /// The file, open; nil where it is gone, or nobody has opened it.
    var file: Descriptor? { if case .open(let file) = content { file } else { nil } }

    /// Whether it has more bytes than its place takes: no rule sees it, until it is another file.
    var isTooLarge: Bool { status.map { $0.size > place.sizeLimit } ?? false }

    /// Whether it is its ``kin``, as far as that can be told without reading it.
    func isAsKin(_ kin: FileRecord) -> Bool {
        let (old, new) = (kin.fingerprint, record.fingerprint)
        return kin.birthTime != nil || (old.size, old.modified) == (new.size, new.modified)
    }

    /// Which of the file's judgements its jobs belong to: the same content is another job's business when it is asked for
    /// again.
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
            hash: record.hash)
    }

    /// Whether the open file is still what was seen. Blocks.
    func isStill() throws -> Bool {
        guard let file, let status else { return true }
        return try file.status().fingerprint == status.fingerprint
    }
}
