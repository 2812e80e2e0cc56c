/// The page order of an EPUB by its spine. The worker reads the spine in its cage, and reports only positions.
package struct EpubOrder: Sendable, Equatable {
    /// The positions of the pictures in reading order. Empty if the spine yields none; then the natural order of paths
    /// applies.
    package var pages: [Int] = []
    /// Missing or unreadable items of the spine, one line each.
    package var damage: [String] = []
    /// Whether a page is encrypted, as by book shops.
    package var isEncrypted = false

    /// The most lines of damage; further ones are useless.
    package static let mostDamage = 100
    /// The most bytes of a line: a name, and the problem with it.
    static let damageLength = 1_400

    package init(pages: [Int] = [], damage: [String] = [], isEncrypted: Bool = false) {
        (self.pages, self.damage, self.isEncrypted) = (pages, damage, isEncrypted)
    }

    /// The pages in this order, without those not in it; unchanged if it contains none of them.
    package func sorted<Page>(_ pages: [Page], position: (Page) -> Int) -> [Page] {
        let known = Dictionary(pages.map { (position($0), $0) }, uniquingKeysWith: { first, _ in first })
        let ordered = self.pages.compactMap { known[$0] }
        return ordered.isEmpty ? pages : ordered
    }

    /// Whether it is valid for an archive with that many headers.
    package func fits(_ headers: Int) -> Bool {
        damage.count <= Self.mostDamage && Set(pages).count == pages.count && pages.allSatisfy { $0 < headers }
    }
}
