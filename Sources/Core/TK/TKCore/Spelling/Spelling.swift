import CHunspell
import Foundation
import OwnFiles
import Platform
import Synchronization

/// Spelling by the Hunspell dictionaries of this machine, and by a user's own words.
///
/// Any number of drafts share one: a dictionary is loaded when the first draft needs it.
package final class Spelling: Sendable {
    private struct State {
        /// By language and region.
        var checkers: [String: LanguageChecker] = [:]
        /// Why dictionaries that are there cannot be used.
        var failures: [String: String] = [:]
    }

    private let resources: TKResources
    private let files: DictionaryFiles
    private let home: TKHome?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - home: has the user's own words; nil: there are none.
    ///   - environment: `DICPATH` names folders of dictionaries, separated by colons, instead of the system's.
    /// - Returns: nil if `DICPATH` is empty: then no spelling is checked.
    package init?(resources: TKResources, home: TKHome?, environment: [String: String]) {
        let folders = environment["DICPATH"]?.split(separator: ":").map { BytePath(String($0)) }
        if folders?.isEmpty ?? false { return nil }
        self.resources = resources
        files = DictionaryFiles(folders: folders ?? DictionaryFiles.system)
        self.home = home
    }

    /// A language's words. Blocks when it is asked for the first time.
    ///
    /// - Returns: nil if there is no dictionary; ``absence(_:region:)`` says why. One that is installed later is found.
    func checker(_ language: String, region: String?) -> LanguageChecker? {
        let key = Self.key(language, region)
        return state.withLock { state in
            if let known = state.checkers[key] { return known }
            if state.failures[key] != nil { return nil }
            do {
                let loaded = try load(language, region: region)
                state.checkers[key] = loaded
                return loaded
            } catch {
                state.failures[key] = explain(error)
                return nil
            }
        }
    }

    /// Why a language's words are not checked, with the package to install, for the user.
    func absence(_ language: String, region: String?) -> String {
        let failure = state.withLock { $0.failures[Self.key(language, region)] }
        let missing =
            steward_speller_exists()
            ? "no dictionary for the language `\(language)` is installed "
                + "(in Debian: \(DictionaryFiles.package(language, region: region)))"
            : "libhunspell is not installed (in Debian: libhunspell-1.7-0)"
        return "spelling is not checked: \(failure ?? missing)"
    }

    /// The words that count as correct in a draft: the user's own, and those of the projects that it is in. Blocks
    /// briefly.
    ///
    /// - Parameters:
    ///   - draft: an absolute path; nil for one without a file.
    ///   - reader: for the projects' lists.
    /// - Returns: also why lists cannot be read, one sentence each.
    package func words(
        for draft: BytePath?, _ reader: ProjectReader = .paths
    ) -> (words: Set<String>, problems: [String]) {
        var words: Set<String> = []
        var problems: [String] = []
        var lists = home.map { home in WordFile.names.map { WordFile(home.folder.appending($0)) } } ?? []
        do {
            lists += try draft.map { try WordFile.all(above: $0.parent, reader) } ?? []
        } catch {
            problems.append(explain(error))
        }
        for list in lists {
            do {
                words.formUnion(try list.words())
            } catch {
                problems.append(explain(error))
            }
        }
        return (words, problems)
    }

    private static func key(_ language: String, _ region: String?) -> String {
        region.map { "\(language)-\($0)" } ?? language
    }

    private func load(_ language: String, region: String?) throws -> LanguageChecker? {
        guard steward_speller_exists() else { return nil }
        let found = try files.find(language, region: region)
        guard !found.isEmpty else { return nil }
        return LanguageChecker(
            language: language,
            dictionaries: try found.map { try SpellingDictionary(affixes: $0.affixes, words: $0.words) },
            terms: language == "en" ? try list(region == nil ? ["en", "en-variants"] : ["en"]) : [],
            common: language == "en" ? try list(["en-common"]) : [], hasRegion: region != nil)
    }

    private func list(_ names: [String]) throws -> Set<String> {
        Set(
            try names.flatMap {
                try resources.text("spelling/\($0).txt").split(whereSeparator: \.isWhitespace).map(String.init)
            })
    }
}
