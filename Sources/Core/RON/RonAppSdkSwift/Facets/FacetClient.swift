/// Calls one facet: every path is prefixed with `/facets/{id}` (docs/design/ron.md, "Decisions").
///
/// Servers use different prefixes, so ``RonConfig/facetPrefix`` is a setting: `/facets` by default; empty for
/// `/app/{id}`, as in the TypeScript and Python clients.
public struct FacetClient: Sendable {
    /// The client that makes the calls.
    public let client: RonClient
    /// The facet's name.
    public let id: String

    /// Creates a client for a facet; used by ``RonClient/facet(_:)``.
    ///
    /// - Parameters:
    ///   - client: The client that makes the calls.
    ///   - id: The facet's name: one path segment, without slashes.
    init(client: RonClient, id: String) {
        self.client = client
        self.id = id
    }

    /// The path of one of the facet's routes, for APIs that take paths:
    /// `client.subscribe(path: facet.path("/events"))`.
    ///
    /// - Parameter route: The route's path; a leading `/` is added if missing.
    /// - Returns: The path with `/app`.
    /// - Throws: ``LocalNetworkError`` with the code `local_invalid_facet` if the id is not a path segment, and so
    ///   would lead elsewhere.
    public func path(_ route: String) throws(LocalNetworkError) -> String {
        guard !id.isEmpty, !id.contains("/"), ![".", ".."].contains(id) else {
            throw LocalNetworkError(
                code: "local_invalid_facet", message: "\(quoted(id)) is no facet's id; give its name alone, without /")
        }
        // With `/app`, so that a facet of that name is not mistaken for it.
        return "/app\(client.settings.facetPrefix)/\(id)"
            + (route.isEmpty || route.hasPrefix("/") ? route : "/\(route)")
    }

    /// Makes a call.
    ///
    /// - Parameters:
    ///   - request: The request; its path is one of the facet's routes.
    ///   - type: The type to decode the answer's JSON as.
    /// - Returns: The result.
    public func request<T: Decodable & Sendable>(
        _ request: AppRequest, as type: T.Type = T.self
    ) async -> AppResponse<T> {
        var request = request
        do {
            request.path = try path(request.path)
        } catch {
            return client.refuse(request, error)
        }
        return await client.request(request)
    }

    /// Makes a GET call.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - query: The query.
    /// - Returns: The result.
    public func get<T: Decodable & Sendable>(_ path: String, query: [String: String]? = nil) async -> AppResponse<T> {
        await request(AppRequest(.get, path, query: query ?? [:]))
    }

    /// Makes a POST call, which creates, or starts an operation.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - body: The body, sent as JSON.
    ///   - query: The query.
    /// - Returns: The result.
    public func post<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.post, path, query: query ?? [:], body: body))
    }

    /// Makes a PUT call, which replaces.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - body: The body, sent as JSON.
    ///   - query: The query.
    /// - Returns: The result.
    public func put<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.put, path, query: query ?? [:], body: body))
    }

    /// Makes a PATCH call, which updates in part.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - body: The body, sent as JSON.
    ///   - query: The query.
    /// - Returns: The result.
    public func patch<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.patch, path, query: query ?? [:], body: body))
    }

    /// Makes a DELETE call.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - body: The body, sent as JSON.
    ///   - query: The query.
    /// - Returns: The result.
    public func delete<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.delete, path, query: query ?? [:], body: body))
    }
}

extension RonClient {
    /// A client for one facet.
    ///
    /// - Parameter id: The facet's name: one path segment, without slashes. Otherwise calls return the problem
    ///   `local_invalid_facet`, and nothing is sent.
    /// - Returns: The client.
    public func facet(_ id: String) -> FacetClient { FacetClient(client: self, id: id) }

    /// The facets loaded by a Micronode: `GET` of `meta` below ``RonConfig/facetPrefix``.
    ///
    /// - Returns: The facets, or a problem.
    public func loadedFacets() async -> AppResponse<LoadedFacets> { await facet("meta").get("") }
}
