import Platform

/// What the agent made, and from what it descends.
package struct ProductRecord: Sendable, Equatable {
    /// Absolute.
    package var path: BytePath
    package var hash: ContentHash
    package var firstJob: String
    package var depth: Int
    /// The depth at which the file was made. What is deeper is the same file, moved; what is less deep are its ancestors.
    package var origin: Int
    package var job: String

    /// - Parameter origin: nil for `depth`.
    package init(path: BytePath, hash: ContentHash, firstJob: String, depth: Int, origin: Int? = nil, job: String) {
        self.origin = origin ?? depth
        self.path = path
        self.hash = hash
        self.firstJob = firstJob
        self.depth = depth
        self.job = job
    }

    /// Stands for the content of a file that nobody has read: which one it is, and since when it is as it is.
    package static func stamp(of print: Fingerprint) -> ContentHash {
        let parts = [Int64(bitPattern: print.device), Int64(bitPattern: print.inode), print.size, print.modified]
        return ContentHash(of: Array("unread: \(parts)".utf8))
    }

    /// Whether it is this file, as the agent has left it.
    package func isStill(_ file: FileRecord) -> Bool {
        hash == file.hash || hash == Self.stamp(of: file.fingerprint)
    }
}

extension LedgerTransaction {
    package func product(_ path: BytePath) throws -> ProductRecord? {
        for form in try names.forms(path) {
            let found = try first("SELECT * FROM product WHERE path = ?", [form]) { row in
                ProductRecord(
                    path: path, hash: try row["hash"], firstJob: try row["firstJob"], depth: try row["depth"],
                    origin: try row["origin"], job: try row["job"])
            }
            if let found { return found }
        }
        return nil
    }

    private static let productUpsert = upsert(
        "product", key: ["path"], ["hash", "firstJob", "depth", "origin", "job", "made"])

    package func addProduct(_ product: ProductRecord) throws {
        try execute(
            Self.productUpsert,
            [
                try names.stored(product.path), product.hash, product.firstJob, product.depth, product.origin,
                product.job, Timestamp.now(),
            ])
    }

    /// Forgets a product that its place has judged.
    package func removeProduct(_ path: BytePath) throws {
        for form in try names.forms(path) {
            try execute("DELETE FROM product WHERE path = ?", [form])
        }
    }

    /// Forgets products that have been judged, and that no schedule and no time may come to any more: a rule that has gone,
    /// or changed, leaves them. To be called when the rules in force are known.
    ///
    /// - Parameters:
    ///   - start: the path, as the ledger has it, after which some hundred of them are looked at.
    ///   - locate: the place of an absolute path, and the path below that.
    /// - Returns: where the next begin; nil at their end.
    package func forgetJudgedProducts(
        after start: BytePath, locate: (BytePath) -> (place: String, path: BytePath)?
    ) throws -> BytePath? {
        let page = try all("SELECT path FROM product WHERE path > ? ORDER BY path LIMIT 256", [start]) { row in
            try row["path"] as BytePath
        }
        for stored in page {
            let absolute = names.shown(stored)
            guard let found = locate(absolute), let product = try product(absolute),
                let file = try file(found.place, found.path), file.present, file.hash != nil, product.isStill(file),
                !mayBeScheduled(found.place, found.path), try due(found.place, found.path).isEmpty
            else { continue }
            try removeProduct(absolute)
        }
        return page.last
    }

    /// Forgets the products in a folder, which is there no more.
    ///
    /// - Returns: those that nobody has judged, but for hidden ones.
    package func removeProducts(within path: BytePath) throws -> [ProductRecord] {
        let (low, high) = Self.below(path)
        let found = try all("SELECT path FROM product WHERE path >= ? AND path < ?", [low, high]) { row in
            try row["path"] as BytePath
        }
        let products = try found.filter { !HiddenNames.isToken($0) }.compactMap { try product($0) }
        try execute("DELETE FROM product WHERE path >= ? AND path < ?", [low, high])
        return products
    }
}
