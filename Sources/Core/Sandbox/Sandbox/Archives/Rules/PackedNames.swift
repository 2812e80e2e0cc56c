/// Which names archives keep.
extension PackFormat {
    /// Why an archive of this format does not keep a path, for people; nil where it does. Checked with unzip, 7zz, bsdtar and
    /// Python's zipfile.
    package func obstacle(to path: [UInt8]) -> String? {
        guard self == .zip else { return nil }
        if String(validating: path, as: UTF8.self) == nil {
            return "it is not UTF-8, and each program would give the file another name"
        }
        // Behind a slash they all keep it.
        if path.contains(UInt8(ascii: "\\")), !path.contains(UInt8(ascii: "/")) {
            return "many programs would take the `\\` in it for a folder"
        }
        return nil
    }

    /// Whether programs, libarchive among them, may compose a path: `e` and an accent behind it, as all names are that come
    /// from a Mac. A tar can say that they are not to.
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

    /// Words of the worker's command line for a folder.
    package static func treeWords(rawNames: Bool) -> [String] { rawNames ? [tree, raw] : [tree] }

    /// What such words say; nil where they are not for a folder.
    package static func rawNames(treeWords words: some Collection<String>) -> Bool? {
        [false, true].first { Array(words) == treeWords(rawNames: $0) }
    }
}
