/// What the spine of an EPUB makes of its pages. The worker reads it, in its cage, and names only positions.
package struct EpubOrder: Sendable, Equatable {
    /// The positions of the pictures in reading order; empty where the spine yields none, and the natural order of paths holds.
    package var pages: [Int] = []
    /// What the spine names and cannot be had, one line each.
    package var damage: [String] = []
    /// Whether a page is encrypted, as shops do it.
    package var isEncrypted = false

    /// More lines of damage are of no use to anybody.
    package static let mostDamage = 100
    /// Bytes of a line: a name, and what is wrong with it.
    static let damageLength = 1_400

    package init(pages: [Int] = [], damage: [String] = [], isEncrypted: Bool = false) {
        (self.pages, self.damage, self.isEncrypted) = (pages, damage, isEncrypted)
    }

    /// Pages in this order, without those that it does not name; all as they stand where it names none of them.
    package func sorted<Page>(_ pages: [Page], position: (Page) -> Int) -> [Page] {
        let known = Dictionary(pages.map { (position($0), $0) }, uniquingKeysWith: { first, _ in first })
        let ordered = self.pages.compactMap { known[$0] }
        return ordered.isEmpty ? pages : ordered
    }

    /// Whether it can be of an archive with so many headers.
    package func fits(_ headers: Int) -> Bool {
        damage.count <= Self.mostDamage && Set(pages).count == pages.count && pages.allSatisfy { $0 < headers }
    }
}
