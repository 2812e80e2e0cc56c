import OwnFiles
import Platform

/// Hunspell's dictionaries in folders of this machine. Everything here blocks.
struct DictionaryFiles {
    /// Where Debian's packages put them.
    static let system: [BytePath] = ["/usr/share/hunspell", "/usr/share/myspell/dicts"]

    let folders: [BytePath]

    /// A language's dictionaries: of the stated region if there is one, else of the usual regions.
    ///
    /// - Parameter region: in upper case.
    /// - Returns: the .aff and the .dic file of each.
    func find(_ language: String, region: String?) throws -> [(affixes: BytePath, words: BytePath)] {
        for folder in folders {
            let names = Set(try ConfigurationFiles.names(in: folder).map { String(decoding: $0, as: UTF8.self) })
            func has(_ name: String) -> Bool { names.contains("\(name).aff") && names.contains("\(name).dic") }
            let codes = language == "no" ? ["nb", "nn", "no"] : [language]
            var chosen = codes.compactMap { code in region.map { "\(code)_\($0)" } }.filter(has)
            if chosen.isEmpty {
                chosen = codes.flatMap { code in
                    (Self.regions[code] ?? [code.uppercased()]).map { "\(code)_\($0)" }
                }.filter(has)
            }
            if chosen.isEmpty { chosen = codes.filter(has) }
            if chosen.isEmpty {
                let others = names.sorted().filter { $0.hasSuffix(".dic") }.map { String($0.dropLast(4)) }
                let other = others.first { name in has(name) && codes.contains { name.hasPrefix("\($0)_") } }
                chosen = other.map { [$0] } ?? []
            }
            if !chosen.isEmpty {
                return chosen.map { (folder.appending("\($0).aff"), folder.appending("\($0).dic")) }
            }
        }
        return []
    }

    /// Debian's package with the dictionary of a language.
    static func package(_ language: String, region: String?) -> String {
        guard let usual = packages[language] else { return "hunspell-\(language)" }
        return "hunspell-\(language)-\(region?.lowercased() ?? usual)"
    }

    /// The regions that write a language in different ways. Text without a stated region may be from any of them.
    private static let regions = [
        "en": ["US", "GB"], "pt": ["PT", "BR"], "nb": ["NO"], "nn": ["NO"], "sv": ["SE"], "da": ["DK"], "cs": ["CZ"],
        "el": ["GR"], "uk": ["UA"], "ca": ["ES"], "sl": ["SI"], "et": ["EE"],
    ]
    private static let packages = ["en": "us", "de": "de", "pt": "pt"]
}
