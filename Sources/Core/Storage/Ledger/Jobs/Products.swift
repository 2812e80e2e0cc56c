import Platform

/// A file the agent made, and its origin.
package struct ProductRecord: Sendable, Equatable {
    /// Absolute.
    package var path: BytePath
    package var hash: ContentHash
    package var firstJob: String
    package var depth: Int
    /// The depth at which the file was made. Deeper entries are the same file, moved; shallower ones are its ancestors.
    package var origin: Int
    package var job: String

    /// - Parameter origin: nil means `depth`.
    package init(path: BytePath, hash: ContentHash, firstJob: String, depth: Int, origin: Int? = nil, job: String) {
        self.origin = origin ?? depth
        self.path = path
        self.hash = hash
        self.firstJob = firstJob
        self.depth = depth
        self.job = job
    }

    /// Replaces the content hash for a file that was never read: identifies the file and its last change.
    package static func stamp(of print: Fingerprint) -> ContentHash {
        let parts = [Int64(bitPattern: print.device), Int64(bitPattern: print.inode), print.size, print.modified]
        return ContentHash(of: Array("unread: \(parts)".utf8))
    }

    /// Whether `file` is this product, as the agent left it.
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

    /// Forgets judged products that no schedule or time can reach any more, such as those left by a rule that was
    /// removed or changed. Call it once the rules in force are known.
    ///
    /// - Parameters:
    ///   - start: the path, as stored, after which the next few hundred are examined.
    ///   - locate: finds the place of an absolute path, and the path below it.
    /// - Returns: where to continue; nil at the end.
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

    /// Forgets the products in a folder that no longer exists.
    ///
    /// - Returns: the unjudged ones, except hidden ones.
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
