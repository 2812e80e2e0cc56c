import Synchronization

/// The places of which the ledger knows all files, since each was looked through and what was new there was judged. Of
/// others the disk alone tells what is there.
package final class SurveyedPlaces: Sendable {
    private let names = Mutex<Set<String>>([])

    package func contains(_ place: String) -> Bool { names.withLock { $0.contains(place) } }

    package func insert(_ place: String) { names.withLock { _ = $0.insert(place) } }

    /// It is away, or another folder stands there.
    package func remove(_ place: String) { names.withLock { _ = $0.remove(place) } }
}
