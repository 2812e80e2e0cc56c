/// The description and routes of a facet: one TOML file for a Micronode.
///
/// The same keys are used in the JSON that ``FacetRegistration`` sends. ``toml(checkingFilesIn:)`` writes TOML only if
/// a Micronode's loader would accept it.
public struct FacetManifest: Sendable, Equatable {
    /// The kind of a facet. A loader knows these three; others can be read, but not written.
    public struct Kind: RawRepresentable, Sendable, Hashable, Codable {
        /// Its name in the manifest.
        public var rawValue: String

        /// Creates a kind.
        ///
        /// - Parameter rawValue: Its name in the manifest.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Serves files.
        public static let `static` = Kind(rawValue: "static")
        /// Answers with `{"echo":"ok"}`.
        public static let echo = Kind(rawValue: "echo")
        /// Forwards calls to ``FacetManifest/upstream``.
        public static let proxy = Kind(rawValue: "proxy")
    }

    /// Its name in URLs: `/facets/{id}{path}`.
    public var id: String
    /// Its kind.
    public var kind: Kind
    /// Its access rules; loaders ignore them so far.
    public var security: Security?
    /// Its description, for people; loaders ignore it so far.
    public var meta: Meta?
    /// Its load limits; loaders ignore them so far.
    public var limits: Limits?
    /// The server to which a proxy forwards calls.
    public var upstream: Upstream?
    /// Its routes.
    public var routes: [Route]

    /// Creates a manifest, unchecked.
    ///
    /// - Parameters:
    ///   - id: Its name in URLs.
    ///   - kind: Its kind.
    ///   - security: Its access rules.
    ///   - meta: Its description, for people.
    ///   - limits: Its load limits.
    ///   - upstream: The server to which a proxy forwards calls.
    ///   - routes: Its routes.
    public init(
        id: String, kind: Kind, security: Security? = nil, meta: Meta? = nil, limits: Limits? = nil,
        upstream: Upstream? = nil, routes: [Route] = []
    ) {
        self.id = id
        self.kind = kind
        self.security = security
        self.meta = meta
        self.limits = limits
        self.upstream = upstream
        self.routes = routes
    }
}

extension FacetManifest: Codable {
    private enum Key: String, CodingKey {
        case facet, upstream, route
        // The flat form.
        case id, kind, routes
    }

    private enum FacetKey: String, CodingKey { case id, kind, security, meta, limits, upstream }

    /// Decodes a manifest, also in the older flat form (`id`, `kind`, `routes` with `path` and `file`). Unknown keys
    /// are ignored.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if a key is missing or has the wrong type, or if `upstream` is inside `facet`, where
    ///   loaders do not look for it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard container.contains(.facet) else {
            self.init(
                id: try container.decode(String.self, forKey: .id),
                kind: try container.decode(Kind.self, forKey: .kind),
                upstream: try container.decodeIfPresent(Upstream.self, forKey: .upstream),
                routes: try container.decodeIfPresent([Route].self, forKey: .routes) ?? [])
            return
        }
        let facet = try container.nestedContainer(keyedBy: FacetKey.self, forKey: .facet)
        guard !facet.contains(.upstream) else {
            throw DecodingError.dataCorruptedError(
                forKey: .upstream, in: facet,
                debugDescription: "Loaders refuse [facet.upstream]; move it to the top as [upstream]")
        }
        self.init(
            id: try facet.decode(String.self, forKey: .id),
            kind: try facet.decode(Kind.self, forKey: .kind),
            security: try facet.decodeIfPresent(Security.self, forKey: .security),
            meta: try facet.decodeIfPresent(Meta.self, forKey: .meta),
            limits: try facet.decodeIfPresent(Limits.self, forKey: .limits),
            upstream: try container.decodeIfPresent(Upstream.self, forKey: .upstream),
            routes: try container.decodeIfPresent([Route].self, forKey: .route) ?? [])
    }

    /// Encodes the manifest, unchecked; ``toml(checkingFilesIn:)`` checks it first.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var facet = container.nestedContainer(keyedBy: FacetKey.self, forKey: .facet)
        try facet.encode(id, forKey: .id)
        try facet.encode(kind, forKey: .kind)
        try facet.encodeIfPresent(security, forKey: .security)
        try facet.encodeIfPresent(meta, forKey: .meta)
        try facet.encodeIfPresent(limits, forKey: .limits)
        try container.encodeIfPresent(upstream, forKey: .upstream)
        try container.encode(routes, forKey: .route)
    }
}
