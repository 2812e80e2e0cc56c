/// Lets an encoder write paths in another form than they have, and a decoder read them back: given to both in their
/// `userInfo` under ``key``. Only absolute paths are asked about.
package struct PathCoding: Sendable {
    package let encode: @Sendable (BytePath) throws -> BytePath
    package let decode: @Sendable (BytePath) throws -> BytePath
    /// For what would tell which file stands at a path that is written in another form: seals bytes, and opens them.
    package let seal: @Sendable ([UInt8]) throws -> [UInt8]
    package let open: @Sendable ([UInt8]) throws -> [UInt8]

    package init(
        encode: @escaping @Sendable (BytePath) throws -> BytePath,
        decode: @escaping @Sendable (BytePath) throws -> BytePath,
        seal: @escaping @Sendable ([UInt8]) throws -> [UInt8], open: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
        self.encode = encode
        self.decode = decode
        self.seal = seal
        self.open = open
    }

    /// Nil on no platform that there is; the standard library cannot know.
    package static let key = CodingUserInfoKey(rawValue: "steward.paths")

    /// The one that an encoder or decoder was given.
    package static func of(_ userInfo: [CodingUserInfoKey: Any]) -> PathCoding? {
        key.flatMap { userInfo[$0] as? PathCoding }
    }
}
