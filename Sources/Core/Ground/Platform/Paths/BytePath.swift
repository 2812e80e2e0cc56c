/// A path as the kernel sees it: bytes without NUL, not necessarily UTF-8.
///
/// Only doubled and trailing slashes are normalized. Relative paths name a file within a place; the empty path is the
/// place itself. `Codable` as a string, with `\` and bytes that are not UTF-8 written as `\xHH`.
package struct BytePath: Hashable, Sendable, Comparable {
    package let bytes: [UInt8]

    private static let slash = UInt8(ascii: "/")

    /// Takes the path's bytes, dropping doubled and trailing slashes; a NUL ends the path.
    package init(bytes raw: some Sequence<UInt8>) {
        let copy = raw.withContiguousStorageIfAvailable { Self.isClean($0) ? Array($0) : nil }
        if let clean = copy.flatMap({ $0 }) {
            bytes = clean
            return
        }
        var cleaned: [UInt8] = []
        for byte in raw {
            if byte == 0 { break }
            if byte == Self.slash, cleaned.last == Self.slash { continue }
            cleaned.append(byte)
        }
        if cleaned.count > 1, cleaned.last == Self.slash { cleaned.removeLast() }
        bytes = cleaned
    }

    package init(_ string: String) {
        self.init(bytes: string.utf8)
    }

    /// Takes bytes that need no normalization.
    private init(clean: [UInt8]) { bytes = clean }

    /// Whether the bytes need no normalization, as is nearly always the case.
    private static func isClean(_ raw: UnsafeBufferPointer<UInt8>) -> Bool {
        var before: UInt8 = 1
        for byte in raw {
            if byte == 0 || byte == slash && before == slash { return false }
            before = byte
        }
        return before != slash || raw.count == 1
    }

    package var isEmpty: Bool { bytes.isEmpty }
    package var isAbsolute: Bool { bytes.first == Self.slash }

    /// The bytes of each component.
    package var components: [ArraySlice<UInt8>] {
        bytes.split(separator: Self.slash)
    }

    /// The last component; empty for `/` and the empty path.
    package var name: [UInt8] {
        guard let cut = bytes.lastIndex(of: Self.slash) else { return bytes }
        return Array(bytes[(cut + 1)...])
    }

    /// The name as text, with U+FFFD for invalid UTF-8: for matching and templates, never for opening.
    package var nameText: String { String(decoding: name, as: UTF8.self) }

    /// The path as text, with U+FFFD for invalid UTF-8: for matching and templates, never for opening.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The path without its last component: `/` for `/a`, the empty path for `a`.
    package var parent: BytePath {
        guard let cut = bytes.lastIndex(of: Self.slash) else { return BytePath(clean: []) }
        return BytePath(clean: Array(cut == 0 ? bytes[...0] : bytes[..<cut]))
    }

    /// The last component split at its last dot: (`photo`, `jpg`). A leading dot does not count; no dot means no
    /// extension.
    package var stemAndExtension: (stem: [UInt8], extension: [UInt8]?) {
        let name = self.name
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, dot < name.count - 1 else { return (name, nil) }
        return (Array(name[..<dot]), Array(name[(dot + 1)...]))
    }

    package func appending(_ other: BytePath) -> BytePath {
        if isEmpty { return other }
        if other.isEmpty { return self }
        var whole: [UInt8] = []
        whole.reserveCapacity(bytes.count + 1 + other.bytes.count)
        whole += bytes
        if bytes.last != Self.slash, !other.isAbsolute { whole.append(Self.slash) }
        // Only the root ends in a slash; do not add a second one if the other path begins with one.
        whole += bytes.last == Self.slash && other.isAbsolute ? other.bytes[1...] : other.bytes[...]
        if whole.count > 1, whole.last == Self.slash { whole.removeLast() }
        return BytePath(clean: whole)
    }

    package func appending(_ component: String) -> BytePath { appending(BytePath(component)) }

    package func appending(name: some Sequence<UInt8>) -> BytePath { appending(BytePath(bytes: name)) }

    /// Whether this is `other` or below it.
    package func isWithin(_ other: BytePath) -> Bool {
        if other.isEmpty { return !isAbsolute }
        guard bytes.starts(with: other.bytes) else { return false }
        return bytes.count == other.bytes.count || other.bytes.last == Self.slash
            || bytes[other.bytes.count] == Self.slash
    }

    /// The rest of this path below `other`; nil if it is not below it.
    package func relative(to other: BytePath) -> BytePath? {
        guard isWithin(other) else { return nil }
        return BytePath(clean: Array(bytes.dropFirst(other.bytes.count).drop { $0 == Self.slash }))
    }

    /// The deepest path that contains both, possibly one of them.
    package func common(with other: BytePath) -> BytePath {
        var shared = self
        while !shared.isEmpty, !other.isWithin(shared), shared != shared.parent { shared = shared.parent }
        return shared
    }

    /// Calls `body` with the NUL-terminated path.
    package func withCString<R>(_ body: (UnsafePointer<CChar>) throws -> R) rethrows -> R {
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("a terminated path has a first byte") }
            for at in bytes.indices { buffer[at] = CChar(bitPattern: bytes[at]) }
            buffer[bytes.count] = 0
            return try body(base)
        }
    }

    package static func < (left: BytePath, right: BytePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension BytePath: CustomStringConvertible, ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self.init(value) }

    /// Safe to print: characters that ``ShownText`` escapes, invisible ones, backslashes and bytes that are not UTF-8
    /// appear as `\xHH`.
    package var description: String { Self.escape(bytes) }

    /// Escapes bytes so that a terminal only displays them; reversed by ``unescape(_:)``.
    package static func escape(_ bytes: some Collection<UInt8>) -> String {
        // Fast path for nearly all names: looking up a scalar's properties is slow.
        if bytes.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        var out = ""
        var rest = Array(bytes)[...]
        while let first = rest.first {
            let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            if let scalarText = String(validating: rest.prefix(length), as: UTF8.self),
                let scalar = scalarText.unicodeScalars.first,
                scalarText.unicodeScalars.count == 1, first != UInt8(ascii: "\\"),
                !ShownText.acts(scalar), scalar.properties.generalCategory != .format
            {
                out += scalarText
                rest = rest.dropFirst(length)
            } else {
                out += "\\x" + upperHexadecimal(first)
                rest = rest.dropFirst()
            }
        }
        return out
    }

    /// Reverses ``escape(_:)``.
    package static func unescape(_ text: String) -> [UInt8] {
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"),
                let value = UInt8(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self), radix: 16)
            {
                out.append(value)
                rest = rest.dropFirst(3)
            } else {
                out.append(byte)
            }
        }
        return out
    }
}

extension BytePath: Codable {
    package init(from decoder: any Decoder) throws {
        let path = BytePath(bytes: Self.unescape(try decoder.singleValueContainer().decode(String.self)))
        self = try path.isAbsolute ? PathCoding.of(decoder.userInfo)?.decode(path) ?? path : path
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode((isAbsolute ? PathCoding.of(encoder.userInfo)?.encode(self) ?? self : self).description)
    }
}
