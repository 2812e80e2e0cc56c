import Foundation

/// The words and phrases of the quick pass, prepared for a single scan over a text.
///
/// Words have numbers; phrases are paths in a trie of these numbers, so that one scan suffices for any number of
/// phrases.
struct QuickLexicon: Sendable {
    /// A phrase's role in a rule.
    struct Entry: Sendable {
        var rule: Int
        var replacement: String?
        /// The phrase is fine and hides shorter ones.
        var isAllowed: Bool
        /// See ``PhraseRule/apart``.
        var standsApart = false
        /// See ``PhraseRule/leading``.
        var leads = false
        /// See ``PhraseRule/describing``.
        var describes = false
        /// See ``PhraseRule/frames``.
        var frame: PhraseRule.Frame?
    }

    /// Properties of a word, as bits.
    struct WordKind: OptionSet, Sendable {
        let rawValue: UInt32
        static let be = WordKind(rawValue: 1)
        static let participle = WordKind(rawValue: 2)
        static let notParticiple = WordKind(rawValue: 4)
        static let notAgent = WordKind(rawValue: 8)
        static let adverb = WordKind(rawValue: 16)
        static let stative = WordKind(rawValue: 32)
        static let by = WordKind(rawValue: 64)
        static let repeatable = WordKind(rawValue: 128)
        static let function = WordKind(rawValue: 256)
        static let abbreviation = WordKind(rawValue: 512)
        static let article = WordKind(rawValue: 1024)
        /// Contracted with a form of “be”: “it's”.
        static let contracted = WordKind(rawValue: 2048)
        /// A participle whose passive with “by” is common usage: “followed by”.
        static let idiomatic = WordKind(rawValue: 4096)
        /// Words common in English texts, and in no others.
        static let english = WordKind(rawValue: 8192)
        static let negation = WordKind(rawValue: 16384)
        /// Starts the name of a person or thing already known to the reader.
        static let known = WordKind(rawValue: 32768)
        /// A pronoun for a character.
        static let person = WordKind(rawValue: 1 << 16)
        /// A past tense.
        static let past = WordKind(rawValue: 1 << 17)
        /// An ``abbreviation`` that ends a sentence if a capital follows.
        static let closingAbbreviation = WordKind(rawValue: 1 << 18)
    }

    let rules: [PhraseRule]
    /// The role of each rule; nil for rules of all roles.
    let roles: [String?]
    let passive: PassiveWords
    /// Detects the languages of passages.
    let languages: LanguageTable
    private(set) var kinds: [WordKind] = []
    /// By language, the kinds of words for repetitions.
    private var repeated: [String: [Int32: WordKind]] = [:]
    /// Words that may occur twice in some language: a quotation of a few words is not recognised as foreign.
    private var elsewhere: Set<Int32> = []
    /// The entries of each node of the trie.
    private(set) var entries: [[Entry]] = [[]]
    /// Whether a word starts a phrase.
    private(set) var startsPhrase: [Bool] = []
    private var numbers: [UInt64: Int32] = [:]
    private var edges: [UInt64: Int32] = [:]

    init(
        rules: [PhraseRule], roleRules: [String: [PhraseRule]], passive: PassiveWords,
        repeated: [String: RepeatedWords], languages: LanguageTable
    ) {
        self.languages = languages
        var all = rules
        var roles: [String?] = rules.map { _ in nil }
        for (role, own) in roleRules.sorted(by: { $0.key < $1.key }) {
            all += own
            roles += own.map { _ in role }
        }
        self.rules = all
        self.roles = roles
        self.passive = passive
        for (number, rule) in all.enumerated() {
            var frames: [String: PhraseRule.Frame] = [:]
            for (frame, phrases) in rule.frames ?? [:] { for phrase in phrases { frames[phrase] = frame } }
            for (phrase, replacement) in rule.phrases {
                add(
                    phrase,
                    Entry(
                        rule: number, replacement: replacement, isAllowed: false,
                        standsApart: rule.apart?.contains(phrase) ?? false,
                        leads: rule.leading?.contains(phrase) ?? false,
                        describes: rule.describing?.contains(phrase) ?? false, frame: frames[phrase]))
            }
            for phrase in rule.allow ?? [] { add(phrase, Entry(rule: number, replacement: nil, isAllowed: true)) }
        }
        mark("am is are was were be been being get gets got getting gotten", .be)
        mark("it's that's he's she's who's what's they're we're you're i'm there's", .contracted)
        mark("by", .by)
        mark("a an", .article)
        mark("e.g i.e etc vs mr mrs ms dr prof st cf al fig vol pp approx resp inc ltd jr sr dept", .abbreviation)
        mark("etc", .closingAbbreviation)
        mark(passive.irregular, .participle)
        mark(passive.notParticiples, .notParticiple)
        mark(passive.notAgents, .notAgent)
        mark(passive.adverbs, .adverb)
        mark(passive.statives, .stative)
        mark(passive.idiomatic, .idiomatic)
        mark(
            "the and to that it with as this are be from have not you which but were has if would there their been when who "
                + "they about", .english)
        mark("he she him her his hers himself herself", .person)
        mark("was were had said did came went saw told", .past)
        mark(
            "the this that these those my our your his her its their us them him me you it others anybody anyone everybody "
                + "everyone somebody someone nobody", .known)
        mark(
            "not no never nor neither without hardly scarcely barely seldom rarely cannot nobody nothing none nowhere isn't "
                + "aren't wasn't weren't don't doesn't didn't can't couldn't won't wouldn't shouldn't hasn't haven't hadn't "
                + "mustn't needn't ain't", .negation)
        for (language, words) in repeated {
            for word in words.allowed { add(word, .repeatable, to: language) }
            for word in words.function { add(word, .function, to: language) }
            if language != Self.english { elsewhere.formUnion(words.allowed.map { intern($0) }) }
        }
    }

