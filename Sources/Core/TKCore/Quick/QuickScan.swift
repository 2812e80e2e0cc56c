/// One pass over the prose of a draft, block by block.
struct QuickScan {
    /// What was found, before it becomes a suggestion.
    struct Finding {
        enum Rule: Equatable {
            case phrase(Int)
            case passive, passiveDensity, longSentence, repeatedWord
        }

        var rule: Rule
        var range: Range<Int>
        /// The flagged words alone, where the range also holds the word behind them or the article in front.
        var phrase: Range<Int>?
        /// Nil: there is none.
        var replacement: String?
        /// Nothing should stand in place of the phrase.
        var isRemoval = false
        /// The replacement is for the message alone.
        var isRemark = false
        /// What is to be said in place of the rule's message.
        var caution: String?
        /// The flagged word within the quote, or a number for the message.
        var detail = ""
        /// The words from here on do not count for the finding's id: a long sentence stays the same when its end changes.
        var identityEnd: Int?
    }

    let lexicon: QuickLexicon
    let settings: QuickPass.Settings
    let blocks: [DraftMask.Block]
    private let languages: DraftLanguages
    /// Of the block that is looked at.
    private var language = QuickLexicon.english
    private(set) var findings: [Finding] = []

    private var prose = ProseTokens()
    private var sentenceCount = 0
    private var passiveCount = 0
    private var firstPassive: Range<Int>?
    private let isActive: [Bool]
    /// For each rule, the token up to which a longer phrase allows what it would flag.
    private var allowedUntil: [Int]

    init(lexicon: QuickLexicon, settings: QuickPass.Settings, blocks: [DraftMask.Block], languages: DraftLanguages) {
        self.languages = languages
        self.lexicon = lexicon
        self.settings = settings
        self.blocks = blocks
        isActive = lexicon.roles.map { role in role.map(settings.roles.contains) ?? true }
        allowedUntil = Array(repeating: 0, count: lexicon.rules.count)
    }

    mutating func run(_ text: UnsafeBufferPointer<Unicode.Scalar>) {
        for block in blocks {
            prose.read(text, block.range, lexicon)
            language = languages.language(of: block.range, prose.tokens)
            findPhrases(text)
            if lexicon.knowsRepetitions(in: language) { findRepeatedWords(text, block) }
            if block.kind == .paragraph {
                if language == QuickLexicon.english { findPassives() }
                findLongSentences(text)
            }
        }
        let isDense =
            passiveCount >= lexicon.passive.minimumPassives
            && Double(passiveCount) >= lexicon.passive.densityPerSentence * Double(sentenceCount)
        if isDense, let firstPassive {
            findings.append(
                Finding(rule: .passiveDensity, range: firstPassive, detail: "\(passiveCount) of \(sentenceCount)"))
        }
    }

    // MARK: Phrases

    private mutating func findPhrases(_ text: UnsafeBufferPointer<Unicode.Scalar>) {
        for index in allowedUntil.indices { allowedUntil[index] = 0 }
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
        var finding = Finding(rule: .phrase(entry.rule), range: first.start..<last.end)
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
                // The phrase goes with the space or the comma behind it.
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
        if finding.replacement != nil, let caution = caution(rule, tokens, text, finding) {
            finding.caution = caution
            finding.isRemark = true
            finding.range = finding.phrase ?? finding.range
        }
        findings.append(finding)
    }

    /// Why the words around a phrase forbid its replacement; nil where they do not.
    private func caution(
        _ rule: PhraseRule, _ tokens: Range<Int>, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ finding: Finding
    ) -> String? {
        var index = tokens.lowerBound
        // Back to a mark of punctuation: so far a negation reaches.
        while rule.tellsDegree ?? false, index > 0, prose.tokens[index].followsDirectly,
            tokens.lowerBound - index < Self.reach
        {
            index -= 1
            guard lexicon.kind(prose.tokens[index].word).contains(.negation) else { continue }
            let negation = string(text, prose.tokens[index].start..<prose.tokens[index].end)
            return "“{quote}” stands under “\(negation)”: without these words the sentence may say something else. "
                + "Look whether that is meant."
        }
        // Beside a number or a limit it is read as “nearly”.
        guard finding.replacement?.lowercased() == "about" else { return nil }
        let before = tokens.lowerBound > 0 ? prose.tokens[tokens.lowerBound - 1] : nil
        let behind = tokens.upperBound < prose.tokens.count ? prose.tokens[tokens.upperBound] : nil
        let isLimited = before.map { $0.hash == Self.least || $0.hash == Self.most || $0.hash == Self.than } ?? false
        let isCounted = behind.map { text[$0.start].properties.numericType != nil } ?? false
        guard isLimited || isCounted else { return nil }
        return "“{quote}” is wordy, but “about” would be read as “nearly” here: find another way to say it."
    }

