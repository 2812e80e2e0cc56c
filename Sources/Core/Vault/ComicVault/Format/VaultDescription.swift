import FoundationEssentials
import Platform

/// `vault.json`: marks a folder as a vault and names it. It holds no secret, and is not trusted until a slot, which
/// carries an authenticated copy, has confirmed it.
package struct VaultDescription: Hashable, Sendable {
    package static let magic = "IVO1 comic vault"
    package static let format = 1
    /// Bytes.
    package static let limit = 4096

    package let id: VaultID
    /// The file, byte by byte.
    package let bytes: [UInt8]

    package init(id: VaultID) {
        self.id = id
        let text: JSON = ["magic": .string(Self.magic), "format": .integer(Self.format), "vaultID": "\(id)"]
        bytes = Array((text.sent + "\n").utf8)
    }

    /// - Parameter path: for the message.
    /// - Throws: ``VaultError/notAVault(_:why:)`` and ``VaultError/unsupportedFormat(_:what:)``.
    package init(_ bytes: [UInt8], at path: BytePath) throws {
        guard bytes.count <= Self.limit else {
            throw VaultError.notAVault(path, why: "it has more than \(Self.limit) bytes")
        }
        let fields: Fields
        do {
            fields = try JSONDecoder().decode(Fields.self, from: Data(bytes))
        } catch {
            throw VaultError.notAVault(path, why: "it cannot be read as JSON with magic, format and vaultID")
        }
        guard fields.magic == Self.magic else { throw VaultError.notAVault(path, why: "its magic is another") }
        guard fields.format == Self.format else {
            throw VaultError.unsupportedFormat(path, what: "vault format \(fields.format)")
        }
        guard let id = VaultID(hex: fields.vaultID) else {
            throw VaultError.notAVault(path, why: "its vaultID is not one")
        }
        self.id = id
        self.bytes = bytes
    }

    /// Reads the file. Blocks.
    package init(of file: Descriptor) throws {
        try self.init(try file.read(at: 0, count: Self.limit + 1), at: file.path)
    }

    private struct Fields: Decodable {
        let magic: String
        let format: Int
        let vaultID: String
    }
}
