extension RonClient {
    /// One page of a list.
    ///
    /// - Parameters:
    ///   - path: The list's path below `/app`.
    ///   - item: The type of the items.
    ///   - token: ``Page/nextPageToken`` of the page before; nil for the first page.
    ///   - query: Further query fields; those of `paging` take precedence.
    ///   - paging: The page's query.
    /// - Returns: The page, or a problem.
    public func page<Item: Decodable & Sendable>(
        _ path: String, as item: Item.Type = Item.self, token: String? = nil, query: [String: String] = [:],
        paging: PageQuery = PageQuery()
    ) async -> AppResponse<Page<Item>> {
        let fields = query.merging(paging.fields(token: token)) { $1 }
        return await request(AppRequest(.get, path, query: fields))
    }

    /// All items of a list, page by page: the next page is requested when the items of the last one are used up.
    ///
    /// ```swift
    /// for try await user in client.listAll("/users", as: User.self) { … }
    /// ```
    ///
    /// It ends after the last page. It throws ``RonProblem`` if a page cannot be loaded, if the server returns the same
    /// token twice (`local_page_token_repeated`) or one that is too long for a URL (`local_page_token_too_long`), and
    /// if there is more than `paging` allows (`local_too_many_pages`, `local_too_many_items`), so that a partial list
    /// is not mistaken for the whole. Items before the error are returned first. For the first few items, use `prefix`.
    /// A cancelled task gets `CancellationError`.
    ///
    /// - Parameters:
    ///   - path: The list's path below `/app`.
    ///   - item: The type of the items.
    ///   - query: Further query fields; those of `paging` take precedence.
    ///   - paging: The pages' query and limits.
    /// - Returns: The items; each iteration starts over at the first page.
    public func listAll<Item: Decodable & Sendable>(
        _ path: String, as item: Item.Type = Item.self, query: [String: String] = [:], paging: PageQuery = PageQuery()
    ) -> PagedItems<Item> {
        PagedItems(paging: paging) { token in
            await self.page(path, as: item, token: token, query: query, paging: paging)
        }
    }
}
