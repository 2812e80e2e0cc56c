/// A Micronode's answer to `GET /facets/meta`: the loaded facets.
public struct LoadedFacets: Codable, Sendable, Equatable {
    /// The facets.
    public var loaded: [LoadedFacet]

    /// Creates the answer.
    ///
    /// - Parameter loaded: The facets.
    public init(loaded: [LoadedFacet]) { self.loaded = loaded }
}

/// A facet loaded by a Micronode.
public struct LoadedFacet: Codable, Sendable, Equatable {
    /// Its name in URLs.
    public var id: String
    /// Its kind.
    public var kind: FacetManifest.Kind
    /// Its routes.
    public var routes: [LoadedRoute]
    /// The server to which it forwards calls, as the node describes it.
    public var upstream: JSONValue?

    /// Creates a loaded facet.
    ///
    /// - Parameters:
    ///   - id: Its name in URLs.
    ///   - kind: Its kind.
    ///   - routes: Its routes.
    ///   - upstream: The server to which it forwards calls.
    public init(id: String, kind: FacetManifest.Kind, routes: [LoadedRoute], upstream: JSONValue? = nil) {
        self.id = id
        self.kind = kind
        self.routes = routes
        self.upstream = upstream
    }
}

/// A route of a facet loaded by a Micronode.
public struct LoadedRoute: Codable, Sendable, Equatable {
    /// In upper case.
    public var method: String
    /// Begins with `/`.
    public var path: String

    /// Creates a loaded route.
    ///
    /// - Parameters:
    ///   - method: In upper case.
    ///   - path: Begins with `/`.
    public init(method: String, path: String) {
        self.method = method
        self.path = path
    }
}
