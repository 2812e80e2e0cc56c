extension FacetManifest {
    /// Who may call a facet.
    public struct Security: Codable, Sendable, Equatable {
        /// Whether anybody may.
        public var isPublic: Bool?
        /// Whether a caller must prove who it is.
        public var requiresAuth: Bool?

        /// Makes it.
        ///
        /// - Parameters:
        ///   - isPublic: Whether anybody may.
        ///   - requiresAuth: Whether a caller must prove who it is.
        public init(isPublic: Bool? = nil, requiresAuth: Bool? = nil) {
            self.isPublic = isPublic
            self.requiresAuth = requiresAuth
        }

        private enum CodingKeys: String, CodingKey {
            case isPublic = "public"
            case requiresAuth = "requires_auth"
        }
    }

    /// What a facet is, for people.
    public struct Meta: Codable, Sendable, Equatable {
        /// What it does.
        public var description: String?
        /// Who looks after it.
        public var owner: String?
        /// Its version.
        public var version: String?

        /// Makes it.
        ///
        /// - Parameters:
        ///   - description: What it does.
        ///   - owner: Who looks after it.
        ///   - version: Its version.
        public init(description: String? = nil, owner: String? = nil, version: String? = nil) {
            self.description = description
            self.owner = owner
            self.version = version
        }
    }

    /// How much may be asked of a facet.
    public struct Limits: Codable, Sendable, Equatable {
        /// Calls a second.
        public var maxRps: UInt32?
        /// Calls at once.
        public var maxConcurrency: UInt32?

        /// Makes it.
        ///
        /// - Parameters:
        ///   - maxRps: Calls a second.
        ///   - maxConcurrency: Calls at once.
        public init(maxRps: UInt32? = nil, maxConcurrency: UInt32? = nil) {
            self.maxRps = maxRps
            self.maxConcurrency = maxConcurrency
        }

        private enum CodingKeys: String, CodingKey {
            case maxRps = "max_rps"
            case maxConcurrency = "max_concurrency"
        }

        /// Reads the limits.
        ///
        /// - Parameter decoder: Where they are read from.
        /// - Throws: `DecodingError` that names the limit, where it is no number from 0 to 4294967295.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func limit(_ key: CodingKeys) throws -> UInt32? {
                try container.decodeIfPresent(Int64.self, forKey: key).map { number in
                    guard let limit = UInt32(exactly: number) else {
                        throw DecodingError.dataCorruptedError(
                            forKey: key, in: container,
                            debugDescription: "\(number) is not from 0 to \(UInt32.max)")
                    }
                    return limit
                }
            }
            self.init(maxRps: try limit(.maxRps), maxConcurrency: try limit(.maxConcurrency))
        }

        /// Writes the limits.
        ///
        /// - Parameter encoder: Where they are written to.
        /// - Throws: What the encoder throws.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            // Not as UInt32: TOMLKit 0.6 leaves that out without a word.
            try container.encodeIfPresent(maxRps.map(Int64.init), forKey: .maxRps)
            try container.encodeIfPresent(maxConcurrency.map(Int64.init), forKey: .maxConcurrency)
        }
    }

    /// Where a proxy passes calls on to.
    public struct Upstream: Codable, Sendable, Equatable {
        /// `http` or `https`.
        public var scheme: String
        /// Its name or address.
        public var host: String
        /// 1 to 65535.
        public var port: Int
        /// What is put before each path.
        public var basePath: String?

        /// Makes it.
        ///
        /// - Parameters:
        ///   - scheme: `http` or `https`.
        ///   - host: Its name or address.
        ///   - port: 1 to 65535.
        ///   - basePath: What is put before each path.
        public init(scheme: String, host: String, port: Int, basePath: String? = nil) {
            self.scheme = scheme
            self.host = host
            self.port = port
            self.basePath = basePath
        }

        private enum CodingKeys: String, CodingKey {
            case scheme, host, port
            case basePath = "base_path"
        }
    }

    /// Where a facet answers.
    public struct Route: Codable, Sendable, Equatable {
        /// GET, POST, PUT, PATCH or DELETE, in any case.
        public var method: String
        /// Begins with `/`; one that ends in `/*tail` stands for all below it.
        public var path: String
        /// What a static route answers with.
        public var file: String?
        /// What a proxy asks for, if not ``path``; begins with `/`.
        public var upstreamPath: String?
        /// What the file holds; loaders ignore it so far.
        public var integrity: Integrity?

        /// Makes it.
        ///
        /// - Parameters:
        ///   - method: GET, POST, PUT, PATCH or DELETE, in any case.
        ///   - path: Begins with `/`.
        ///   - file: What a static route answers with.
        ///   - upstreamPath: What a proxy asks for, if not the path.
        ///   - integrity: What the file holds.
        public init(
            _ method: String = "GET", _ path: String, file: String? = nil, upstreamPath: String? = nil,
            integrity: Integrity? = nil
        ) {
            self.method = method
            self.path = path
            self.file = file
            self.upstreamPath = upstreamPath
            self.integrity = integrity
        }

        private enum CodingKeys: String, CodingKey {
            case method, path, file, integrity
            case upstreamPath = "upstream_path"
        }

        /// Reads a route; one without a method, as in the older form, is for GET.
        ///
        /// - Parameter decoder: Where it is read from.
        /// - Throws: `DecodingError`, where the path is missing, or a key has another type.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                try container.decodeIfPresent(String.self, forKey: .method) ?? "GET",
                try container.decode(String.self, forKey: .path),
                file: try container.decodeIfPresent(String.self, forKey: .file),
                upstreamPath: try container.decodeIfPresent(String.self, forKey: .upstreamPath),
                integrity: try container.decodeIfPresent(Integrity.self, forKey: .integrity))
        }
    }

    /// What a file holds.
    public struct Integrity: Codable, Sendable, Equatable {
        /// The hash's name, as `sha256`.
        public var algo: String
        /// The hash, in base64.
        public var value: String

        /// Makes it.
        ///
        /// - Parameters:
        ///   - algo: The hash's name.
        ///   - value: The hash, in base64.
        public init(algo: String, value: String) {
            self.algo = algo
            self.value = value
        }
    }
}
