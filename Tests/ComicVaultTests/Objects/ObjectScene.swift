import Glibc
import OwnFiles
import Platform
import TestSupport

@testable import ComicVault

/// A folder, a vault's keys and files in it: the setup of the suites about objects.
struct ObjectScene {
    let folder: TemporaryFolder
    let secrets: VaultSecrets
    private let names = Counter()

    var keys: VaultKeys { secrets.keys }

    init() throws {
        folder = try TemporaryFolder("steward-vault")
        secrets = try VaultSecrets.generate(for: .random())
    }

    /// A new file, open for reading and writing.
    func file(_ bytes: [UInt8] = []) throws -> Descriptor {
        let file = try Descriptor(folder.path.appending("f\(names.next())"), O_RDWR | O_CREAT | O_EXCL)
        try file.write(bytes, at: 0)
        return file
    }

    /// Seals to the unlocked vault and reads back.
    func seal(_ bytes: [UInt8], _ kind: ObjectKind = .archive, for target: SealTarget? = nil) throws -> SealedObject {
        let sealed = try ObjectWriter.seal(kind, ObjectContent(bytes), for: target ?? .vault(keys), into: file())
        try sealed.verify()
        return sealed
    }

    /// The bytes of a sealed object's file.
    func bytes(_ sealed: SealedObject) throws -> [UInt8] { try sealed.file.readAll() }

    func open(_ sealed: SealedObject) throws -> ObjectReader {
        try ObjectReader(sealed.file, sealed.id, sealed.kind, with: .vault(keys))
    }

    /// Opens a file with different bytes under the sealed object's name and reads all of it.
    func readAll(_ bytes: [UInt8], as sealed: SealedObject) throws -> [UInt8] {
        try readAll(try file(bytes), as: sealed)
    }

    func readAll(_ file: Descriptor, as sealed: SealedObject) throws -> [UInt8] {
        var all: [UInt8] = []
        try ObjectReader(file, sealed.id, sealed.kind, with: .vault(keys)).stream { all += $0 }
        return all
    }
}

/// Bytes that can be repeated from a seed.
func randomBytes(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}

/// Bytes that differ everywhere and are cheap to make.
func pattern(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        for index in 0..<count { buffer[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 7) }
        filled = count
    }
}

/// A short form of an error, for tables of expectations; `truncated`, `damaged chunk 3`, …
func outcome(_ error: any Error) -> String {
    guard let error = error as? VaultError else { return "other: \(error)" }
    switch error {
    case .incorrectPassword: return "incorrect password"
    case .unusablePassword(let problem): return "unusable password: \(problem)"
    case .unusableKeyFile: return "unusable key file"
    case .notAVault: return "not a vault"
    case .unsupportedFormat: return "unsupported"
    case .wrongVault: return "wrong vault"
    case .damagedSlot: return "damaged slot"
    case .truncatedObject: return "truncated"
    case .contentChanged: return "content changed"
    case .encryptionFailed: return "encryption failed"
    case .decryptionFailed: return "decryption failed"
    case .missingObject: return "missing object"
    case .damagedObject(_, let damage):
        switch damage {
        case .header: return "damaged header"
        case .name: return "damaged name"
        case .key: return "damaged key"
        case .headerTag: return "damaged header tag"
        case .chunk(let index, _): return "damaged chunk \(index)"
        case .content: return "damaged content"
        }
    default: return "other: \(error)"
    }
}

/// The result of `body`: `ok`, or the error's ``outcome(_:)``.
func outcome(of body: () throws -> Void) -> String {
    do {
        try body()
        return "ok"
    } catch {
        return outcome(error)
    }
}

func unhex(_ text: some StringProtocol) throws -> [UInt8] {
    guard let bytes = bytesOf(hexadecimal: String(text)) else { throw TestFailure("not hexadecimal: \(text)") }
    return bytes
}

extension SecretBytes {
    /// For comparisons in tests only.
    var exposed: [UInt8] { withBytes { Array($0) } }
}
