import Glibc
import Platform

/// Chooses folders and names in a library that never differ by case alone. Blocks.
struct PortableShelf {
    let root: BytePath
    let files: HeldFiles

    /// The folder in the library's existing spelling, and a name that does not collide with another there.
    func fit(_ folder: BytePath, _ name: [UInt8]) throws -> (folder: BytePath, name: [UInt8]) {
        var fitted: BytePath = ""
        for part in folder.components {
            fitted = fitted.appending(name: try spelling(of: PortableName.of(Array(part)), in: root.appending(fitted)))
        }
        let wanted = BytePath(bytes: PortableName.of(name))
        let there = root.appending(fitted)
        // An exact match is handled when the file is placed.
        if try files.status(there.appending(wanted)) != nil { return (fitted, wanted.bytes) }
        let names = try entries(there)
        let free = Mover.alternatives(wanted).first { candidate in
            !names.contains { PortableName.areOne($0, candidate.bytes) }
        }
        return (fitted, (free ?? wanted).bytes)
    }

    private func spelling(of name: [UInt8], in folder: BytePath) throws -> [UInt8] {
        if try files.status(folder.appending(name: name)) != nil { return name }
        return try entries(folder).first { PortableName.areOne($0, name) } ?? name
    }

    /// Empty if the folder does not exist yet or the place is away.
    private func entries(_ folder: BytePath) throws -> [[UInt8]] {
        do {
            return try files.folder(folder).entries().map(\.name)
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR || fault.kind == .transient {
            return []
        }
    }
}
