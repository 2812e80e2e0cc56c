/// One pass over the prose of a draft, block by block.
struct QuickScan {
    /// A finding, before it becomes a suggestion.
    struct Finding {
        enum Rule: Equatable {
            case phrase(Int)
            case passive, passiveDensity, longSentence, repeatedWord, spelling, unknownWord
        }

        var rule: Rule
        var range: Range<Int>
        /// The flagged words alone, if the range also includes the word after them or the article before them.
        var phrase: Range<Int>?
        /// Nil if there is none.
        var replacement: String?
        /// The phrase should be removed.
        var isRemoval = false
        /// The replacement is for the message only.
        var isRemark = false
        /// Replaces the rule's message.
        var caution: String?
        /// The flagged word within the quote, or a number for the message.
        var detail = ""
        /// The words after this do not count for the finding's id: a long sentence stays the same when its end changes.
        var identityEnd: Int?
        /// Also worth reporting in a story.
        var isForNarrative = true
    }

    let lexicon: QuickLexicon
    let settings: QuickPass.Settings
    let blocks: [DraftMask.Block]
    /// The original draft; the scanned text has blanks in place of markup.
    let draft: DraftText
    /// The draft is plain text, where code and placeholders look like words.
    var isPlain: Bool { draft.syntax == .plain }
    private let languages: DraftLanguages
    /// Nil: spelling is not checked.
    private(set) var spelling: SpellingScan?
    /// Of the blocks so far.
    private(set) var readings: [BlockReading] = []

    // What the current block's reading found.
    var findings: [Finding] = []
    var sentenceCount = 0
    /// Sentences with a passive.
    var passiveCount = 0
    var firstPassive: Range<Int>?

    // The current block's language.
    var language = QuickLexicon.english
    var prose = ProseTokens()
    var speech = QuotedSpeech()
    /// The current block is verse.
    private(set) var isVerse = false

    private let isActive: [Bool]
    /// For each rule, the token up to which a longer phrase suppresses its findings.
    private var allowedUntil: [Int]
    /// For each rule, the token with which its last phrase in this block began.
    private var lastOf: [Int]

    init(
        _ draft: DraftText, lexicon: QuickLexicon, settings: QuickPass.Settings, blocks: [DraftMask.Block],
        languages: DraftLanguages, spelling: SpellingScan? = nil
    ) {
        self.spelling = spelling
        (self.draft, self.languages, self.lexicon) = (draft, languages, lexicon)
        (self.settings, self.blocks) = (settings, blocks)
        isActive = lexicon.roles.map { role in role.map(settings.roles.contains) ?? true }
        allowedUntil = Array(repeating: 0, count: lexicon.rules.count)
        lastOf = allowedUntil
    }

    /// - Parameter kept: readings of an earlier version, which are not made again.
    mutating func run(_ text: UnsafeBufferPointer<Unicode.Scalar>, kept: KeptBlocks?) -> [Finding] {
        for block in blocks {
            if let known = kept?.reading(of: block) {
                readings.append(known)
            } else {
                let new = read(block, text)
                readings.append(new)
            }
        }
        return conclusion()
    }

    /// Everything that this depends on is in ``KeptBlocks/reach(of:)`` or in ``QuickReading/Circumstances``.
    private mutating func read(_ block: DraftMask.Block, _ text: UnsafeBufferPointer<Unicode.Scalar>) -> BlockReading {
        var reading = BlockReading()
        findings = []
        (sentenceCount, passiveCount, firstPassive) = (0, 0, nil)
        prose.read(text, block.range, lexicon)
        speech.read(text, block.range)
        isVerse = BlockLines(text, block.range).isVerse
        language = languages.language(of: block.range, prose.tokens)
        reading.spelling = spelling?.read(text, block, language, prose, speech)
        if language == QuickLexicon.english { reading.narrative.add(prose.tokens, lexicon) }
        findPhrases(text)
        if lexicon.knowsRepetitions(in: language) { findRepeatedWords(text, block) }
        if block.kind == .paragraph {
            if language == QuickLexicon.english { findPassives(text) }
            findLongSentences(text, block)
        }
        reading.findings = findings
        (reading.sentences, reading.passives, reading.firstPassive) = (sentenceCount, passiveCount, firstPassive)
        return reading
    }

