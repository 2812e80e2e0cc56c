import Glibc
import Platform

/// A sealed and verified object without its final name; its file is removed when this is released.
struct UnnamedObject {
    let sealed: SealedObject
    fileprivate let temporary: VaultTemporary
}

/// The sealed objects' files. Everything blocks.
struct VaultObjects {
    let folder: SealedVaultFolder

    init(_ folder: SealedVaultFolder) { self.folder = folder }

    /// Seals, syncs, reads back and verifies. Without ``name(_:_:)`` nothing is left of it.
    ///
    /// - Throws: ``VaultError/locked`` soon after the session has ended, besides other errors.
    func seal(_ kind: ObjectKind, _ content: ObjectContent, _ session: VaultSession) throws -> UnnamedObject {
        let temporary = try VaultTemporary(folder)
        let path = temporary.file.path
        let sealed = try ObjectWriter.seal(kind, content.until(session.end), into: temporary.file) {
            try session.withSecrets {
                try .fresh(kind, content: content.identity, for: .vault($0.keys), at: path)
            }
        }
        FaultPoint.reach("sealed")
        try sealed.verify()
        FaultPoint.reach("verified")
        return UnnamedObject(sealed: sealed, temporary: temporary)
    }

    /// Renames the objects into place durably, and has `record` name them in the manifest. If it does not, none of them
    /// remain, even after a crash.
    ///
    /// - Parameter record: receives a closure to call right before a record may name them.
    /// - Returns: the result of `record`; false in it means that no record names them.
    func name<R>(
        _ objects: [UnnamedObject], _ host: HostState, _ session: VaultSession,
        _ record: (_ willName: () -> Void) throws -> (R, isNamed: Bool)
    ) throws -> R {
        let note = try host.rememberSealing(objects.map(\.sealed.id))
        var mayBeNamed = false
        do {
            for object in objects {
                try session.end.check()
                let target = VaultLayout.object(object.sealed.id)
                try folder.makeDirectory(target.parent)
                try object.temporary.become(target)
            }
            let (result, isNamed) = try record { mayBeNamed = true }
            if !isNamed { discard(objects) }
            try host.forgetSealing(note)
            return result
        } catch {
            // Files that cannot be removed now are removed at the next start, as noted.
            if !mayBeNamed { discard(objects) }
            throw error
        }
    }

    private func discard(_ objects: [UnnamedObject]) {
        for object in objects { try? folder.withdraw(VaultLayout.object(object.sealed.id)) }
    }

    /// Opens an object and checks that it is the one that the manifest names.
    ///
    /// - Throws: ``VaultError/missingObject(_:)``, ``VaultError/damagedObject(_:_:)`` and similar, also if it is not a
    ///   regular file or cannot be read; ``VaultError/locked``.
    func open(_ reference: ObjectReference, _ session: VaultSession) throws -> ObjectReader {
        try open(reference) { file in
            try session.withSecrets { try ObjectReader(file, reference.id, reference.kind, with: .vault($0.keys)) }
        }
    }

    /// - Parameter read: opens the object with its key.
    func open(_ reference: ObjectReference, _ read: (Descriptor) throws -> ObjectReader) throws -> ObjectReader {
        let path = VaultLayout.object(reference.id)
        let file: Descriptor
        do {
            file = try folder.open(path)
        } catch let fault as Fault where fault.errno == ENOENT {
            throw VaultError.missingObject(folder.full(path))
        } catch {
            throw VaultError.decryptionFailed(underlying: error)
        }
        let reader = try read(file)
        guard reader.reference == reference else {
            throw VaultError.damagedObject(file.path, .content("it differs from the one in the manifest"))
        }
        return reader
    }

    /// Makes an object unreadable for good and removes it: without its header its key is lost. If the file has other
    /// hard links (a backup shares it), the header is left intact.
    ///
    /// - Parameter path: may be gone already.
    /// - Returns: whether the header was destroyed.
    func destroy(_ path: BytePath) throws -> Bool {
        guard let status = try folder.status(path) else { return true }
        guard status.kind == .file else {
            throw Fault(.refused, "\(folder.full(path)) is not a file; nothing was removed", path: folder.full(path))
        }
        if status.links == 1 {
            let reading = try folder.open(path)
            guard fchmod(reading.raw, 0o600) == 0 else { throw Fault.system("change the mode of", reading.path) }
            FaultPoint.reach("mode changed")
            let file = try folder.open(path, O_RDWR)
            guard try file.status().links == 1 else { return try unlink(path, destroyed: false) }
            try file.write(SecureRandom.bytes(ObjectSize.header), at: 0)
            guard fdatasync(file.raw) == 0 else { throw Fault.system("sync", file.path) }
            FaultPoint.reach("destroyed")
        }
        return try unlink(path, destroyed: status.links == 1)
    }

    private func unlink(_ path: BytePath, destroyed: Bool) throws -> Bool {
        try folder.remove(path)
        try folder.sync(path.parent)
        return destroyed
    }

    /// The existing objects, and the other names in the folder.
    func present() throws -> (objects: Set<ObjectID>, strange: [BytePath]) {
        var objects: Set<ObjectID> = []
        var strange: [BytePath] = []
        for fan in try folder.names(in: VaultLayout.objects) {
            let directory = VaultLayout.objects.appending(fan)
            guard try folder.status(directory)?.kind == .directory else {
                strange.append(directory)
                continue
            }
            for name in try folder.names(in: directory) {
                let path = directory.appending(name)
                if let id = ObjectID(hex: name.text), VaultLayout.object(id) == path {
                    objects.insert(id)
                } else {
                    strange.append(path)
                }
            }
        }
        return (objects, strange)
    }
}
