import Platform
import Rules

/// Dependencies of the review action.
package struct ReviewServices: Sendable {
    let reviews: ReviewTools
    let files: BlockingPool
    let journal: EffectJournal
    /// This machine's name.
    let device: String

    package init(reviews: ReviewTools, files: BlockingPool, journal: EffectJournal, device: String) {
        self.reviews = reviews
        self.files = files
        self.journal = journal
        self.device = device
    }
}