    /// What the blocks' readings mean together.
    private mutating func conclusion() -> [Finding] {
        var found = readings.flatMap(\.findings)
        found += spelling?.findings(in: readings.compactMap(\.spelling)) ?? []
        var narrative = NarrativeMeasure()
        for reading in readings { narrative.add(reading.narrative) }
        if narrative.isNarrative { found.removeAll { !$0.isForNarrative } }
        let sentences = readings.reduce(0) { $0 + $1.sentences }
        let passives = readings.reduce(0) { $0 + $1.passives }
        let isDense =
            passives >= lexicon.passive.minimumPassives
            && Double(passives) >= lexicon.passive.densityPerSentence * Double(sentences)
        if isDense, let first = readings.lazy.compactMap(\.firstPassive).first {
            found.append(Finding(rule: .passiveDensity, range: first, detail: "\(passives) of \(sentences)"))
        }
        return found
    }

    // MARK: Phrases

    private mutating func findPhrases(_ text: UnsafeBufferPointer<Unicode.Scalar>) {
        for index in allowedUntil.indices {
            allowedUntil[index] = 0
            lastOf[index] = -Self.crowd.upperBound
        }
        var start = 0
        let count = prose.tokens.count
        while start < count {
            defer { start += 1 }
            let word = prose.tokens[start].word
            guard word >= 0, lexicon.startsPhrase[Int(word)] else { continue }
            var node: Int32 = 0
            var end = start
            var best: [(entry: QuickLexicon.Entry, end: Int)] = []
            while end < count, end == start || prose.tokens[end].followsDirectly {
                node = lexicon.next(node, prose.tokens[end].word)
                guard node >= 0 else { break }
                end += 1
                for entry in lexicon.entries[Int(node)]
                where isActive[entry.rule] && lexicon.rules[entry.rule].language == language {
                    if let known = best.firstIndex(where: { $0.entry.rule == entry.rule }) {
                        best[known] = (entry, end)
                    } else {
                        best.append((entry, end))
                    }
                }
            }
            for (entry, end) in best where allowedUntil[entry.rule] <= start {
                allowedUntil[entry.rule] = end
                if !entry.isAllowed { add(entry, start..<end, text) }
            }
        }
    }

