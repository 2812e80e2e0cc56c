/// Calls one facet: every path is put behind `/facets/{id}` (docs/design/ron.md, "Decisions").
///
/// Servers differ in what goes before a facet's name, so ``RonConfig/facetPrefix`` is a setting: `/facets` unless given;
/// empty for `/app/{id}`, as the TypeScript and Python clients have it.
public struct FacetClient: Sendable {
    /// The client that makes the calls.
    public let client: RonClient
    /// The facet's name.
    public let id: String

    /// Makes a client for a facet; ``RonClient/facet(_:)`` does.
    ///
    /// - Parameters:
    ///   - client: The client that makes the calls.
    ///   - id: The facet's name: one part of a path, without slashes.
    init(client: RonClient, id: String) {
        self.client = client
        self.id = id
    }

    /// The path of one of the facet's routes, for what takes paths: `client.subscribe(path: facet.path("/events"))`.
    ///
    /// - Parameter route: The route's path; `/` is put before it where it is missing.
    /// - Returns: The path with `/app`.
    /// - Throws: ``LocalNetworkError`` of the code `local_invalid_facet`, where the id is no part of a path, and so would
    ///   lead elsewhere.
    public func path(_ route: String) throws(LocalNetworkError) -> String {
        guard !id.isEmpty, !id.contains("/"), ![".", ".."].contains(id) else {
            throw LocalNetworkError(
                code: "local_invalid_facet", message: "\(quoted(id)) is no facet's id; give its name alone, without /")
        }
        // With `/app`, so that a facet of that name is not taken for it.
        return "/app\(client.settings.facetPrefix)/\(id)"
            + (route.isEmpty || route.hasPrefix("/") ? route : "/\(route)")
    }

    /// Makes a call.
    ///
    /// - Parameters:
    ///   - request: What is sent; its path is one of the facet's routes.
    ///   - type: What the answer's JSON is read as.
    /// - Returns: What came of it.
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

    /// Reads.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func get<T: Decodable & Sendable>(_ path: String, query: [String: String]? = nil) async -> AppResponse<T> {
        await request(AppRequest(.get, path, query: query ?? [:]))
    }

    /// Creates, or starts something.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - body: What is sent as JSON.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func post<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.post, path, query: query ?? [:], body: body))
    }

    /// Replaces.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - body: What is sent as JSON.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func put<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.put, path, query: query ?? [:], body: body))
    }

    /// Changes in part.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - body: What is sent as JSON.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func patch<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.patch, path, query: query ?? [:], body: body))
    }

    /// Removes.
    ///
    /// - Parameters:
    ///   - path: The route's path.
    ///   - body: What is sent as JSON.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func delete<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.delete, path, query: query ?? [:], body: body))
    }
}

extension RonClient {
    /// A client for one facet.
    ///
    /// - Parameter id: The facet's name: one part of a path, without slashes. With another one, calls answer with the
    ///   problem `local_invalid_facet`, and nothing is sent.
    /// - Returns: The client.
    public func facet(_ id: String) -> FacetClient { FacetClient(client: self, id: id) }

    /// The facets that a Micronode has loaded: `GET` of `meta` below ``RonConfig/facetPrefix``.
    ///
    /// - Returns: The facets, or a problem.
    public func loadedFacets() async -> AppResponse<LoadedFacets> { await facet("meta").get("") }
}
