import ComicVault
import Glibc
import Platform

/// What the benchmarks measure of the vault's store, one operation a process, so that the kernel tells what it cost.
/// The password is `password`, the key file is fixed: these vaults hold nothing.
@main
struct VaultBench {
    struct Usage: Error {}

    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("seal", 3): try seal(words[1], words[2], hash: nil)
        case ("seal", 4): try seal(words[1], words[2], hash: words[3])
        case ("init", 2): try scene(words[1]).create()
        case ("add", 3): try scene(words[1]).add(words[2])
        case ("deposit", 3): try scene(words[1]).deposit(words[2])
        case ("fill", 3): try scene(words[1]).fill(Int(words[2]) ?? 0)
        case ("read", 5): try scene(words[1]).read(words[2], at: Int64(words[3]) ?? 0, count: Int(words[4]) ?? 0)
        case ("unlock", 2): try scene(words[1]).unlocked(.password).lock()
        case ("unlock-key", 2): try scene(words[1]).unlocked(.keyFile).lock()
        case ("passwd", 2): try scene(words[1]).changePassword()
        case ("verify", 2): try scene(words[1]).verify()
        default: throw Usage()
        }
    }

    private static func scene(_ path: String) -> BenchVault { BenchVault(path: BytePath(path)) }

    /// Seals one file as the vault does, without a vault around it; where a hash is given, then reads it back as well and
    /// compares. The hash comes from the validating pass and is no part of sealing.
    private static func seal(_ source: String, _ target: String, hash: String?) throws {
        let secrets = try VaultSecrets.generate(for: .random())
        let known = hash.flatMap(bytesOf(hexadecimal:)).flatMap { ContentHash(bytes: $0) }
        let sealed = try ObjectWriter.seal(
            .archive, ObjectContent(Descriptor(BytePath(source)), hash: known ?? ContentHash(of: [])),
            for: .vault(secrets.keys), into: Descriptor(BytePath(target), O_RDWR | O_CREAT | O_EXCL))
        if known != nil { try sealed.verify() }
    }
}

/// A vault in a folder, and the host's memory of it beside it.
struct BenchVault {
    let path: BytePath

    enum Key { case password, keyFile }

    private func credential(_ key: Key) throws -> Credential {
        switch key {
        case .password: try .password(SecretBytes(Array("password".utf8)))
        case .keyFile: try .keyFile(SecretBytes(ContentHash(of: [1]).bytes))
        }
    }

    private func host() throws -> HostState { try HostState(path.appending("host")) }

    private func locked() throws -> Vault { try Vault(at: path.appending("vault"), host: host()) }

    func unlocked(_ key: Key) throws -> Vault {
        let vault = try locked()
        try vault.unlock(credential(key))
        return vault
    }

    func create() throws {
        try Durable.makeDirectory(path)
        try Vault.create(
            at: path.appending("vault"), host: host(), credentials: [credential(.password), credential(.keyFile)]
        ).lock()
    }

    /// An import from the hash on: read, hashed, sealed, synced, read back, verified, recorded.
    func add(_ archive: String) throws {
        let vault = try unlocked(.keyFile)
        let file = try Descriptor(BytePath(archive))
        let hash = try ContentHash.of(file)
        _ = try vault.add(
            NewComic(
                name: BytePath(bytes: BytePath(archive).name), archive: ObjectContent(file, hash: hash), hash: hash,
                summary: ComicSummary(title: "Bench")), duplicates: .keep)
        vault.lock()
    }

    /// The same into the locked vault.
    func deposit(_ archive: String) throws {
        let file = try Descriptor(BytePath(archive))
        let envelope = DropEnvelope(
            name: BytePath(bytes: BytePath(archive).name), source: "bench", hash: try ContentHash.of(file),
            time: .now())
        _ = try VaultDeposit.seal(file, envelope, into: path.appending("vault"), host: host())
    }

    /// Puts comics into the manifest that have no objects: what unlocking reads is as large as with them.
    func fill(_ count: Int) throws {
        let vault = try locked()
        let keys = try KeySlots(vault.folder, vault.description).open(credential(.keyFile)).secrets.keys
        let manifest = try Manifest(vault.folder, keys: keys, host: host())
        try manifest.reconcile()
        for number in 0..<count {
            let entry = ComicEntry(
                id: try .random(), name: BytePath("Amazing Comic \(number) (2021) (digital).cbz"),
                objects: try [.archive, .thumbnails, .metadata].map { kind in
                    ObjectReference(
                        id: try .random(), kind: kind, length: 1, headerMAC: try VaultRandom.bytes(32),
                        lastTag: try VaultRandom.bytes(16))
                },
                summary: ComicSummary(
                    title: "The Comic of the Number \(number)", series: "Amazing Comic", number: "\(number)", pages: 24,
                    format: "zip"),
                duplicateTag: try VaultRandom.bytes(32), source: "comics", key: try VaultRandom.bytes(32), added: .now()
            )
            try manifest.append(.added(entry))
        }
        try manifest.consolidate()
    }

    /// A page as a reader gets it: the vault opened, the object opened, the bytes verified and written.
    func read(_ name: String, at offset: Int64, count: Int) throws {
        let vault = try unlocked(.keyFile)
        guard let comic = try vault.comic(named: BytePath(name)) else { throw VaultBench.Usage() }
        let bytes = try vault.open(.archive, of: comic.id).read(at: offset, count: count)
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 else { throw Fault.system("write", "the page") }
            rest = rest.dropFirst(written)
        }
    }

    /// To the same one, so that the vault can be used again: the slot is written anew as with another.
    func changePassword() throws { _ = try locked().change(credential(.password), to: credential(.password)) }

    func verify() throws {
        let report = try unlocked(.keyFile).verify()
        print("\(report.objects) objects, \(report.bytes) bytes, \(report.findings.count) findings")
    }
}
