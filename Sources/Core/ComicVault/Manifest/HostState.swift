import Glibc
import Platform

/// What this host remembers of one vault, outside of it, where a writer to the vault's folder cannot reach: the pinned
/// public key, the high-water mark of the manifest, and its own deposits. Files are replaced durably. Everything blocks.
package struct HostState: Sendable {
    package let folder: BytePath

    /// - Parameter folder: one for each vault that the configuration names; made with mode 0700 where it is missing.
    package init(_ folder: BytePath) throws {
        self.folder = folder
        try Durable.makeDirectory(folder, mode: 0o700)
    }

    private var markFile: BytePath { folder.appending("mark") }
    private var pinFile: BytePath { folder.appending("pin") }
    private var depositFolder: BytePath { folder.appending("deposits") }

    // MARK: the high-water mark

    /// - Returns: nil where there is none: the vault is used on this host for the first time, or the mark was lost.
    /// - Throws: ``VaultError/hostStateDamaged(_:)`` for a file that holds something else.
    package func mark() throws -> HighWaterMark? {
        try read(markFile) { fields in
            guard let vault = fields.value("vault").flatMap({ VaultID(hex: $0) }), let gen = fields.number("gen"),
                let seq = fields.number("seq"), let tag = fields.value("head").flatMap(bytesOf(hexadecimal:)),
                tag.count == AESGCM.tagSize
            else { return nil }
            return HighWaterMark(vault: vault, head: ManifestHead(gen: gen, seq: seq, tag: tag))
        }
    }

    package func replaceMark(_ mark: HighWaterMark) throws {
        let head = mark.head
        try write(
            markFile,
            [
                ("vault", mark.vault.description), ("gen", String(head.gen)), ("seq", String(head.seq)),
                ("head", hexadecimal(head.tag)),
            ])
    }

    // MARK: the pin

    /// The vaults that deposits may be sealed to: one, or while a rekey is being settled both.
    ///
    /// - Returns: an empty list where nothing is trusted yet.
    package func pins() throws -> [HostPin] {
        try read(pinFile) { fields in
            let pins = fields.lines.compactMap { HostPin(line: $0) }
            return pins.count == fields.lines.count && (1...2).contains(pins.count) ? pins : nil
        } ?? []
    }

    package func replacePins(_ pins: [HostPin]) throws {
        try write(pinFile, pins.map { ($0.vault.description, hexadecimal($0.publicKey)) })
    }

    // MARK: the holder

    /// Notes that this process has the vault unlocked. For a message only, and so neither synced nor missed.
    package func noteHolder() {
        let text = Array("\(getpid())\n".utf8)
        guard let file = try? Descriptor(folder.appending("holder"), O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600) else {
            return
        }
        _ = text.withUnsafeBytes { Glibc.write(file.raw, $0.baseAddress, $0.count) }
    }

    /// The process that last unlocked the vault on this host, if it is there still: it keeps its open files to itself, so
    /// that /proc may not tell.
    package func holder() -> (id: Int32, name: String)? {
        guard let bytes = try? Descriptor(folder.appending("holder")).read(at: 0, count: 16),
            let id = Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)),
            let name = try? Descriptor(BytePath("/proc/\(id)/comm")).read(at: 0, count: 64)
        else { return nil }
        return (id, BytePath.escape(name.filter { $0 != UInt8(ascii: "\n") }))
    }

    // MARK: the deposits

    /// What this host has sealed to the vault and not yet seen taken in, by name.
    package func deposits() throws -> [ObjectID: HostDeposit] {
        guard try FileStatus.of(depositFolder) != nil else { return [:] }
        var found: [ObjectID: HostDeposit] = [:]
        for entry in try listDirectory(depositFolder) {
            guard let id = ObjectID(hex: String(decoding: entry.name, as: UTF8.self)) else { continue }
            found[id] = try read(depositFolder.appending(name: entry.name)) { fields in
                guard let vault = fields.value("vault").flatMap({ VaultID(hex: $0) }),
                    let length = fields.number("length"),
                    let mac = fields.value("header").flatMap(bytesOf(hexadecimal:)), mac.count == 32
                else { return nil }
                return HostDeposit(
                    drop: id, vault: vault, length: length, headerMAC: mac, isSettled: fields.value("settled") != nil)
            }
        }
        return found
    }

    package func remember(_ deposit: HostDeposit) throws {
        try Durable.makeDirectory(depositFolder, mode: 0o700)
        try write(
            depositFolder.appending(deposit.drop.description),
            [
                ("vault", deposit.vault.description), ("length", String(deposit.length)),
                ("header", hexadecimal(deposit.headerMAC)),
            ] + (deposit.isSettled ? [("settled", "yes")] : []))
    }

    package func forget(_ drop: ObjectID) throws {
        guard try FileStatus.of(depositFolder) != nil else { return }
        try Durable.remove(depositFolder.appending(drop.description))
        try Durable.syncDirectory(depositFolder)
    }

    /// Forgets everything, and removes the folder.
    package func removeAll() throws {
        guard try FileStatus.of(folder) != nil else { return }
        for drop in try deposits().keys { try forget(drop) }
        for file in [markFile, pinFile, folder.appending("holder")] { try Durable.remove(file) }
        for directory in [depositFolder, folder] {
            guard directory.withCString({ rmdir($0) }) == 0 || errno == ENOENT || errno == ENOTEMPTY else {
                throw Fault.system("remove the folder", directory)
            }
        }
        try Durable.syncDirectory(folder.parent)
    }

    // MARK: files

    private func write(_ path: BytePath, _ fields: [(String, String)]) throws {
        let text = "steward vault 1\n" + fields.map { "\($0.0) \($0.1)\n" }.joined()
        try Durable.replaceOwn(path, with: Array(text.utf8))
    }

    private func read<T>(_ path: BytePath, _ decode: (Fields) -> T?) throws -> T? {
        guard try FileStatus.of(path) != nil else { return nil }
        let bytes = try Descriptor(path).readAll(limit: 4096)
        guard let text = String(validating: bytes, as: UTF8.self), let fields = Fields(text), let value = decode(fields)
        else { throw VaultError.hostStateDamaged(path) }
        return value
    }

    /// Lines of a name and a value, after a first line that names the format.
    private struct Fields {
        let lines: [(name: String, value: String)]

        init?(_ text: String) {
            guard text.hasPrefix("steward vault 1\n"), text.hasSuffix("\n") else { return nil }
            let lines = text.split(separator: "\n").dropFirst().map { $0.split(separator: " ").map(String.init) }
            guard lines.allSatisfy({ $0.count == 2 }) else { return nil }
            self.lines = lines.map { ($0[0], $0[1]) }
        }

        func value(_ name: String) -> String? { lines.first { $0.name == name }?.value }

        func number(_ name: String) -> UInt64? { value(name).flatMap { UInt64($0) } }
    }
}

