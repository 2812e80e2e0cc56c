import DotLifeDomain
import DotLifePersistence
import Foundation
import Platform
import SQLiteFile

/// What the commands on dots work with: the store of captures, the zone of its days, and the present.
///
/// Several processes may use one store, so it makes no difference whether an agent runs.
package struct DotContext: Sendable {
    package let store: CaptureStore
    package let timeZone: Zone
    /// When the command was given.
    package let now: Date
    package let sentence: SentenceTemplate
    /// The agent's.
    let ledger: BytePath
    /// Told what a person should know beside the answer.
    let notice: @Sendable (String) -> Void

    var bucketing: TimeBucketingService { TimeBucketingService(zone: timeZone) }

    /// Where the store lies.
    package static func folder(_ directories: Directories) -> BytePath { directories.data.appending("captures") }

    /// - Parameters:
    ///   - configuration: nil where there is none: the system's zone is taken, and the standard sentence.
    ///   - now: what is taken for the present; nil is the clock's.
    init(
        _ store: CaptureStore, _ configuration: Configuration?, _ directories: Directories, now: Date? = nil,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.now = now ?? Date(timeIntervalSince1970: Timestamp.now().seconds)
        self.notice = notice
        timeZone = configuration?.timeZone ?? .current
        sentence = configuration?.sentence ?? .standard
        ledger = directories.state.appending("ledger.sqlite")
    }

    /// Opens the store, or makes it, for a process of its own.
    ///
    /// - Parameter notice: told besides how the store was found, and why there is no small picture of a photo.
    package static func open(
        _ directories: Directories, _ configuration: Configuration?, now: Date? = nil,
        notice: @escaping @Sendable (String) -> Void
    ) async throws -> DotContext {
        // The agent looks for damage when it starts; for a command that would take as long as reading everything.
        let opened = try await CaptureStore.open(
            in: folder(directories), checked: false, thumbnailer: CaptureThumbnails.maker(),
            complain: { notice(explain($0)) })
        for text in opened.notices { notice(text) }
        // An empty store says nothing by itself of what it held before.
        for loss in try await opened.store.losses() { notice(loss.line) }
        return DotContext(opened.store, configuration, directories, now: now, notice: notice)
    }

    /// Folds the store's log in. To be called last.
    package func close() async throws { try await store.close() }

    /// Runs a command's work; what the domain complains of becomes a fault.
    package static func faulting<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as ExperienceError {
            switch error {
            case .notFound, .invalidData: throw Fault(.usage, error.description)
            case .saveFailed, .fetchFailed, .deleteFailed, .photoStorageFailed:
                throw Fault(.failed, error.description)
            }
        }
    }
}

/// Times and stretches of time as people write them on the command line.
extension DotContext {
    /// A stretch of time: the name of a bucket, or a word for the one around the present.
    func bucket(_ text: String) throws -> TimeBucket {
        guard let found = foundBucket(text) else {
            throw Fault(
                .usage,
                "`\(BytePath.escape(Array(text.utf8)))` is no day, hour, week, month or year of \(timeZone.identifier); "
                    + "write 2026-11-22, 2026-11-22T15, 2026-W47, 2026-11, 2026, or now, today, yesterday, week, month, year"
            )
        }
        return found
    }

    /// The same; nil where a text is none.
    func foundBucket(_ text: String) -> TimeBucket? {
        switch text.lowercased() {
        case "now", "hour": return bucketing.bucket(.hour, containing: now)
        case "today", "day": return bucketing.bucket(.day, containing: now)
        case "yesterday":
            let today = bucketing.bucket(.day, containing: now)
            return bucketing.bucket(.day, containing: today.start.addingTimeInterval(-1))
        case "week": return bucketing.bucket(.week, containing: now)
        case "month": return bucketing.bucket(.month, containing: now)
        case "year": return bucketing.bucket(.year, containing: now)
        default: return bucketing.bucket(named: text)
        }
    }

    /// When a capture is to have happened; nil is the present.
    func time(_ text: String?) throws -> Date {
        guard let text else { return now }
        guard let time = CaptureTime.parse(text, arrival: now, timeZone) else {
            throw Fault(
                .usage,
                "`\(BytePath.escape(Array(text.utf8)))` is no time; write 09:30, \"2026-11-22 09:30\", 2026-11-22, or ISO "
                    + "8601 with a zone as 2026-11-22T09:30:00Z")
        }
        return time
    }

    /// What was meant by the moment; nil is now.
    func moment(_ text: String?) throws -> MomentType {
        guard let text else { return .now }
        guard let moment = CaptureTime.moment(text) else {
            throw Fault(
                .usage, "`\(BytePath.escape(Array(text.utf8)))` is no moment; there are now, today and \"this week\"")
        }
        return moment
    }
}
