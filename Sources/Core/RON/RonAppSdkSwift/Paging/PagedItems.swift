/// The items of a paginated list (``RonClient/listAll(_:as:query:paging:)``). Only one page is in memory at a time.
public struct PagedItems<Item: Decodable & Sendable>: AsyncSequence, Sendable {
    /// An item of the list.
    public typealias Element = Item

    private let paging: PageQuery
    private let load: @Sendable (_ token: String?) async -> AppResponse<Page<Item>>

    /// Items of pages from any source.
    ///
    /// - Parameters:
    ///   - paging: The limits on pages and items.
    ///   - load: Returns the page of a token; the first for nil.
    init(paging: PageQuery, load: @escaping @Sendable (_ token: String?) async -> AppResponse<Page<Item>>) {
        self.paging = paging
        self.load = load
    }

    /// Starts at the first page.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(paging: paging, load: load) }

    /// Iterates over the items of a list.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The state after the items of the current page.
        private enum Rest {
            case page(token: String?)
            /// The server has returned this page's token before: following it would loop.
            case repetition
            case end
        }

        private static var longestToken: Int { 8_192 }

        private let paging: PageQuery
        private let load: @Sendable (_ token: String?) async -> AppResponse<Page<Item>>
        private var items: ArraySlice<Item> = []
        private var rest = Rest.page(token: nil)
        private var tokens: Set<String> = []
        private var pagesTaken = 0
        private var itemsTaken = 0

        fileprivate init(
            paging: PageQuery, load: @escaping @Sendable (_ token: String?) async -> AppResponse<Page<Item>>
        ) {
            self.paging = paging
            self.load = load
        }

        /// The next item.
        ///
        /// - Returns: The item; nil after the last one, and after an error.
        /// - Throws: ``RonProblem``, and `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> Item? {
            do {
                // Empty pages count too, so that the loop ends.
                while items.isEmpty {
                    switch rest {
                    case .page(let token): try await loadPage(token)
                    case .repetition:
                        throw Self.refused(
                            "local_page_token_repeated",
                            "The server gave the same page token twice, so the list never ends")
                    case .end: return nil
                    }
                }
                guard itemsTaken < paging.maxItems else {
                    throw Self.refused(
                        "local_too_many_items",
                        "The list has more than the \(paging.maxItems) items that maxItems of the paging allows")
                }
                itemsTaken += 1
                return items.popFirst()
            } catch {
                items = []
                rest = .end
                throw error
            }
        }

        private mutating func loadPage(_ token: String?) async throws {
            try Task.checkCancellation()
            guard pagesTaken < paging.maxPages else {
                throw Self.refused(
                    "local_too_many_pages",
                    "The list has more than the \(paging.maxPages) pages that maxPages of the paging allows")
            }
            pagesTaken += 1
            let response = await load(token)
            try Task.checkCancellation()
            let page: Page<Item>
            do {
                page = try response.get()
            } catch .problem(let problem) {
                throw problem
            } catch {
                throw RonProblem(
                    code: "local_page_missing", message: "The server answered without a page",
                    kind: RonProblem.localKind,
                    status: response.status, retryable: false)
            }
            items = page.items[...]
            // All tokens are stored, and no server accepts such a URL.
            guard page.nextPageToken?.utf8.count ?? 0 <= Self.longestToken else {
                throw Self.refused(
                    "local_page_token_too_long", "The server gave a page token of more than \(Self.longestToken) bytes")
            }
            if let next = page.nextPageToken {
                rest = tokens.insert(next).inserted ? .page(token: next) : .repetition
            } else {
                rest = .end
            }
        }

        private static func refused(_ code: String, _ message: String) -> RonProblem {
            RonProblem(code: code, message: message, kind: RonProblem.localKind, status: 0, retryable: false)
        }
    }
}
