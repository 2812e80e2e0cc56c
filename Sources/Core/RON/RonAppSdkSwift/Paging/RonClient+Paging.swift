extension RonClient {
    /// One page of a list.
    ///
    /// - Parameters:
    ///   - path: The list's path below `/app`.
    ///   - item: What the list holds.
    ///   - token: ``Page/nextPageToken`` of the page before; nil asks for the first.
    ///   - query: Further fields of the query; those of `paging` go before them.
    ///   - paging: How the page is asked for.
    /// - Returns: The page, or a problem.
    public func page<Item: Decodable & Sendable>(
        _ path: String, as item: Item.Type = Item.self, token: String? = nil, query: [String: String] = [:],
        paging: PageQuery = PageQuery()
    ) async -> AppResponse<Page<Item>> {
        let fields = query.merging(paging.fields(token: token)) { $1 }
        return await request(AppRequest(.get, path, query: fields))
    }

    /// All items of a list, page by page: the next page is asked for when the items of the last one are used up.
    ///
    /// ```swift
    /// for try await user in client.listAll("/users", as: User.self) { … }
    /// ```
    ///
    /// It ends after the last page, and throws ``RonProblem`` where a page does not come, where the server gives the same
    /// token twice (`local_page_token_repeated`) or one that no URL can hold (`local_page_token_too_long`), and where there is more than `paging` allows (`local_too_many_pages`,
    /// `local_too_many_items`), so that nobody takes a part for the whole. Items that came before are given out first.
    /// For the first few items, there is `prefix`. A cancelled task gets `CancellationError`.
    ///
    /// - Parameters:
    ///   - path: The list's path below `/app`.
    ///   - item: What the list holds.
    ///   - query: Further fields of the query; those of `paging` go before them.
    ///   - paging: How pages are asked for, and how many of them at most.
    /// - Returns: The items; each iteration asks anew from the first page on.
    public func listAll<Item: Decodable & Sendable>(
        _ path: String, as item: Item.Type = Item.self, query: [String: String] = [:], paging: PageQuery = PageQuery()
    ) -> PagedItems<Item> {
        PagedItems(paging: paging) { token in
            await self.page(path, as: item, token: token, query: query, paging: paging)
        }
    }
}