    static let english = "en"

    /// Whether there are words for repetitions in a language.
    func knowsRepetitions(in language: String) -> Bool { repeated[language] != nil }

    /// The kind of a repeated word in a passage of a language.
    func repetition(_ word: Int32, in language: String) -> WordKind {
        if let kind = repeated[language]?[word] { return kind }
        return elsewhere.contains(word) ? .repeatable : []
    }

    private mutating func add(_ word: String, _ kind: WordKind, to language: String) {
        repeated[language, default: [:]][intern(word), default: []].insert(kind)
    }

    /// The number of a word by the hash of its lower-case scalars, or -1.
    func number(of hash: UInt64) -> Int32 { numbers[hash] ?? -1 }

    func kind(_ word: Int32) -> WordKind { word >= 0 ? kinds[Int(word)] : [] }

    /// The child of a node for a word, or -1.
    func next(_ node: Int32, _ word: Int32) -> Int32 { edges[Self.edge(node, word)] ?? -1 }

    private static func edge(_ node: Int32, _ word: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: node)) << 32 | UInt64(UInt32(bitPattern: word))
    }

    private mutating func mark(_ words: String, _ kind: WordKind) {
        mark(words.split(separator: " ").map(String.init), kind)
    }

    private mutating func mark(_ words: [String], _ kind: WordKind) {
        for word in words { kinds[Int(intern(word))].insert(kind) }
    }

    private mutating func intern(_ word: String) -> Int32 {
        let hash = WordHash.of(word)
        if let number = numbers[hash] { return number }
        numbers[hash] = Int32(kinds.count)
        kinds.append([])
        startsPhrase.append(false)
        return Int32(kinds.count - 1)
    }

    private mutating func add(_ phrase: String, _ entry: Entry) {
        var node: Int32 = 0
        for word in phrase.split(separator: " ") {
            let number = intern(String(word))
            if node == 0 { startsPhrase[Int(number)] = true }
            let edge = Self.edge(node, number)
            if let known = edges[edge] {
                node = known
            } else {
                node = Int32(entries.count)
                entries.append([])
                edges[edge] = node
            }
        }
        if node > 0 { entries[Int(node)].append(entry) }
    }
}

/// FNV-1a over the lower-case scalars of a word.
struct WordHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ scalar: Unicode.Scalar) {
        var code = scalar.value
        if code &- 65 < 26 { code |= 32 }
        if code == 0x2019 { code = 39 }
        if code > 127, let lower = scalar.properties.lowercaseMapping.unicodeScalars.first {
            code = code == 0x2019 ? 39 : lower.value
        }
        value = (value ^ UInt64(code)) &* 0x100_0000_01B3
    }

    static func of(_ word: String) -> UInt64 {
        var hash = WordHash()
        for scalar in word.unicodeScalars { hash.add(scalar) }
        return hash.value
    }

    /// Of words separated by spaces.
    static func set(_ words: String) -> Set<UInt64> { Set(words.split(separator: " ").map { of(String($0)) }) }
}

extension QuickLexicon {
    /// Reads the rules from the bundle's `quick/*.json`. Blocks briefly.
    ///
    /// - Throws: `Fault` if a file is missing or invalid.
    init(_ resources: TKResources) throws {
        func decode<T: Decodable>(_ type: T.Type, _ name: String) throws -> T {
            try JSONDecoder().decode(type, from: Data(try resources.read("quick/\(name).json")))
        }
        let names = ["wordy", "redundancy", "uncomparable", "weak-words", "hedging", "cliche"]
        self.init(
            rules: try names.map { try decode(PhraseRule.self, $0) },
            roleRules: try decode([String: [PhraseRule]].self, "roles"),
            passive: try decode(PassiveWords.self, "passive"),
            repeated: try decode([String: RepeatedWords].self, "repeated"), languages: try LanguageTable(resources))
    }
}
