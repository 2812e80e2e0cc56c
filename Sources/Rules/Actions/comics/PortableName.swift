import Glibc
import Platform

/// Names that every system can hold to which a library may be copied: Windows, exFAT, shares of either.
enum PortableName {
    /// A part of a path with what others do not take replaced: `A: B` is `A - B`, `What*?` is `What_`, `CON` is `CON_`.
    static func of(_ name: [UInt8]) -> [UInt8] {
        var made: [UInt8] = []
        for (index, byte) in name.enumerated() {
            switch byte {
            case UInt8(ascii: ":"):
                let next = name.dropFirst(index + 1).first
                made += next == UInt8(ascii: " ") ? Array(" -".utf8) : next == nil ? [] : [UInt8(ascii: "-")]
            case UInt8(ascii: "\""): made.append(UInt8(ascii: "'"))
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "|"), UInt8(ascii: "?"), UInt8(ascii: "*"),
                UInt8(ascii: "\\"), 0..<0x20, 0x7F:
                if made.last != replacement { made.append(replacement) }
            default: made.append(byte)
            }
        }
        while let last = made.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") { made.removeLast() }
        if made.isEmpty { return name.isEmpty ? [] : [replacement] }
        let stem = made.prefix { $0 != UInt8(ascii: ".") }
        guard devices.contains(String(decoding: stem, as: UTF8.self).uppercased()) else { return made }
        return stem + [replacement] + made.dropFirst(stem.count)
    }

    /// Whether two names are one where case does not count.
    static func areOne(_ one: [UInt8], _ other: [UInt8]) -> Bool { one == other || folded(one) == folded(other) }

    private static func folded(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self).lowercased() }

    private static let replacement = UInt8(ascii: "_")

    /// What DOS called so, and its heirs still do, with whatever ending.
    private static let devices: Set<String> = {
        let numbered = ["COM", "LPT"].flatMap { name in (1...9).map { "\(name)\($0)" } }
        return Set(["CON", "PRN", "AUX", "NUL"] + numbered)
    }()
}

/// Folders and names in a library that differ from none of those there by case alone. Blocks.
struct PortableShelf {
    let root: BytePath
    let files: HeldFiles

    /// The folder, in the spelling that it has in the library already, and a name that no other there has.
    func fit(_ folder: BytePath, _ name: [UInt8]) throws -> (folder: BytePath, name: [UInt8]) {
        var fitted: BytePath = ""
        for part in folder.components {
            fitted = fitted.appending(name: try spelling(of: PortableName.of(Array(part)), in: root.appending(fitted)))
        }
        let wanted = BytePath(bytes: PortableName.of(name))
        let there = root.appending(fitted)
        // What has the very name is dealt with where the file is put down.
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

    /// Nothing where the folder is not there yet, or the place is away.
    private func entries(_ folder: BytePath) throws -> [[UInt8]] {
        do {
            return try files.folder(folder).entries().map(\.name)
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR || fault.kind == .transient {
            return []
        }
    }
}
