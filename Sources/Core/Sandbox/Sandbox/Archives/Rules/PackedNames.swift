import Platform

/// Which names survive in archives.
extension PackFormat {
    /// Why an archive of this format cannot preserve a path, as text for a person; nil if it can. Checked with unzip,
    /// 7zz, bsdtar and Python's zipfile.
    package func obstacle(to path: [UInt8]) -> String? {
        guard !takesRawNames else { return nil }
        if String(validating: path, as: UTF8.self) == nil {
            return "it is not UTF-8, and each program would give the file another name"
        }
        // After a slash, all of them preserve it.
        if path.contains(UInt8(ascii: "\\")), !path.contains(UInt8(ascii: "/")) {
            return "many programs would take the `\\` in it for a folder"
        }
        return nil
    }

    /// Whether programs, including libarchive, may normalize a path: `e` followed by a combining accent, as in all
    /// names from a Mac. A tar can declare its names to be raw.
    package static func isRewritten(_ path: [UInt8]) -> Bool {
        guard path.contains(where: { $0 >= 0x80 }), let text = String(validating: path, as: UTF8.self) else {
            return false
        }
        return text.unicodeScalars.contains {
            $0.properties.isGraphemeExtend || $0.properties.canonicalCombiningClass != .notReordered
                || (0x1160...0x11FF).contains($0.value)
        }
    }

    private static let tree = "tree"
    private static let raw = "raw"

    /// The worker's command line words for a folder.
    package static func treeWords(rawNames: Bool) -> [String] { rawNames ? [tree, raw] : [tree] }

    /// Parses such words; nil if they are not for a folder.
    package static func rawNames(treeWords words: some Collection<String>) -> Bool? {
        [false, true].first { Array(words) == treeWords(rawNames: $0) }
    }
}
