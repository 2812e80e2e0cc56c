extension FacetManifest {
    /// The access rules of a facet.
    public struct Security: Codable, Sendable, Equatable {
        /// Whether it is public.
        public var isPublic: Bool?
        /// Whether callers must authenticate.
        public var requiresAuth: Bool?

        /// Creates access rules.
        ///
        /// - Parameters:
        ///   - isPublic: Whether it is public.
        ///   - requiresAuth: Whether callers must authenticate.
        public init(isPublic: Bool? = nil, requiresAuth: Bool? = nil) {
            self.isPublic = isPublic
            self.requiresAuth = requiresAuth
        }

        private enum CodingKeys: String, CodingKey {
            case isPublic = "public"
            case requiresAuth = "requires_auth"
        }
    }

    /// A description of a facet, for people.
    public struct Meta: Codable, Sendable, Equatable {
        /// Its purpose.
        public var description: String?
        /// Its maintainer.
        public var owner: String?
        /// Its version.
        public var version: String?

        /// Creates a description.
        ///
        /// - Parameters:
        ///   - description: Its purpose.
        ///   - owner: Its maintainer.
        ///   - version: Its version.
        public init(description: String? = nil, owner: String? = nil, version: String? = nil) {
            self.description = description
            self.owner = owner
            self.version = version
        }
    }

    /// The load limits of a facet.
    public struct Limits: Codable, Sendable, Equatable {
        /// Calls per second.
        public var maxRps: UInt32?
        /// Concurrent calls.
        public var maxConcurrency: UInt32?

        /// Creates limits.
        ///
        /// - Parameters:
        ///   - maxRps: Calls per second.
        ///   - maxConcurrency: Concurrent calls.
        public init(maxRps: UInt32? = nil, maxConcurrency: UInt32? = nil) {
            self.maxRps = maxRps
            self.maxConcurrency = maxConcurrency
        }

        private enum CodingKeys: String, CodingKey {
            case maxRps = "max_rps"
            case maxConcurrency = "max_concurrency"
        }

        /// Decodes limits.
        ///
        /// - Parameter decoder: The decoder.
        /// - Throws: `DecodingError` that names the limit unless it is a number from 0 to 4294967295.
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

        /// Encodes limits.
        ///
        /// - Parameter encoder: The encoder.
        /// - Throws: Any error from the encoder.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            // Not as UInt32, which TOMLKit 0.6 silently drops.
            try container.encodeIfPresent(maxRps.map(Int64.init), forKey: .maxRps)
            try container.encodeIfPresent(maxConcurrency.map(Int64.init), forKey: .maxConcurrency)
        }
    }

    /// The server to which a proxy forwards calls.
    public struct Upstream: Codable, Sendable, Equatable {
        /// `http` or `https`.
        public var scheme: String
        /// Its host name or address.
        public var host: String
        /// 1 to 65535.
        public var port: Int
        /// The prefix of each path.
        public var basePath: String?

        /// Creates an upstream.
        ///
        /// - Parameters:
        ///   - scheme: `http` or `https`.
        ///   - host: Its host name or address.
        ///   - port: 1 to 65535.
        ///   - basePath: The prefix of each path.
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

    /// A route of a facet.
    public struct Route: Codable, Sendable, Equatable {
        /// GET, POST, PUT, PATCH or DELETE, in any case.
        public var method: String
        /// Begins with `/`; a trailing `/*tail` matches everything below.
        public var path: String
        /// The file that a static route serves.
        public var file: String?
        /// The path that a proxy requests, if not ``path``; begins with `/`.
        public var upstreamPath: String?
        /// The hash of the file; loaders ignore it so far.
        public var integrity: Integrity?

        /// Creates a route.
        ///
        /// - Parameters:
        ///   - method: GET, POST, PUT, PATCH or DELETE, in any case.
        ///   - path: Begins with `/`.
        ///   - file: The file that a static route serves.
        ///   - upstreamPath: The path that a proxy requests, if not the path.
        ///   - integrity: The hash of the file.
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

        /// Decodes a route; without a method, as in the older form, it is a GET route.
        ///
        /// - Parameter decoder: The decoder.
        /// - Throws: `DecodingError` if the path is missing, or a key has the wrong type.
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

    /// The hash of a file.
    public struct Integrity: Codable, Sendable, Equatable {
        /// The algorithm, for example `sha256`.
        public var algo: String
        /// The hash, in base64.
        public var value: String

        /// Creates a hash.
        ///
        /// - Parameters:
        ///   - algo: The algorithm.
        ///   - value: The hash, in base64.
        public init(algo: String, value: String) {
            self.algo = algo
            self.value = value
        }
    }
}
