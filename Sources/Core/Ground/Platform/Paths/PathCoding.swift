/// Lets an encoder write paths in another form, and a decoder read them back; passed to both in `userInfo` under
/// ``key``. Applies only to absolute paths.
package struct PathCoding: Sendable {
    package let encode: @Sendable (BytePath) throws -> BytePath
    package let decode: @Sendable (BytePath) throws -> BytePath
    /// Seal and open bytes that would reveal which file is at a path written in another form.
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

    /// Never nil on any platform, although the standard library cannot promise that.
    package static let key = CodingUserInfoKey(rawValue: "steward.paths")

    /// The value passed to an encoder or decoder.
    package static func of(_ userInfo: [CodingUserInfoKey: Any]) -> PathCoding? {
        key.flatMap { userInfo[$0] as? PathCoding }
    }
}
