import Synchronization

/// The places whose files are all known to the ledger, because a scan has found and judged them. For other places
/// only the disk can tell.
package final class SurveyedPlaces: Sendable {
    private let names = Mutex<Set<String>>([])

    package func contains(_ place: String) -> Bool { names.withLock { $0.contains(place) } }

    package func insert(_ place: String) { names.withLock { _ = $0.insert(place) } }

    /// The place is away, or there is another folder at its path.
    package func remove(_ place: String) { names.withLock { _ = $0.remove(place) } }
}
