import Platform

extension LedgerTransaction {
    /// Where in a place files of so many bytes lay when they were last seen.
    ///
    /// - Returns: nil where one of them is known by its token alone.
    package func paths(in place: String, ofSize size: Int64) throws -> [BytePath]? {
        let found = try all(
            "SELECT path FROM file WHERE place = ? AND size = ? AND present = 1 ORDER BY path", [place, size]
        ) { names.shown(place, try $0[0]) }
        return found.contains(where: HiddenNames.isToken) ? nil : found
    }

    /// Where the agent has put a content, in places that have not judged it yet, and in those whose schedules may come to it.
    package func products(of hash: ContentHash) throws -> [BytePath] {
        try values("SELECT path FROM product WHERE hash = ? ORDER BY path", [hash])
    }
}
