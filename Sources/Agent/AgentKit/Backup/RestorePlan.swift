import ComicVault
import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TKCore

/// Which files a restore puts where. Everything here blocks.
package struct RestorePlan: Encodable, Sendable {
    package struct Store: Encodable, Sendable {
        /// Its folder in the backup.
        package let name: String
        package let root: BytePath
        package let files: Int
        /// In bytes.
        package let size: Int64
        let emptyFolders: [BytePath]
        /// Folders whose owner and mode the backup records.
        let folders: [BackupManifest.Folder]
        /// Whether root restores the original owners. The maker of a backup must not be able to give away configured
        /// files, unless that is root.
        let keepsOwners: Bool
        /// Paths below its root that do not belong to it, with symlinks resolved.
        let foreign: [BytePath]
        /// Existing files that must be moved aside.
        package var inTheWay: [BytePath] = []
        /// Why it is left as it is; nil if it is restored.
        package var leftOut: String?

        private enum CodingKeys: CodingKey { case name, root, files, size, emptyFolders, inTheWay, leftOut }
    }

    package let backup: BytePath
    package let time: Timestamp
    package let consistency: BackupManifest.Consistency
    package var stores: [Store]

    /// - Parameters:
    ///   - vaults: the vaults in the current configuration.
    ///   - only: names of stores; nil for all.
    /// - Throws: `Fault(.usage)` if the backup lacks a named store, or a store has no folder here: a backup says what
    ///   it holds, never where that goes.
    package init(
        _ proof: BackupProof, _ directories: Directories, vaults: [VaultPlace], places: [PlaceInfo], tk: BytePath?,
        only: [String]?
    ) throws {
        let manifest = proof.manifest
        backup = proof.path
        time = manifest.time
        consistency = manifest.consistency
        stores = []
        let names = manifest.stores.map(\.name)
        if let strange = only?.first(where: { !names.contains($0) }) {
            throw Fault(
                .usage, "the backup does not contain `\(strange)`; it contains \(names.joined(separator: ", "))")
        }
        let known = BackupStore.all(
            directories, vaults: vaults.map { ($0.name, $0.path) }, places: places.map(\.root), tk: tk,
            takesSecrets: true)
        for store in manifest.stores where only?.contains(store.name) ?? true {
            guard BackupProof.isSafe(BytePath(store.name)) else {
                throw Fault(
                    .failed, "the manifest of \(proof.path) names a store outside the backup; use another backup")
            }
            guard let here = known.first(where: { $0.name == store.name }) else {
                // A vault that was configured but never created.
                if store.files == 0, only == nil { continue }
                throw Self.homeless(store.name, directories)
            }
            let keepsOwners = try store.name != BackupStore.configurationName || RestoreOwner(of: proof.path).mayGive
            var folders = store.folders ?? []
            if !keepsOwners { for index in folders.indices { folders[index].owner = nil } }
            stores.append(
                Store(
                    name: store.name, root: here.root, files: store.files, size: store.size,
                    emptyFolders: store.emptyFolders, folders: folders, keepsOwners: keepsOwners,
                    foreign: here.foreign))
            try look(at: stores.count - 1, isAlone: here.isAlone, others: known.map(\.root), proof, only)
        }
    }

    private static func homeless(_ name: String, _ directories: Directories) -> Fault {
        Fault(
            .usage,
            "the backup contains \(name), for which \(directories.configuration) names no folder, and a backup does not say "
                + "where files go. Nothing was restored. Name its folder there, under `vaults:`; or restore the "
                + "backup's configuration first (`--only configuration`), check it, and restore again; or leave it "
                + "out: `--only state captures …`", path: directories.configuration)
    }

    private mutating func look(
        at index: Int, isAlone: Bool, others: [BytePath], _ proof: BackupProof, _ only: [String]?
    ) throws {
        let root = stores[index].root
        guard stores[index].files > 0 else {
            stores[index].leftOut = Self.nothing
            return
        }
        guard let real = root.real else { return }
        let others = (others.map(BackupStore.resolved) + stores[index].foreign).filter {
            $0 != real && $0.isWithin(real)
        }
        try look(at: index, "", of: real, isAlone, others, proof)
        if stores[index].name == BackupStore.configurationName, !stores[index].inTheWay.isEmpty,
            only?.contains(BackupStore.configurationName) != true
        {
            stores[index].inTheWay = []
            stores[index].leftOut =
                "there is one in \(root), which stays; --only configuration restores that of the backup"
        }
    }

    /// Finds the files in the way in one folder of a store.
    private mutating func look(
        at index: Int, _ folder: BytePath, of root: BytePath, _ isAlone: Bool, _ others: [BytePath],
        _ proof: BackupProof
    ) throws {
        let backed = proof.path.appending(stores[index].name).appending(folder)
        let isBacked = try FileStatus.of(backed)?.kind == .directory
        let coming = try isBacked ? listDirectory(backed).map { BytePath(bytes: $0.name) } : []
        for entry in try listDirectory(root.appending(folder)).map({ BytePath(bytes: $0.name) }) {
            let whole = root.appending(folder).appending(entry)
            // Another store's folder is checked on its own.
            if others.contains(whole) || BackupStore.isTemporary(entry) { continue }
            if others.contains(where: { $0.isWithin(whole) }) {
                try look(at: index, folder.appending(entry), of: root, isAlone, others, proof)
                continue
            }
            let isFleeting =
                stores[index].name == BackupStore.stateName && folder.isEmpty && BackupStore.fleeting.contains(entry)
                && !entry.text.hasSuffix("sqlite")
            if isFleeting { continue }
            let collides = coming.contains { name in
                entry == name || PrivateDatabase.companions.contains { entry == BytePath(name.text + $0) }
            }
            if isAlone || collides { stores[index].inTheWay.append(whole) }
        }
    }

    private static let nothing = "it is not in the backup"

    /// Stores in the backup that are left as they are here.
    package var kept: [Store] { stores.filter { $0.leftOut != nil && $0.leftOut != Self.nothing } }
    package var restored: [Store] { stores.filter { $0.leftOut == nil } }
    package var inTheWay: [BytePath] { restored.flatMap(\.inTheWay) }

    package var lines: [String] {
        stores.map { store in
            let what = "\(store.name): \(store.files) files, \(ComicText.bytes(store.size)) into \(store.root)"
            let aside =
                store.inTheWay.isEmpty ? "" : "; in the way: \(store.inTheWay.map(\.nameText).joined(separator: ", "))"
            return store.leftOut.map { "\(store.name): left out: \($0)" } ?? what + aside
        }
    }
}
