/// How a list is asked for its pages: the names of the query's fields, and how far a listing goes.
///
/// No server has settled on names yet (docs/design/ron.md, "Decisions"), so they are settings.
public struct PageQuery: Sendable, Equatable {
    /// The field that holds the token.
    public var tokenName: String
    /// The fields that hold how many items are wanted on a page.
    public var sizeNames: [String]
    /// How many items are wanted on a page; nil leaves it to the server.
    public var pageSize: Int?
    /// How many pages a listing takes before it gives up.
    public var maxPages: Int
    /// How many items a listing takes before it gives up.
    public var maxItems: Int

    /// Asks by `page_token` and `page_size`, as the schema has it.
    ///
    /// - Parameters:
    ///   - tokenName: The field that holds the token.
    ///   - sizeNames: The fields that hold how many items are wanted on a page.
    ///   - pageSize: How many items are wanted on a page; nil leaves it to the server.
    ///   - maxPages: How many pages a listing takes before it gives up; at least 1.
    ///   - maxItems: How many items a listing takes before it gives up; at least 0.
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

    /// Asks by `cursor`, `limit` and `page_size`, as the Python client does.
    ///
    /// - Parameters:
    ///   - pageSize: How many items are wanted on a page; nil leaves it to the server.
    ///   - maxPages: How many pages a listing takes before it gives up; at least 1.
    ///   - maxItems: How many items a listing takes before it gives up; at least 0.
    /// - Returns: The query.
    public static func cursors(
        pageSize: Int? = nil, maxPages: Int = 1_000, maxItems: Int = 100_000
    ) -> PageQuery {
        PageQuery(
            tokenName: "cursor", sizeNames: ["limit", "page_size"], pageSize: pageSize, maxPages: maxPages,
            maxItems: maxItems)
    }

    /// The fields of the query for a page.
    ///
    /// - Parameter token: What asks for the page; nil for the first.
    /// - Returns: Names and values.
    func fields(token: String?) -> [String: String] {
        var fields: [String: String] = [:]
        if let pageSize { for name in sizeNames { fields[name] = String(pageSize) } }
        if let token { fields[tokenName] = token }
        return fields
    }
}
