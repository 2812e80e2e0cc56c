import Glibc
import OwnFiles
import Platform

/// What this host remembers of one vault, stored outside of it, out of reach of anyone who can write to the vault's
/// folder: the pinned public key, the manifest's high-water mark, and the host's own deposits. Files are replaced
/// durably. Everything blocks.
package struct HostState: Sendable {
    package let folder: BytePath

    /// - Parameter folder: one for each configured vault; created with mode 0700 if missing.
    package init(_ folder: BytePath) throws {
        self.folder = folder
        try Durable.makeDirectory(folder, mode: 0o700)
    }

    private var markFile: BytePath { folder.appending("mark") }
    private var pinFile: BytePath { folder.appending("pin") }
    private var slotFile: BytePath { folder.appending("slots") }
    private var depositFolder: BytePath { folder.appending("deposits") }
    private var sealingFolder: BytePath { folder.appending("sealing") }
    private var unmadeFolder: BytePath { folder.appending("making") }

    // MARK: the high-water mark

    /// - Returns: nil if there is none: the vault is used on this host for the first time, or the mark was lost.
    /// - Throws: ``VaultError/hostStateDamaged(_:)`` if the file is invalid.
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

    /// The vaults that deposits may be sealed to: one, or both while a rekey is being finished.
    ///
    /// - Returns: an empty list if nothing is trusted yet.
    package func pins() throws -> [HostPin] {
        try read(pinFile) { fields in
            let pins = fields.lines.compactMap { HostPin(line: $0) }
            return pins.count == fields.lines.count && (1...2).contains(pins.count) ? pins : nil
        } ?? []
    }

    package func replacePins(_ pins: [HostPin]) throws {
        try write(pinFile, pins.map { ($0.vault.description, hexadecimal($0.publicKey)) })
    }

    // MARK: the slots

    /// The key slots as this host last saw them: without a password, a damaged slot cannot be recognised otherwise.
    package func slots() throws -> [SlotID: ContentHash] {
        try read(slotFile) { fields in
            let slots = fields.lines.compactMap { line -> (SlotID, ContentHash)? in
                guard let id = SlotID(hex: line.name), let bytes = bytesOf(hexadecimal: line.value),
                    let hash = ContentHash(bytes: bytes)
                else { return nil }
                return (id, hash)
            }
            return slots.count == fields.lines.count ? Dictionary(slots) { $1 } : nil
        } ?? [:]
    }

    package func replaceSlots(_ slots: [SlotID: ContentHash]) throws {
        try write(slotFile, slots.map { ($0.key.description, $0.value.description) }.sorted { $0.0 < $1.0 })
    }

    // MARK: the holder

    /// Notes that this process has the vault unlocked. Used for a message only, so it is not synced and may be missing.
    package func noteHolder() {
        let text = Array("\(getpid())\n".utf8)
        guard let file = try? Descriptor(folder.appending("holder"), O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600) else {
            return
        }
        _ = text.withUnsafeBytes { Glibc.write(file.raw, $0.baseAddress, $0.count) }
    }

    /// The process that last unlocked the vault on this host, if it still runs. Its open files are private, so /proc
    /// may not show them.
    package func holder() -> (id: Int32, name: String)? {
        guard let bytes = try? Descriptor(folder.appending("holder")).read(at: 0, count: 16),
            let id = Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)),
            let name = try? Descriptor(BytePath("/proc/\(id)/comm")).read(at: 0, count: 64)
        else { return nil }
        return (id, BytePath.escape(name.filter { $0 != UInt8(ascii: "\n") }))
    }

    // MARK: the deposits

    /// This host's deposits that it has not yet seen ingested, by name.
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
                let stage: HostDeposit.Stage =
                    fields.value("settled") != nil ? .resolved : fields.value("making") != nil ? .making : .waiting
                return HostDeposit(drop: id, vault: vault, length: length, headerMAC: mac, stage: stage)
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
            ] + (deposit.stage == .waiting ? [] : [(deposit.stage.rawValue, "yes")]))
    }

    package func forget(_ drop: ObjectID) throws {
        guard try FileStatus.of(depositFolder) != nil else { return }
        try Durable.remove(depositFolder.appending(drop.description))
        try Durable.syncDirectory(depositFolder)
    }

    // MARK: objects in the making

    /// Remembers objects that are about to be renamed into place, before a record names them. If no record ever does,
    /// they are leftovers of a crashed process whose source still exists.
    ///
    /// - Returns: the argument for ``forgetSealing(_:)``.
    func rememberSealing(_ objects: [ObjectID]) throws -> BytePath {
        try Durable.makeDirectory(sealingFolder, mode: 0o700)
        let note = sealingFolder.appending(randomHex(16))
        try write(note, objects.map { ("object", $0.description) })
        return note
    }

    /// Harmless if it reappears after a crash: objects named by a record are left alone.
    func forgetSealing(_ note: BytePath) throws { try Durable.remove(note) }

    /// The existing notes, and the objects that each names.
    func sealing() throws -> [BytePath: [ObjectID]] {
        guard try FileStatus.of(sealingFolder) != nil else { return [:] }
        var found: [BytePath: [ObjectID]] = [:]
        for entry in try listDirectory(sealingFolder) where entry.name.first != UInt8(ascii: ".") {
            let note = sealingFolder.appending(name: entry.name)
            found[note] = try read(note) { $0.lines.compactMap { ObjectID(hex: $0.value) } }
        }
        return found
    }

    /// Removes half-written files of dead processes. Call only while no other process of this host writes here.
    func sweep() throws {
        for directory in [folder, depositFolder, sealingFolder] where try FileStatus.of(directory) != nil {
            for entry in try listDirectory(directory) where entry.name.starts(with: Array(".steward-".utf8)) {
                try Durable.remove(directory.appending(name: entry.name))
            }
        }
        try HostState.removeAll(at: unmadeFolder)
    }

    /// The state of a vault under construction, until it exists.
    func unmade() throws -> HostState { try HostState(unmadeFolder) }

    /// Forgets everything, and removes the folder.
    package func removeAll() throws { try Self.removeAll(at: folder) }

    /// Like ``removeAll()``, for a folder that need not exist.
    static func removeAll(at folder: BytePath) throws {
        guard try FileStatus.of(folder) != nil else { return }
        for entry in try listDirectory(folder) {
            let path = folder.appending(name: entry.name)
            if try FileStatus.of(path)?.kind == .directory { try removeAll(at: path) } else { try Durable.remove(path) }
        }
        guard folder.withCString({ rmdir($0) }) == 0 || errno == ENOENT || errno == ENOTEMPTY else {
            throw Fault.system("remove the folder", folder)
        }
        try Durable.syncDirectory(folder.parent)
    }

    // MARK: files

    private func write(_ path: BytePath, _ fields: [(String, String)]) throws {
        let text = "steward vault 1\n" + fields.map { "\($0.0) \($0.1)\n" }.joined()
        try Durable.replaceOwn(path, with: Array(text.utf8))
    }

    private func read<T>(_ path: BytePath, _ decode: (Fields) -> T?) throws -> T? {
        let bytes: [UInt8]
        do {
            bytes = try Descriptor(path).readAll(limit: 4096)
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self), let fields = Fields(text), let value = decode(fields)
        else { throw VaultError.hostStateDamaged(path) }
        return value
    }

    /// Lines of name and value, after a first line that names the format.
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