    private mutating func add(
        _ entry: QuickLexicon.Entry, _ tokens: Range<Int>, _ text: UnsafeBufferPointer<Unicode.Scalar>
    ) {
        let rule = lexicon.rules[entry.rule]
        let first = prose.tokens[tokens.lowerBound]
        let last = prose.tokens[tokens.upperBound - 1]
        // A role's rules examine labels and the like, which are between such marks.
        if lexicon.roles[entry.rule] == nil, speech.contains(first.start) { return }
        let next = tokens.upperBound < prose.tokens.count ? prose.tokens[tokens.upperBound] : nil
        let directly = next.flatMap { $0.followsDirectly ? $0 : nil }
        if entry.standsApart, directly != nil { return }
        // “Very, very happy” is deliberate.
        let before = tokens.lowerBound > 0 ? prose.tokens[tokens.lowerBound - 1] : nil
        if rule.crowds ?? false, before?.hash == first.hash { return }
        if entry.describes, before.map({ lexicon.kind($0.word).isDisjoint(with: [.article, .be]) }) ?? true { return }
        if entry.leads, directly.map({ isFunction($0) }) ?? true { return }
        let around = PhraseSurroundings(
            lexicon: lexicon, prose: prose, text: text, phrase: tokens,
            opensClause: follows([",", "("], tokens.lowerBound, text),
            commaBehind: last.end < text.count && text[last.end] == ",",
            opensSentence: prose.opensSentence(tokens.lowerBound))
        let fits = entry.frame.map(around.fit) ?? true
        guard fits || entry.frame?.leavesRemark ?? true else { return }
        // “Head Over Heels” within a sentence is a title.
        let isTitle =
            tokens.count > 1 && first.isCapitalised && last.isCapitalised && !prose.opensSentence(tokens.lowerBound)
        if isTitle, lexicon.roles[entry.rule] == nil,
            text[first.start..<last.end].contains(where: \.properties.isLowercase)
        {
            return
        }
        let negation = rule.tellsDegree ?? false ? self.negation(before: tokens.lowerBound) : nil
        // “Not essential” is not what “not absolutely essential” says.
        if negation != nil, !(rule.dropsWord ?? false) { return }
        // “PIN number” is one word too many; a pin of a circuit has a number.
        if let short = entry.replacement?.prefix(2), short.count == 2, short.allSatisfy(\.isUppercase),
            text[first.start..<first.end].contains(where: \.properties.isLowercase)
        {
            return
        }
        var finding = Finding(rule: .phrase(entry.rule), range: first.start..<last.end)
        if rule.crowds ?? false {
            finding.isForNarrative = Self.crowd.contains(tokens.lowerBound - lastOf[entry.rule])
            lastOf[entry.rule] = tokens.lowerBound
        }
        finding.phrase = finding.range
        finding.detail = string(text, finding.range)
        if rule.dropsWord ?? false {
            guard tokens.upperBound < prose.tokens.count, prose.tokens[tokens.upperBound].followsDirectly else {
                findings.append(finding)
                return
            }
            let next = prose.tokens[tokens.upperBound]
            finding.range = first.start..<next.end
            finding.replacement = string(text, next.start..<next.end)
        } else if let replacement = entry.replacement {
            if replacement.isEmpty {
                // Remove the phrase with the space or the comma after it.
                guard tokens.upperBound < prose.tokens.count else { return }
                let next = prose.tokens[tokens.upperBound]
                guard gapIsSimple(last.end..<next.start, text) else { return }
                finding.range = first.start..<next.end
                finding.replacement = string(text, next.start..<next.end)
                finding.isRemoval = true
            } else {
                finding.replacement = replacement
            }
        }
        if let replacement = finding.replacement {
            let isShouted = finding.range.count > 3 && text[finding.range].allSatisfy { !$0.properties.isLowercase }
            var fitting = isShouted ? replacement.uppercased() : replacement
            if first.isCapitalised { fitting = fitting.prefix(1).uppercased() + fitting.dropFirst() }
            finding.replacement = fitting
            fitArticle(&finding, before: tokens.lowerBound, text)
        }
        if finding.replacement != nil, let caution = fits ? caution(negation, tokens, text, finding) : Self.unfit {
            finding.caution = caution
            if rule.crowds ?? false { finding.isForNarrative = false }
            finding.isRemark = true
            finding.range = finding.phrase ?? finding.range
        }
        findings.append(finding)
    }

    /// Why the words around a phrase forbid its replacement; nil if they do not.
    private func caution(
        _ negation: ProseTokens.Token?, _ tokens: Range<Int>, _ text: UnsafeBufferPointer<Unicode.Scalar>,
        _ finding: Finding
    ) -> String? {
        if let negation {
            let word = string(text, negation.start..<negation.end)
            return "“{quote}” stands under “\(word)”: without these words the sentence may say something else. "
                + "Look whether that is meant."
        }
        if finding.replacement?.lowercased() == "for", tokens.upperBound < prose.tokens.count,
            prose.tokens[tokens.upperBound].ending == .ing
        {
            return "“{quote}” and a verb in -ing are a long way to say “to” and the verb itself."
        }
        // Next to a number or a limit it means “nearly”.
        if finding.isRemoval, follows([","], tokens.lowerBound, text) {
            return "“{quote}” can go, and the comma in front of it."
        }
        if finding.isRemoval,
            !prose.opensSentence(tokens.lowerBound) || !isFunction(prose.tokens[tokens.upperBound])
                || prose.tokens[tokens.upperBound].isTechnical
        {
            return "“{quote}” adds nothing here: say it without."
        }
        guard finding.replacement?.lowercased() == "about" else { return nil }
        let before = tokens.lowerBound > 0 ? prose.tokens[tokens.lowerBound - 1] : nil
        let behind = tokens.upperBound < prose.tokens.count ? prose.tokens[tokens.upperBound] : nil
        let isLimited = before.map { $0.hash == Self.least || $0.hash == Self.most || $0.hash == Self.than } ?? false
        let isCounted = behind.map { text[$0.start].properties.numericType != nil } ?? false
        guard isLimited || isCounted else { return nil }
        return "“{quote}” is wordy, but “about” would be read as “nearly” here: find another way to say it."
    }

