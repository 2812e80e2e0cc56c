import Platform

extension LedgerTransaction {
    /// Last known paths in a place of files of that size.
    ///
    /// - Returns: nil if one of them is known only by its token.
    package func paths(in place: String, ofSize size: Int64) throws -> [BytePath]? {
        let found = try all(
            "SELECT path FROM file WHERE place = ? AND size = ? AND present = 1 ORDER BY path", [place, size]
        ) { names.shown(place, try $0[0]) }
        return found.contains(where: HiddenNames.isToken) ? nil : found
    }

    /// Where the agent has put a content: in places that have not judged it yet, and in those whose schedules may reach
    /// it.
    package func products(of hash: ContentHash) throws -> [BytePath] {
        try values("SELECT path FROM product WHERE hash = ? ORDER BY path", [hash])
    }
}
