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
        /// Nil without a dictionary.
        var checkers: [String: LanguageChecker?] = [:]
        var notices: [String] = []
        var told: Set<String> = []
    }

    private let resources: TKResources
    private let files: DictionaryFiles
    private let ownWords: WordFile?
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
        ownWords = home.map { WordFile(home: $0) }
    }

    /// What the user should know, such as the package of a missing dictionary: each sentence once.
    package func takeNotices() -> [String] {
        state.withLock { state in
            defer { state.notices = [] }
            return state.notices
        }
    }

    /// A language's words. Blocks when it is asked for the first time.
    ///
    /// - Returns: nil if there is no dictionary.
    func checker(_ language: String, region: String?) -> LanguageChecker? {
        let key = region.map { "\(language)-\($0)" } ?? language
        return state.withLock { state in
            if let known = state.checkers[key] { return known }
            let loaded: LanguageChecker?
            do {
                loaded = try load(language, region: region)
            } catch {
                loaded = nil
                Self.tell("spelling is not checked: \(explain(error))", &state)
            }
            state.checkers[key] = .some(loaded)
            return loaded
        }
    }

    /// Notes for the user that the spelling of a draft's language was not checked.
    func noteMissing(_ language: String, region: String?) {
        let reason =
            steward_speller_exists()
            ? "no dictionary for the language `\(language)` is installed "
                + "(in Debian: \(DictionaryFiles.package(language, region: region)))"
            : "libhunspell is not installed (in Debian: libhunspell-1.7-0)"
        state.withLock { Self.tell("spelling is not checked: \(reason)", &$0) }
    }

    /// The user's own words. Blocks briefly.
    func words() -> Set<String> {
        guard let ownWords else { return [] }
        do {
            return Set(
                try WordFile.names.flatMap { try WordFile(ownWords.path.parent.appending($0)).words() })
        } catch {
            state.withLock { Self.tell("your own words are not read: \(explain(error))", &$0) }
            return []
        }
    }

    private func load(_ language: String, region: String?) throws -> LanguageChecker? {
        guard steward_speller_exists() else { return nil }
        let found = try files.find(language, region: region)
        guard !found.isEmpty else { return nil }
        return LanguageChecker(
            language: language,
            dictionaries: try found.map { try SpellingDictionary(affixes: $0.affixes, words: $0.words) },
            terms: try terms(language), hasRegion: region != nil)
    }

    private func terms(_ language: String) throws -> Set<String> {
        guard language == "en" else { return [] }
        return Set(try resources.text("spelling/en.txt").split(whereSeparator: \.isWhitespace).map(String.init))
    }

    private static func tell(_ notice: String, _ state: inout State) {
        if state.told.insert(notice).inserted { state.notices.append(notice) }
    }
}
