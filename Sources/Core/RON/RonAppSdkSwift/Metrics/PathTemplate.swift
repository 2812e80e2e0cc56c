/// Groups paths for counting: segments that look like an id become `{id}`, so that a million users are one row.
public enum PathTemplate {
    /// The template of a path.
    ///
    /// A segment counts as an id if it contains a digit and only hexadecimal digits and hyphens, or is longer than 32
    /// bytes, or contains characters other than ASCII letters, digits and `-._~`. A segment such as `v1` stays.
    ///
    /// - Parameter path: with or without a query, which is dropped.
    public static func of(_ path: String) -> String {
        let path = path.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { isId($0.utf8) ? "{id}" : String($0) }.joined(separator: "/")
    }

    private static func isId(_ part: Substring.UTF8View) -> Bool {
        if part.isEmpty { return false }
        if part.count > 32 { return true }
        let isPlain = part.allSatisfy { byte in
            isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
        }
        guard isPlain else { return true }
        return part.contains(where: isDigit) && part.allSatisfy { isDigit($0) || isHexadecimalLetter($0) || $0 == 0x2D }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHexadecimalLetter(_ byte: UInt8) -> Bool {
        (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
}
