/// The query for a list's pages: its field names, and the limits of a listing.
///
/// No server has settled on names yet (docs/design/ron.md, "Decisions"), so they are settings.
public struct PageQuery: Sendable, Equatable {
    /// The field for the token.
    public var tokenName: String
    /// The fields for the page size.
    public var sizeNames: [String]
    /// The page size; nil for the server's default.
    public var pageSize: Int?
    /// The maximum number of pages of a listing.
    public var maxPages: Int
    /// The maximum number of items of a listing.
    public var maxItems: Int

    /// Uses `page_token` and `page_size`, as in the schema.
    ///
    /// - Parameters:
    ///   - tokenName: The field for the token.
    ///   - sizeNames: The fields for the page size.
    ///   - pageSize: The page size; nil for the server's default.
    ///   - maxPages: The maximum number of pages of a listing; at least 1.
    ///   - maxItems: The maximum number of items of a listing; at least 0.
    public init(
        tokenName: String = "page_token", sizeNames: [String] = ["page_size"], pageSize: Int? = nil,
        maxPages: Int = 1_000, maxItems: Int = 100_000
    ) {
        self.tokenName = tokenName
        self.sizeNames = sizeNames
        self.pageSize = pageSize
        self.maxPages = max(maxPages, 1)
        self.maxItems = max(maxItems, 0)
    }

    /// Uses `cursor`, `limit` and `page_size`, like the Python client.
    ///
    /// - Parameters:
    ///   - pageSize: The page size; nil for the server's default.
    ///   - maxPages: The maximum number of pages of a listing; at least 1.
    ///   - maxItems: The maximum number of items of a listing; at least 0.
    /// - Returns: The query.
    public static func cursors(
        pageSize: Int? = nil, maxPages: Int = 1_000, maxItems: Int = 100_000
    ) -> PageQuery {
        PageQuery(
            tokenName: "cursor", sizeNames: ["limit", "page_size"], pageSize: pageSize, maxPages: maxPages,
            maxItems: maxItems)
    }

    /// The query fields for a page.
    ///
    /// - Parameter token: The page's token; nil for the first page.
    /// - Returns: Names and values.
    func fields(token: String?) -> [String: String] {
        var fields: [String: String] = [:]
        if let pageSize { for name in sizeNames { fields[name] = String(pageSize) } }
        if let token { fields[tokenName] = token }
        return fields
    }
}
