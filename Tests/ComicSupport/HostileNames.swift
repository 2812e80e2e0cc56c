extension HostileComic {
    /// Names that lead out of the archive, or only seem to, in every format.
    package static var names: [HostileComic] {
        spellings.flatMap { label, name, words in
            RawFormat.allCases.compactMap { format in
                format.pack([(Array("1.png".utf8), picture(1)), (name, picture(2))]).map { bytes in
                    HostileComic("\(format): \(label)", words) { bytes }
                }
            }
        }
    }

    private static let spellings: [(label: String, name: [UInt8], words: [String])] =
        [
            ("parent", "../2.png", ["traversal"]),
            ("many parents", "../../../../../../tmp/2.png", ["traversal"]),
            ("parent with a backslash", "..\\2.png", ["traversal"]),
            ("parents, both slashes", "a\\../..\\2.png", ["traversal"]),
            ("parent in the middle", "a/../../2.png", ["traversal"]),
            ("parent that stays inside", "a/../2.png", ["traversal"]),
            ("parent behind a dot", "./../2.png", ["traversal"]),
            ("parent behind slashes", "a//..//..//2.png", ["traversal"]),
            ("parent at the end", "2.png/..", ["traversal"]),
            ("parent alone", "..", ["traversal"]),
            ("absolute", "/tmp/2.png", ["absolute-path"]),
            ("absolute with a parent", "/../2.png", ["absolute-path", "traversal"]),
            ("two slashes", "//x/2.png", ["absolute-path"]),
            ("drive", "C:/2.png", ["absolute-path"]),
            ("drive with a backslash", "C:\\2.png", ["absolute-path"]),
            ("drive without a slash", "c:2.png", ["absolute-path"]),
            // If the format lets libarchive turn `\` into `/`, the resulting name is judged.
            ("share", "\\\\server\\share\\2.png", ["bad-name", "absolute-path"]),
            ("device", "\\\\?\\C:\\2.png", ["bad-name", "absolute-path"]),
            ("backslash", "a\\2.png", ["bad-name", "accepted"]),
            ("percent", "%2e%2e%2f2.png", ["accepted"]),
            ("percent twice", "%252e%252e%252f2.png", ["accepted"]),
            ("dots and a space", ".. /2.png", ["accepted"]),
            ("three dots", ".../2.png", ["accepted"]),
            ("wide dots", "\u{FF0E}\u{FF0E}/2.png", ["accepted"]),
            ("two dot leader", "\u{2025}/2.png", ["accepted"]),
            ("division slash", "..\u{2215}2.png", ["accepted"]),
            ("home", "~/2.png", ["accepted"]),
            ("address", "file:///tmp/2.png", ["accepted"]),
            ("device of DOS", "CON/AUX.png", ["accepted"]),
            ("stream of NTFS", "2.png:x", ["accepted"]),
            ("line feeds and escapes", "a\n\u{1B}[2J\u{202E}2.png", ["accepted"]),
            ("dot alone", ".", ["accepted"]),
            ("dot at the end", "2.png/.", ["accepted"]),
            ("nothing", "", ["bad-name", "damaged-archive"]),
            ("one byte too long", String(repeating: "a", count: 1021) + ".png", ["bad-name"]),
            ("64 KiB", String(repeating: "a/", count: 32_765) + ".png", ["bad-name", "damaged-archive"]),
        ].map { ($0.0, Array($0.1.utf8), $0.2) } + [
            // Sequences that no decoder may take for dots and slashes. In a RAR 5, a name that is not UTF-8 is no name.
            ("overlong dots", [0xC0, 0xAE, 0xC0, 0xAE, 0x2F] + Array("2.png".utf8), ["accepted", "bad-name"]),
            ("overlong slash", Array("..".utf8) + [0xC0, 0xAF] + Array("2.png".utf8), ["accepted", "bad-name"]),
            ("no UTF-8", [0xFF, 0xFE] + Array("2.png".utf8), ["accepted", "bad-name"]),
            ("half a surrogate", [0xED, 0xA0, 0x80] + Array("2.png".utf8), ["accepted", "bad-name"]),
            // libarchive ends the name there, or takes none at all.
            (
                "NUL and an ending", Array("2.png".utf8) + [0] + Array(".exe".utf8),
                ["accepted", "bad-name", "damaged-archive"]
            ),
            (
                "NUL before a parent", Array("2.png".utf8) + [0] + Array("/../../x".utf8),
                ["accepted", "bad-name", "damaged-archive"]
            ),
            ("NUL behind a parent", Array("../2".utf8) + [0] + Array(".png".utf8), ["traversal", "bad-name"]),
        ]
}
