/// One page of a list (docs/design/ron.md, "Where they differ"): `{"items": […], "next_page_token": "…"}`.
///
/// The token is read under the names `next_page_token`, `nextPageToken`, `next_cursor` and `nextCursor`, and written
/// under the first.
public struct Page<Item> {
    /// The items, in the server's order.
    public var items: [Item]
    /// The token for the next page; nil at the end, which servers express as a token that is missing, `null` or empty.
    public var nextPageToken: String?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - nextPageToken: The token for the next page; nil or empty at the end.
    public init(items: [Item], nextPageToken: String? = nil) {
        self.items = items
        self.nextPageToken = nextPageToken.flatMap { $0.isEmpty ? nil : $0 }
    }

    private enum Key: String, CodingKey, CaseIterable {
        case items
        case token = "next_page_token"
        case camelToken = "nextPageToken"
        case cursor = "next_cursor"
        case camelCursor = "nextCursor"
    }
}

extension Page: Sendable where Item: Sendable {}
extension Page: Equatable where Item: Equatable {}

extension Page: Decodable where Item: Decodable {
    /// Decodes a page.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if items are missing or invalid, or a token is not a string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let tokens = try Key.allCases.dropFirst().map { try container.decodeIfPresent(String.self, forKey: $0) }
        self.init(
            items: try container.decode([Item].self, forKey: .items),
            nextPageToken: tokens.compactMap { $0 }.first { !$0.isEmpty })
    }
}

extension Page: Encodable where Item: Encodable {
    /// Encodes a page; the last one has no token.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(items, forKey: .items)
        try container.encodeIfPresent(nextPageToken, forKey: .token)
    }
}
