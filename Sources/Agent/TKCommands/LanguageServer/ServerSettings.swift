import NoteActions
import Platform
import TKCore

extension LanguageServer {
    /// Takes over the client's settings: `advisors`, `ignore` and `longSentence`. Others are left as they are.
    ///
    /// - Throws: ``ReplyError`` that names a wrong one; nothing is taken over then.
    func configure(_ given: JSON?) async throws {
        guard let given, case .object = given else { return }
        let names = Self.names
        let wiring = wiring
        let known = examiner
        examiner = try await pool.run {
            var examiner = known
            if let ids = try names("advisors", given) {
                examiner.settings.advisors = try Self.faulting {
                    try wiring.catalogue(isQuiet: true).roles(ids).map(\.id)
                }
            }
            if let rules = try names("ignore", given) {
                try Self.faulting { try examiner.quick.check(rules) }
                examiner.settings.ignored = rules.sorted()
            }
            if let limit = given["longSentence"] {
                guard let words = limit.integer, (10...1000).contains(words) else {
                    throw ReplyError.invalid("longSentence is a number of words from 10 to 1000")
                }
                examiner.settings.longSentence = words
            }
            return examiner
        }
    }

    private static func names(_ key: String, _ given: JSON) throws -> [String]? {
        guard let value = given[key] else { return nil }
        let names = value.elements.compactMap(\.text)
        guard case .array(let all) = value, all.count == names.count else {
            throw ReplyError.invalid("\(key) is a list of names")
        }
        return names
    }

    private static func faulting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw ReplyError.invalid(explain(error))
        }
    }
}

extension Wiring {
    /// With the user's configuration. Blocks.
    func examiner() throws -> DraftExaminer {
        let configuration = try configuration(try models()).effective()
        let quick = try quickPass()
        var examiner = DraftExaminer(quick: quick, styles: try HouseRules(quick), words: WordFile(home: home))
        examiner.pages = try RulePages(resources, examiner.quick)
        examiner.settings.ignored = configuration.ignoredRules.sorted()
        examiner.settings.advisors = [configuration.role]
        examiner.muted = mutedRules()
        return examiner
    }

    /// Switches a rule off in the user's configuration. Blocks.
    func ignore(_ rule: String) throws {
        let store = try configuration(try models())
        let rules = try store.effective().ignoredRules.union([rule])
        _ = try store.set(ConfigurationKey.ignoredRules.rawValue, to: rules.sorted().joined(separator: ","))
    }
}
