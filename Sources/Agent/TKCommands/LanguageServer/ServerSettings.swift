import NoteActions
import OwnFiles
import Platform
import TKCore

extension LanguageServer {
    /// Takes over the client's settings: `advisors`, `ignore`, `strictStyle` and `longSentence`. One that is left out is
    /// as `initialize` had it.
    ///
    /// - Throws: ``ReplyError`` that names a wrong one; nothing is taken over then.
    func configure(_ given: JSON?) async throws {
        guard let given, case .object = given else { return }
        let initial = phase == .new ? DraftExaminer.GivenSettings() : initialSettings
        let names = Self.names
        let wiring = wiring
        let known = examiner
        examiner = try await pool.run {
            var examiner = known
            examiner.given = initial
            examiner.given.ignoredSince = known.given.ignoredSince
            if let ids = try names("advisors", given) {
                examiner.given.advisors = try Self.faulting {
                    try wiring.catalogue(isQuiet: true).roles(ids).map(\.id)
                }
            }
            if let rules = try names("ignore", given) {
                try Self.faulting { try examiner.quick.check(rules) }
                examiner.given.ignored = Set(rules)
            }
            if let strict = given["strictStyle"] {
                guard case .bool(let isOn) = strict else {
                    throw ReplyError.invalid("strictStyle is true or false")
                }
                examiner.given.strictStyle = isOn
            }
            if let limit = given["longSentence"] {
                guard let words = limit.integer, (10...1000).contains(words) else {
                    throw ReplyError.invalid("longSentence is a number of words from 10 to 1000")
                }
                examiner.given.longSentence = words
            }
            return examiner
        }
        if phase == .new { initialSettings = examiner.given }
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

/// Workspace folders, each of which may have a `.tk/config.json`.
extension LanguageServer {
    /// Takes over the folders of `initialize`. Older clients name only one.
    func setFolders(_ parameters: JSON) {
        let several = parameters["workspaceFolders"]?.elements.compactMap { $0["uri"]?.text } ?? []
        let uris = several.isEmpty ? [parameters["rootUri"]?.text].compactMap { $0 } : several
        folders = uris.compactMap(FileURI.path)
    }

    /// Takes over what has been added and removed.
    func changeFolders(_ event: JSON?) {
        func paths(_ name: String) -> [BytePath] {
            event?[name]?.elements.compactMap { $0["uri"]?.text }.compactMap(FileURI.path) ?? []
        }
        let removed = paths("removed")
        folders = folders.filter { !removed.contains($0) } + paths("added")
        for (uri, open) in drafts { drafts[uri]?.folder = folder(of: open.path) }
        examineAll()
    }

    /// The innermost folder that a draft is in.
    func folder(of draft: BytePath?) -> BytePath? {
        guard let draft else { return nil }
        return folders.filter(draft.isWithin).max { $0.bytes.count < $1.bytes.count }
    }
}

extension Wiring {
    /// With the user's configuration. Blocks.
    ///
    /// - Throws: `Fault` if that, or the one of the working folder, is invalid.
    func examiner() throws -> DraftExaminer {
        let (home, environment, models, quick) = (home, environment, try models(), try quickPass())
        var examiner = DraftExaminer(
            quick: quick, styles: try HouseRules(quick), words: WordFile(home: home),
            configuration: { folder in
                try ConfigurationStore(home: home, workingDirectory: folder, environment: environment, models: models)
                    .effective()
            })
        _ = try examiner.configuration(BytePath.workingFolder)
        examiner.pages = try RulePages(resources, examiner.quick)
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
