import Platform

/// The slots of a vault on the disk. Everything here blocks.
package struct KeySlots {
    private let folder: SealedVaultFolder
    private let description: VaultDescription

    package init(_ folder: SealedVaultFolder, _ description: VaultDescription) {
        self.folder = folder
        self.description = description
    }

    /// The result of unlocking.
    package struct Unlocked: Sendable {
        package let secrets: VaultSecrets
        /// The slot that opened.
        package let slot: SlotID
        /// Damaged slots, to be reported: one of them may be the only other way in.
        package let damaged: [VaultError]
    }

    /// The names of all slots, sorted. Files with other names are ignored.
    ///
    /// - Throws: ``VaultError/notAVault(_:why:)`` if there are more than eight.
    package func names() throws -> [SlotID] {
        let names = try folder.names(in: VaultLayout.slots).compactMap { name -> SlotID? in
            let (stem, ending) = name.stemAndExtension
            return ending == Array("slot".utf8) ? SlotID(hex: String(decoding: stem, as: UTF8.self)) : nil
        }
        guard names.count <= KeySlot.limit else {
            throw VaultError.notAVault(
                folder.full(VaultLayout.slots), why: "it has \(names.count) key slots, and 8 is the most")
        }
        return names
    }

    /// - Throws: ``VaultError/damagedSlot(_:why:)``, also if it is not a regular file or cannot be read.
    package func read(_ id: SlotID) throws -> KeySlot {
        let path = VaultLayout.slot(id.description)
        do {
            return try KeySlot(of: folder.open(path), id)
        } catch let fault as Fault where fault.isLasting {
            let why = fault.kind == .refused ? "it is not a regular file" : fault.message
            throw VaultError.damagedSlot(folder.full(path), why: why)
        }
    }

    /// Tries the slots of the credential's kind in order; each password slot takes a quarter of a second.
    ///
    /// - Throws: ``VaultError/incorrectPassword`` if intact slots were tried and none opened.
    package func open(_ credential: Credential) throws -> Unlocked {
        let names = try names()
        guard !names.isEmpty else {
            throw VaultError.notAVault(folder.full(VaultLayout.slots), why: "there is no key slot")
        }
        var damaged: [VaultError] = []
        var found: (SlotID, VaultSecrets)?
        var isIntact = false
        for name in names {
            do {
                let slot = try read(name)
                isIntact = true
                if found == nil, slot.kind == credential.kind {
                    found = (name, try slot.open(credential, description))
                }
            } catch VaultError.incorrectPassword {
                continue
            } catch let error as VaultError {
                damaged.append(error)
            }
        }
        if let (slot, secrets) = found { return Unlocked(secrets: secrets, slot: slot, damaged: damaged) }
        if let first = damaged.first, !isIntact || damaged.contains(where: \.isAboutTheVault) { throw first }
        throw VaultError.incorrectPassword
    }

    /// Writes a new slot, or atomically replaces the one of the same name: written to `tmp/`, synced, read back and
    /// opened, renamed, the folder synced. On any error the slots are unchanged.
    ///
    /// - Parameter replaces: whether `id` already exists.
    package func write(_ secrets: VaultSecrets, _ id: SlotID, for credential: Credential, replaces: Bool) throws {
        let known = try names()
        guard known.contains(id) == replaces, replaces || known.count < KeySlot.limit else {
            throw Fault(
                .usage,
                replaces ? "there is no key slot \(id)" : "the vault has 8 key slots, the most it can have; remove one",
                path: folder.full(VaultLayout.slots))
        }
        let slot = try KeySlot.seal(secrets, id, for: credential, description)
        let temporary = try VaultTemporary(folder)
        try temporary.file.write(slot.bytes, at: 0)
        try temporary.file.sync()
        let again = try KeySlot(of: temporary.file, id).open(credential, description)
        guard again.master.matches(secrets.master), again.keyPair.privateKey.matches(secrets.keyPair.privateKey) else {
            throw VaultError.damagedSlot(temporary.file.path, why: "its content differs from what was written")
        }
        FaultPoint.reach("verified")
        let target = VaultLayout.slot(id.description)
        try replaces ? temporary.replace(target) : temporary.become(target)
    }

    /// Removes a slot, but never the last intact one.
    package func remove(_ id: SlotID) throws {
        let others = try names().filter { $0 != id && (try? read($0)) != nil }
        guard !others.isEmpty else {
            throw Fault(
                .refused,
                "\(id) is the last key slot, and the vault could never be opened without one; add another first",
                path: folder.full(VaultLayout.slot(id.description)))
        }
        try folder.remove(VaultLayout.slot(id.description))
        try folder.sync(VaultLayout.slots)
    }
}

extension VaultError {
    /// Whether it concerns more than one slot, so that another password would not help.
    fileprivate var isAboutTheVault: Bool {
        switch self {
        case .wrongVault, .notAVault: true
        default: false
        }
    }
}
