import Synchronization

/// What the passes of a review have to tell the writer about the text that they have read last: rules and dictionaries
/// that cannot be used.
package final class ReviewNotices: Sendable {
    private let list = Mutex<[String]>([])

    package init() {}

    package var sentences: [String] {
        get { list.withLock { $0 } }
        set { list.withLock { $0 = newValue } }
    }
}
