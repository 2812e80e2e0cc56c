import DotLifeDomain
import DotLifePersistence
import Foundation
import Platform
import SQLiteFile

/// The context of dot commands: the store of captures, the time zone of its days, and the current time.
///
/// A store can be shared by several processes, so it makes no difference whether an agent is running.
package struct DotContext: Sendable {
    package let store: CaptureStore
    package let timeZone: Zone
    /// When the command was given.
    package let now: Date
    package let sentence: SentenceTemplate
    /// The agent's ledger.
    let ledger: BytePath
    /// Receives notices for the user in addition to the answer.
    let notice: @Sendable (String) -> Void

    var bucketing: TimeBucketingService { TimeBucketingService(zone: timeZone) }

    /// The store's location.
    package static func folder(_ directories: Directories) -> BytePath { directories.data.appending("captures") }

    /// - Parameters:
    ///   - configuration: nil for the system's time zone and the standard sentence.
    ///   - now: the current time; nil to use the clock.
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

    /// Opens or creates the store for a process of its own.
    ///
    /// - Parameter notice: also receives how the store was found, and why a photo has no thumbnail.
    package static func open(
        _ directories: Directories, _ configuration: Configuration?, now: Date? = nil,
        notice: @escaping @Sendable (String) -> Void
    ) async throws -> DotContext {
        // The agent checks for damage at its start; for a command that would take as long as reading everything.
        let opened = try await CaptureStore.open(
            in: folder(directories), checked: false, thumbnailer: CaptureThumbnails.maker(),
            complain: { notice(explain($0)) })
        for text in opened.notices { notice(text) }
        // An empty store does not show what it contained before.
        for loss in try await opened.store.losses() { notice(loss.line) }
        return DotContext(opened.store, configuration, directories, now: now, notice: notice)
    }

    /// Checkpoints and closes the store. Call this last.
    package func close() async throws { try await store.close() }

    /// Runs `body` and converts domain errors to faults.
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

/// Parses times and time spans of the command line.
extension DotContext {
    /// A time span: the name of a bucket, or a word for the current one.
    func bucket(_ text: String) throws -> TimeBucket {
        guard let found = foundBucket(text) else {
            throw Fault(
                .usage,
                "`\(BytePath.escape(Array(text.utf8)))` is not a day, hour, week, month or year of \(timeZone.identifier); "
                    + "write 2026-11-22, 2026-11-22T15, 2026-W47, 2026-11, 2026, or now, today, yesterday, week, month, year"
            )
        }
        return found
    }

    /// The same, but nil if the text is not valid.
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

    /// When a capture happened; nil is the present.
    func time(_ text: String?) throws -> Date {
        guard let text else { return now }
        guard let time = CaptureTime.parse(text, arrival: now, timeZone) else {
            throw Fault(
                .usage,
                "`\(BytePath.escape(Array(text.utf8)))` is not a time; write 09:30, \"2026-11-22 09:30\", 2026-11-22, or ISO "
                    + "8601 with a zone, such as 2026-11-22T09:30:00Z")
        }
        return time
    }

    /// The moment of a capture; nil is now.
    func moment(_ text: String?) throws -> MomentType {
        guard let text else { return .now }
        guard let moment = CaptureTime.moment(text) else {
            throw Fault(
                .usage, "`\(BytePath.escape(Array(text.utf8)))` is not a moment; use now, today or \"this week\"")
        }
        return moment
    }
}
