import Glibc
import OwnFiles
import Platform

extension SealedVault {
    /// Creates a vault, unlocked: built beside its final path and renamed into place when complete.
    ///
    /// - Parameters:
    ///   - path: must not exist, or be an empty folder.
    ///   - credentials: a slot for each; 1 to 8.
    /// - Throws: `Fault(.refused)` if the path is taken, or if this host knows a vault there already.
    package static func create(
        at path: BytePath, host: HostState, credentials: [Credential]
    ) throws -> SealedVault {
        if let known = try host.pins().first {
            throw Fault(
                .refused,
                "this host knows the vault \(known.vault) here; mount its disk, or remove \(host.folder) if that vault is "
                    + "gone for good, and try again", path: path)
        }
        let vault = try build(at: path, host: host, credentials: credentials)
        let publicKey = try vault.unlocked().publicKey
        try host.replacePins([HostPin(vault: vault.id, publicKey: publicKey)])
        return vault
    }

    /// Creates a vault that the host does not trust yet.
    static func build(at path: BytePath, host: HostState, credentials: [Credential]) throws -> SealedVault {
        guard (1...KeySlot.limit).contains(credentials.count) else {
            throw Fault(.usage, "a vault has 1 to \(KeySlot.limit) passwords or key files")
        }
        try requireRoomBeside(path)
        let isThere = try FileStatus.of(path) != nil
        if isThere, try !listDirectory(path).isEmpty {
            throw Fault(
                .refused, "\(path) is not empty; nothing was changed there, choose a separate folder for the vault",
                path: path)
        }
        removeUnmade(beside: path)
        let building = path.parent.appending(name: path.name + Array(".making-\(randomHex(8))".utf8))
        try Durable.makeDirectory(path.parent)
        try Durable.makeDirectory(building, mode: 0o700)
        do {
            return try fill(building, then: path, isThere: isThere, host, credentials)
        } catch {
            try? removeVaultFiles(building)
            throw error
        }
    }

    /// A vault is built beside its path, and a rekey exchanges the two folders. Neither works on a mount point, because
    /// the folder beside it is on another file system.
    ///
    /// - Throws: `Fault(.refused)` for such a path, with nothing changed.
    package static func requireRoomBeside(_ path: BytePath) throws {
        guard let folder = try FolderIdentity.open(path), try FolderIdentity(folder).isMount else { return }
        throw Fault(
            .refused,
            "\(path) is where a disk or volume is mounted, and a vault needs a folder below that; nothing was changed: name "
                + "\(path)/vault in the configuration (move an existing vault there with all its files)",
            path: path)
    }

    private static func fill(
        _ building: BytePath, then path: BytePath, isThere: Bool, _ host: HostState, _ credentials: [Credential]
    ) throws -> SealedVault {
        let folder = try SealedVaultFolder(building)
        let description = VaultDescription(id: try .random())
        let file = try folder.create(VaultLayout.description)
        // Held during the construction.
        _ = try FileLock.acquire(.exclusive, on: file)
        try file.write(description.bytes, at: 0)
        try file.sync()
        for name in VaultLayout.folders { try folder.makeDirectory(name) }
        let secrets = try VaultSecrets.generate(for: description.id)
        let keyFile = try folder.create(VaultLayout.publicKey)
        try keyFile.write(secrets.keyPair.publicKey, at: 0)
        try keyFile.sync()
        try folder.sync("")
        for credential in credentials {
            try KeySlots(folder, description).write(secrets, .random(), for: credential, replaces: false)
        }
        // The host's real mark must not belong to a vault that does not exist yet.
        let scratch = try host.unmade()
        let head = try Manifest.create(folder, keys: secrets.keys, host: scratch).head
        try moveIntoPlace(building, path, replacingEmpty: isThere)
        let vault = try SealedVault(at: path, host: host)
        try FileLock.release(file)
        let lock = try vault.acquireLock()
        try host.replaceMark(HighWaterMark(vault: vault.id, head: head))
        try scratch.removeAll()
        let manifest = try Manifest(vault.folder, keys: secrets.keys, host: host)
        try manifest.reconcile()
        vault.begin(VaultSession(secrets, lock: lock, manifest))
        vault.rememberSlots(nil)
        return vault
    }

    /// A rename replaces an empty folder, but nothing else.
    private static func moveIntoPlace(_ building: BytePath, _ path: BytePath, replacingEmpty: Bool) throws {
        if replacingEmpty {
            guard building.withCString({ from in path.withCString { to in Glibc.rename(from, to) } }) == 0 else {
                throw Fault.system("rename \(building) to", path)
            }
            FaultPoint.reach("renamed")
            try Durable.syncDirectory(path.parent)
        } else if try !Durable.renameNew(building, to: path) {
            throw Fault(.refused, "\(path) was created in the meantime; nothing was changed there", path: path)
        }
    }

    /// Removes vaults beside this one, and rekey copies of it, left by processes that died while making them. Only
    /// cleanup: those that cannot be seen or removed stay.
    static func removeUnmade(beside path: BytePath) {
        let names = [path, siblingPath(path)].map { $0.name + Array(".making-".utf8) }
        guard let entries = try? listDirectory(path.parent) else { return }
        for entry in entries
        where names.contains(where: { entry.name.starts(with: $0) && entry.name.count == $0.count + 16 }) {
            let unmade = path.parent.appending(name: entry.name)
            let description = unmade.appending(VaultLayout.description)
            if let file = try? Descriptor(description, O_RDWR), (try? FileLock.acquire(.exclusive, on: file)) == true {
                try? removeVaultFiles(unmade)
            }
            // Empty: it died before its first file.
            _ = unmade.withCString { rmdir($0) }
        }
    }

    /// Unlinks only a vault's own files and folders: a folder with other files stays, with them in it.
    static func removeVaultFiles(_ path: BytePath) throws {
        guard try FileStatus.of(path) != nil else { return }
        let folder = try SealedVaultFolder(path)
        for name in try folder.namesIfThere(VaultLayout.objects) {
            let fan = VaultLayout.objects.appending(name)
            try folder.removeAll(in: fan)
        }
        for name in VaultLayout.folders { try folder.removeAll(in: name) }
        for name in [VaultLayout.publicKey, VaultLayout.description] { try folder.remove(name) }
        guard path.withCString({ rmdir($0) }) == 0 || errno == ENOTEMPTY || errno == ENOENT else {
            throw Fault.system("remove the folder", path)
        }
        FaultPoint.reach("folder removed")
        try Durable.syncDirectory(path.parent)
    }
}
