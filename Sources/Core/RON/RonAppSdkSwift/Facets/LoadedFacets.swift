/// What a Micronode answers to `GET /facets/meta`: the facets that it has loaded.
public struct LoadedFacets: Codable, Sendable, Equatable {
    /// The facets.
    public var loaded: [LoadedFacet]

    /// Makes it.
    ///
    /// - Parameter loaded: The facets.
    public init(loaded: [LoadedFacet]) { self.loaded = loaded }
}

/// A facet that a Micronode has loaded.
public struct LoadedFacet: Codable, Sendable, Equatable {
    /// Its name in URLs.
    public var id: String
    /// How it answers.
    public var kind: FacetManifest.Kind
    /// Where it answers.
    public var routes: [LoadedRoute]
    /// Where it passes calls on to, as the node describes it.
    public var upstream: JSONValue?

    /// Makes it.
    ///
    /// - Parameters:
    ///   - id: Its name in URLs.
    ///   - kind: How it answers.
    ///   - routes: Where it answers.
    ///   - upstream: Where it passes calls on to.
    public init(id: String, kind: FacetManifest.Kind, routes: [LoadedRoute], upstream: JSONValue? = nil) {
        self.id = id
        self.kind = kind
        self.routes = routes
        self.upstream = upstream
    }
}

/// A route of a facet that a Micronode has loaded.
public struct LoadedRoute: Codable, Sendable, Equatable {
    /// In capitals.
    public var method: String
    /// Begins with `/`.
    public var path: String

    /// Makes it.
    ///
    /// - Parameters:
    ///   - method: In capitals.
    ///   - path: Begins with `/`.
    public init(method: String, path: String) {
        self.method = method
        self.path = path
    }
}
