/// What a facet is and where it answers: one file in TOML for a Micronode.
///
/// The same keys are used in JSON, where ``FacetRegistration`` sends it. ``toml(checkingFilesIn:)`` writes it, and only if
/// a Micronode's loader would accept it.
public struct FacetManifest: Sendable, Equatable {
    /// How a facet answers. A loader knows these three; others are read, and refused when they are written.
    public struct Kind: RawRepresentable, Sendable, Hashable, Codable {
        /// Its name in the manifest.
        public var rawValue: String

        /// Makes a kind.
        ///
        /// - Parameter rawValue: Its name in the manifest.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Answers with files.
        public static let `static` = Kind(rawValue: "static")
        /// Answers with `{"echo":"ok"}`.
        public static let echo = Kind(rawValue: "echo")
        /// Passes calls on to ``FacetManifest/upstream``.
        public static let proxy = Kind(rawValue: "proxy")
    }

    /// Its name in URLs: `/facets/{id}{path}`.
    public var id: String
    /// How it answers.
    public var kind: Kind
    /// Who may call it; loaders ignore it so far.
    public var security: Security?
    /// What it is, for people; loaders ignore it so far.
    public var meta: Meta?
    /// How much may be asked of it; loaders ignore it so far.
    public var limits: Limits?
    /// Where a proxy passes calls on to.
    public var upstream: Upstream?
    /// Where it answers.
    public var routes: [Route]

    /// Makes a manifest; nothing is checked yet.
    ///
    /// - Parameters:
    ///   - id: Its name in URLs.
    ///   - kind: How it answers.
    ///   - security: Who may call it.
    ///   - meta: What it is, for people.
    ///   - limits: How much may be asked of it.
    ///   - upstream: Where a proxy passes calls on to.
    ///   - routes: Where it answers.
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

    /// Reads a manifest, also in the older flat form (`id`, `kind`, `routes` with `path` and `file`). Unknown keys are
    /// ignored.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: `DecodingError`, where a key is missing or has another type, and where `upstream` is within `facet`, where
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

    /// Writes the manifest, unchecked; ``toml(checkingFilesIn:)`` checks it first.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: What the encoder throws.
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