    /// The negation that a phrase may stand under: back to a punctuation mark, which limits its reach.
    private func negation(before token: Int) -> ProseTokens.Token? {
        var index = token
        while index > 0, prose.tokens[index].followsDirectly, token - index < Self.reach {
            index -= 1
            if lexicon.kind(prose.tokens[index].word).contains(.negation) { return prose.tokens[index] }
        }
        return nil
    }

    private static let unfit =
        "“{quote}” is a long way to say “{replacement}”, but here other words have to change with it."

    private func follows(
        _ marks: [Unicode.Scalar], _ token: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>
    ) -> Bool {
        guard token > 0 else { return false }
        return text[prose.tokens[token - 1].end..<prose.tokens[token].start].contains(where: marks.contains)
    }

    /// Whether it is a function word.
    private func isFunction(_ token: ProseTokens.Token) -> Bool {
        token.end - token.start <= 3 || !lexicon.kind(token.word).isDisjoint(with: [.english, .adverb, .be])
            || lexicon.repetition(token.word, in: language).contains(.function)
    }

    /// Phrases this many words apart crowd; closer ones are parallel: “very noble, very grand”.
    private static let crowd = 7..<40
    /// The number of words examined before a phrase.
    private static let reach = 8
    private static let least = WordHash.of("least")
    private static let most = WordHash.of("most")
    private static let than = WordHash.of("than")

    /// “a very old” becomes “an old”: an article before it that no longer fits joins the finding.
    private func fitArticle(_ finding: inout Finding, before token: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>) {
        guard token > 0, prose.tokens[token].followsDirectly else { return }
        let article = prose.tokens[token - 1]
        guard lexicon.kind(article.word).contains(.article), let replacement = finding.replacement,
            let first = replacement.lowercased().unicodeScalars.first
        else { return }
        let needsN = Self.startsWithVowel(replacement.lowercased(), first)
        let hasN = article.end - article.start == 2
        guard needsN != hasN else { return }
        let word = (article.isCapitalised ? "A" : "a") + (needsN ? "n" : "")
        finding.range = article.start..<finding.range.upperBound
        finding.replacement = "\(word) \(replacement)"
    }

    /// By sound, as far as the first letters show it: “a useful”, “an hour”.
    private static func startsWithVowel(_ word: String, _ first: Unicode.Scalar) -> Bool {
        if ["use", "usu", "uti", "uni", "eu", "one ", "once", "ubi", "ura"].contains(where: word.hasPrefix)
            || word == "one"
        {
            return word.hasPrefix("unin") || word.hasPrefix("unim") || word.hasPrefix("unid")
        }
        if ["hour", "honest", "honor", "honour", "heir"].contains(where: word.hasPrefix) { return true }
        return "aeiou".unicodeScalars.contains(first)
    }

    private func gapIsSimple(_ range: Range<Int>, _ text: UnsafeBufferPointer<Unicode.Scalar>) -> Bool {
        range.allSatisfy { ProseTokens.isSpace(text[$0]) || text[$0] == "," }
    }

    func string(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text[range])
        return String(view)
    }
}