/// How far the manifest had got when this host last saw it.
package struct HighWaterMark: Hashable, Sendable {
    package let vault: VaultID
    package let head: ManifestHead

    package init(vault: VaultID, head: ManifestHead) {
        self.vault = vault
        self.head = head
    }
}

/// A vault that this host trusts: nothing is sealed to any other key.
package struct HostPin: Hashable, Sendable {
    package let vault: VaultID
    /// 32 bytes (X25519).
    package let publicKey: [UInt8]

    package init(vault: VaultID, publicKey: [UInt8]) {
        self.vault = vault
        self.publicKey = publicKey
    }

    fileprivate init?(line: (name: String, value: String)) {
        guard let vault = VaultID(hex: line.name), let key = bytesOf(hexadecimal: line.value), key.count == 32 else {
            return nil
        }
        self.init(vault: vault, publicKey: key)
    }
}

/// A comic that this host has sealed while the vault was locked.
package struct HostDeposit: Hashable, Sendable {
    package let drop: ObjectID
    package let vault: VaultID
    /// Bytes of the content: envelope and archive.
    package let length: UInt64
    /// 32 bytes.
    package let headerMAC: [UInt8]
    /// It has been taken in, or was not wanted: its file goes, or has gone, without anything to be said about it.
    package let isSettled: Bool

    package init(drop: ObjectID, vault: VaultID, length: UInt64, headerMAC: [UInt8], isSettled: Bool = false) {
        self.drop = drop
        self.vault = vault
        self.length = length
        self.headerMAC = headerMAC
        self.isSettled = isSettled
    }

    package var settled: HostDeposit {
        HostDeposit(drop: drop, vault: vault, length: length, headerMAC: headerMAC, isSettled: true)
    }
}