    /// So many words in front of a phrase are looked at.
    private static let reach = 8
    private static let least = WordHash.of("least")
    private static let most = WordHash.of("most")
    private static let than = WordHash.of("than")

    /// “a very old” becomes “an old”: where the article in front no longer fits, it joins the finding.
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

    /// By sound, as far as the first letters tell it: “a useful”, “an hour”.
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

    private func string(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text[range])
        return String(view)
    }

    // MARK: Repetitions

    private mutating func findRepeatedWords(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: DraftMask.Block) {
        let tokens = prose.tokens
        guard tokens.count > 1 else { return }
        var index = 1
        while index < tokens.count {
            defer { index += 1 }
            guard tokens[index].followsDirectly, !tokens[index].isTechnical else { continue }
            if tokens[index].hash == tokens[index - 1].hash, !tokens[index - 1].isTechnical {
                index = repeatedWord(at: index, text, block)
            } else {
                index = repeatedPhrase(at: index, text)
            }
        }
    }

    /// Judges two equal words in a row; gives the last token that was judged.
    private mutating func repeatedWord(
        at index: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: DraftMask.Block
    ) -> Int {
        let tokens = prose.tokens
        var last = index
        while last + 1 < tokens.count, tokens[last + 1].followsDirectly, tokens[last + 1].hash == tokens[index].hash {
            last += 1
        }
        let first = tokens[index - 1]
        let times = last - index + 2
        let kind = lexicon.repetition(first.word, in: language)
        let length = first.end - first.start
        let isCompound = tokens[last].end < text.count && text[tokens[last].end] == "-"
        guard !isCompound, times <= 3 else { return last }
        if kind.contains(.function) || (kind.contains(.repeatable) && times == 3 && first.hash == Self.that) {
            // A function word that is a name (`The The`) or a letter is none.
            guard length > 1 || !tokens[index].isCapitalised || first.hash == Self.letterI else { return last }
        } else {
            // Names may consist of the same word twice, and so may emphasis.
            guard block.kind == .paragraph, length >= 3, times == 2, !tokens[index].isCapitalised,
                !kind.contains(.repeatable), tokens[index].ending != .ly
            else { return last }
        }
        findings.append(
            Finding(
                rule: .repeatedWord, range: first.start..<tokens[last].end,
                replacement: string(text, first.start..<first.end), detail: string(text, first.start..<first.end)))
        return last
    }

    private static let that = WordHash.of("that")
    private static let letterI = WordHash.of("i")

    /// Judges whether three or four words are said twice in a row; gives the last token that was judged.
    private mutating func repeatedPhrase(at index: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>) -> Int {
        let tokens = prose.tokens
        for length in [4, 3] where index >= length && index + length <= tokens.count {
            guard tokens[index].hash == tokens[index - length].hash else { continue }
            let isEqual = (0..<length).allSatisfy { tokens[index + $0].hash == tokens[index - length + $0].hash }
            let isDirect = (index - length + 1..<index + length).allSatisfy {
                tokens[$0].followsDirectly && !tokens[$0].isTechnical
            }
            guard isEqual, isDirect else { continue }
            let once = tokens[index - length].start..<tokens[index - 1].end
            findings.append(
                Finding(
                    rule: .repeatedWord, range: once.lowerBound..<tokens[index + length - 1].end,
                    replacement: string(text, once), detail: string(text, once)))
            return index + length - 1
        }
        return index
    }

    // MARK: Sentences

    private mutating func findLongSentences(_ text: UnsafeBufferPointer<Unicode.Scalar>) {
        for sentence in prose.sentences {
            sentenceCount += 1
            guard sentence.isTerminated, sentence.tokens.count > settings.longSentence else { continue }
            let words = prose.tokens[sentence.tokens]
            let count = words.reduce(0) { $0 + ($1.isTechnical ? 0 : 1) }
            // A list of names or of file names is long, but no sentence to be cut.
            let names = words.reduce(0) { $0 + ($1.isCapitalised ? 1 : 0) }
            guard count > settings.longSentence, names * 3 < count, let first = words.first,
                count > settings.longSentence * 3 / 2 || longestClause(words, text) > settings.longSentence
            else { continue }
            let identity = prose.tokens[min(sentence.tokens.lowerBound + 7, sentence.tokens.upperBound - 1)]
            findings.append(
                Finding(
                    rule: .longSentence, range: first.start..<sentence.end, detail: "\(count)",
                    identityEnd: identity.end))
        }
    }

    /// The words of the longest part between semicolons, where readers can rest: such a sentence may be half as long again.
    private func longestClause(_ words: ArraySlice<ProseTokens.Token>, _ text: UnsafeBufferPointer<Unicode.Scalar>)
        -> Int
    {
        var longest = 0
        var count = 0
        var previous: ProseTokens.Token?
        for word in words {
            if let previous, !word.followsDirectly, text[previous.end..<word.start].contains(";") { count = 0 }
            count += word.isTechnical ? 0 : 1
            longest = max(longest, count)
            previous = word
        }
        return longest
    }

    private mutating func findPassives() {
        let tokens = prose.tokens
        var index = 0
        while index < tokens.count {
            defer { index += 1 }
            let kind = lexicon.kind(tokens[index].word)
            guard kind.contains(.be) || kind.contains(.contracted) else { continue }
            guard let participle = participle(after: index) else { continue }
            let isStative = lexicon.kind(tokens[participle].word).contains(.stative)
            if !isStative, !kind.contains(.contracted) {
                passiveCount += 1
                if firstPassive == nil { firstPassive = tokens[index].start..<tokens[participle].end }
            }
            guard !lexicon.kind(tokens[participle].word).contains(.idiomatic), let by = agentMark(after: participle)
            else {
                continue
            }
            findings.append(
                Finding(rule: .passive, range: tokens[index].start..<tokens[by].end))
            index = by
        }
    }

    /// The participle that a form of “be” stands with: at most two adverbs lie between.
    private func participle(after verb: Int) -> Int? {
        var index = verb + 1
        while index < prose.tokens.count, index <= verb + 3, prose.tokens[index].followsDirectly {
            let token = prose.tokens[index]
            let kind = lexicon.kind(token.word)
            if !token.isTechnical, kind.contains(.participle) || (token.ending == .ed && !kind.contains(.notParticiple))
            {
                return index
            }
            guard kind.contains(.adverb) || token.ending == .ly || kind.contains(.be) else { return nil }
            if kind.contains(.be) { return nil }
            index += 1
        }
        return nil
    }

    /// The “by” right behind a participle that an agent follows.
    private func agentMark(after participle: Int) -> Int? {
        var by = participle + 1
        while by < prose.tokens.count, by <= participle + 2, prose.tokens[by].followsDirectly {
            let kind = lexicon.kind(prose.tokens[by].word)
            if kind.contains(.by) { break }
            guard prose.tokens[by].ending == .ly else { return nil }
            by += 1
        }
        guard by < prose.tokens.count, prose.tokens[by].followsDirectly,
            lexicon.kind(prose.tokens[by].word).contains(.by),
            by + 1 < prose.tokens.count
        else { return nil }
        let agent = prose.tokens[by + 1]
        guard agent.followsDirectly else { return nil }
        let first = lexicon.kind(agent.word)
        if first.contains(.notAgent) || agent.ending == .ing || agent.isTechnical { return nil }
        // “by the time”, “by a factor”.
        if by + 2 < prose.tokens.count, agent.hash == Self.the || first.contains(.article) {
            let noun = prose.tokens[by + 2]
            if noun.followsDirectly, lexicon.kind(noun.word).contains(.notAgent) || Self.measures.contains(noun.hash) {
                return nil
            }
        }
        return by
    }

    private static let the = WordHash.of("the")
    private static let measures = Set(
        [
            "time", "end", "way", "factor", "rate", "amount", "number", "margin", "same", "following", "means", "use",
            "fact",
        ]
        .map(WordHash.of))
}
