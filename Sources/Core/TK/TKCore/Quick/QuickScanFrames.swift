extension PhraseRule {
    /// What has to stand around a phrase so that its replacement fits there.
    enum Frame: String, Decodable, CodingKeyRepresentable, Sendable {
        /// “In order to” at the start of a sentence, or behind a verb or its pronoun. “Required to be part” says something
        /// else, and behind other nouns and long clauses the words mark the purpose.
        case purpose
        /// “In order for” with its infinitive, but not “in order for there to be”.
        case condition
        /// “Has the ability to”, which becomes an auxiliary: before the verb alone, and behind no other auxiliary.
        case ability
        /// Before a verb in its base form.
        case verb
        /// “A large number of” before a plural, without a singular verb behind it.
        case plural
        /// At the start of a sentence, or behind a comma.
        case opening
        /// At an opening, or behind a noun with its owner: “our situation with regard to her”.
        case relation
        /// “Due to the fact that”: not behind “is”.
        case reason
        /// “In the event that”, before a clause with its subject.
        case clause
        /// At the end of a clause, behind a verb or its object; or before a comma at the start of a sentence. Not in “how
        /// you do it”.
        case adverbial
        /// At the end of a clause, behind a participle.
        case manner
        /// “With the exception of”: behind a comma, “all”, “same” and the like: elsewhere exceptions may be things.
        case exception
        /// “Make a decision”, before “about” or “whether”.
        case decision
        /// Before “that”, without “have” in front.
        case conclusion
        /// Before a number.
        case period
        /// Before a number, behind a verb or a preposition.
        case amount
        /// “Make use of X” but not “make use of X easier”.
        case use
        /// Before a participle.
        case passive
        /// “As to whether” behind a word that takes a question.
        case question
        /// Behind a participle.
        case way
        /// Before an article or a possessive, which begin an object.
        case object
        /// Behind a form of “be”.
        case state
        /// Behind a form of “be” or an article, and not before “than”.
        case degree
        /// Before another word, but not “this” and the like.
        case aim
        /// “Prior to”: before a noun or a verb in -ing, but not before both: “before the tool touching it” is wrong.
        case event
        /// Before another word.
        case followed

        /// Outside of it the finding stays, without a proposal.
        var leavesRemark: Bool { self == .decision || self == .plural || self == .manner }
    }
}

/// Judges the words around a phrase. It looks at a bounded number of them.
struct PhraseSurroundings {
    let lexicon: QuickLexicon
    let prose: ProseTokens
    let text: UnsafeBufferPointer<Unicode.Scalar>
    let phrase: Range<Int>
    /// A comma or a bracket stands before the phrase.
    let opensClause: Bool
    /// A comma stands directly behind it.
    let commaBehind: Bool
    /// The phrase begins a sentence.
    let opensSentence: Bool

    private typealias Token = ProseTokens.Token

    /// The word so many places before the phrase, if nothing but space is in between.
    private func before(_ distance: Int) -> Token? {
        guard !opensSentence, phrase.lowerBound >= distance else { return nil }
        for index in (phrase.lowerBound - distance + 1)...phrase.lowerBound
        where !prose.tokens[index].followsDirectly { return nil }
        return prose.tokens[phrase.lowerBound - distance]
    }

    private func reaching(back count: Int) -> [Token] { (1...count).compactMap(before) }

    private var next: Token? {
        phrase.upperBound < prose.tokens.count && prose.tokens[phrase.upperBound].followsDirectly
            ? prose.tokens[phrase.upperBound] : nil
    }

    /// The words behind the phrase up to a mark, and at most so many.
    private func following(_ count: Int) -> ArraySlice<Token> {
        let tokens = prose.tokens[phrase.upperBound..<min(prose.tokens.count, phrase.upperBound + count)]
        return tokens.prefix { $0.followsDirectly }
    }

    private func isBe(_ token: Token?) -> Bool { token.map { lexicon.kind($0.word).contains(.be) } ?? false }

    private func isParticiple(_ token: Token?) -> Bool {
        guard let token, !token.isTechnical else { return false }
        let kind = lexicon.kind(token.word)
        return kind.contains(.participle) || token.ending == .ed && !kind.contains(.notParticiple)
    }

    private func isDeterminer(_ token: Token?) -> Bool {
        token.map { lexicon.kind($0.word).contains(.article) || Words.determiners.contains($0.hash) } ?? false
    }

    /// A noun with its article, and at most an adjective between, precede.
    private var followsNoun: Bool {
        guard let last = before(1), !last.isTechnical, !Words.pronouns.contains(last.hash), last.ending != .ly,
            !isDeterminer(last), !isBe(last)
        else { return false }
        return isDeterminer(before(2)) || isDeterminer(before(3)) && !(before(2).map(isFunction) ?? true)
    }

    private static let longClause = 7

    /// A comma closes at least so many words before the phrase.
    private var followsLongClause: Bool {
        let start = phrase.lowerBound - Self.longClause
        return !opensSentence && start >= 0
            && (start + 1..<phrase.lowerBound).allSatisfy { prose.tokens[$0].followsDirectly }
    }

    private func isFunction(_ token: Token) -> Bool {
        token.end - token.start <= 3 || isBe(token) || Words.auxiliaries.contains(token.hash)
            || lexicon.repetition(token.word, in: QuickLexicon.english).contains(.function)
    }

    private var precedesVerb: Bool {
        guard let next, !next.isTechnical, !next.isCapitalised, next.ending == .none, !isDeterminer(next) else {
            return false
        }
        return !Words.pronouns.contains(next.hash) && !Words.prepositions.contains(next.hash)
    }

    private var opens: Bool { opensSentence || opensClause }

    /// Whether the replacement fits in a frame.
    func fit(_ frame: PhraseRule.Frame) -> Bool {
        switch frame {
        case .purpose: isPurpose
        case .condition:
            next?.hash != Words.there
                && (opens || isParticiple(before(1)) && !(before(1).map { Words.completed.contains($0.hash) } ?? true))
                && following(8).dropFirst().contains { $0.hash == Words.to }
        case .ability:
            precedesVerb && !reaching(back: 3).contains { Words.auxiliaries.contains($0.hash) }
                && !zip(following(14), following(14).dropFirst()).contains {
                    Words.conjunctions.contains($0.hash) && isDeterminer($1)
                }
        case .verb: precedesVerb
        case .plural: precedesPlural
        case .opening: opens && next != nil
        case .relation:
            next != nil
                && (opens || followsNoun && before(2).map { Words.possessives.contains($0.hash) } ?? false)
        case .reason: isReason
        case .clause: next.map { !isBe($0) && isSubject($0) } ?? false
        case .adverbial: isAdverbial
        case .manner: isAdverbial && isParticiple(before(1))
        case .exception:
            next.map { !Words.kinds.contains($0.hash) } ?? false
                && (opens || reaching(back: 6).contains { Words.totals.contains($0.hash) })
        case .decision: next.map { Words.questions.contains($0.hash) } ?? false
        case .conclusion:
            next?.hash == Words.that && !reaching(back: 2).contains { Words.auxiliaries.contains($0.hash) }
        case .period: isNumber(next)
        case .amount:
            isNumber(next) && (isBe(before(1)) || before(1).map { Words.measuring.contains($0.hash) } ?? false)
        case .use: !following(14).contains { Words.judgements.contains($0.hash) }
        case .passive: isParticiple(next)
        case .question: before(1).map { Words.asking.contains($0.hash) } ?? false
        case .way: next != nil && isParticiple(before(1))
        case .object: isDeterminer(next) && !reaching(back: 2).contains { $0.hash == Words.only }
        case .state: isBe(before(1))
        case .degree:
            (isBe(before(1)) || before(1).map { lexicon.kind($0.word).contains(.article) } ?? false)
                && next?.hash != Words.than
        case .aim: next.map { !Words.demonstratives.contains($0.hash) } ?? false
        case .event:
            next.map { next in
                next.ending == .ing
                    || !zip(following(8), following(8).dropFirst()).contains { $1.ending == .ing && !isDeterminer($0) }
            } ?? false
        case .followed: next != nil
        }
    }

    private var isReason: Bool {
        guard next != nil else { return false }
        // “This is because”, but not “the failure was because”.
        if isBe(before(1)) { return before(2).map { Words.subjects.contains($0.hash) } ?? false }
        return !reaching(back: 2).contains { isBe($0) || Words.even.contains($0.hash) }
    }

    private var isPurpose: Bool {
        guard next != nil else { return false }
        if opens { return !followsLongClause }
        guard let last = before(1), !Words.completed.contains(last.hash), !last.isTechnical,
            !reaching(back: 8).contains(where: { Words.controlling.contains($0.hash) })
        else { return false }
        return Words.pronouns.contains(last.hash) || isVerb(last)
            || before(2).map { $0.hash == Words.to || Words.modals.contains($0.hash) } ?? false
    }

    /// Whether the word before the phrase is the verb of a clause: “was built”, “we met”, but not of “the header it read”.
    private func isVerb(_ last: Token) -> Bool {
        let adverbs = before(2)?.ending == .ly ? 1 : 0
        return isParticiple(last) && (isBe(before(2 + adverbs)) || before(3) == nil)
    }

    private var precedesPlural: Bool {
        if before(1).map({ Words.even.contains($0.hash) }) ?? false { return false }
        return following(2).contains { isPlural($0) } && !following(8).contains { Words.singular.contains($0.hash) }
    }

    private func isPlural(_ token: Token) -> Bool {
        if Words.plurals.contains(token.hash) { return true }
        return !isFunction(token) && !token.isTechnical && text[token.end - 1] == "s"
            && !["s", "u", "i"].contains(text[token.end - 2])
    }

    private func isSubject(_ token: Token) -> Bool {
        isDeterminer(token) || Words.pronouns.contains(token.hash) || token.isCapitalised
    }

    private var isAdverbial: Bool {
        guard next == nil else { return false }
        if opensSentence { return commaBehind }
        guard let last = before(1) else { return false }
        return !reaching(back: 6).contains { $0.hash == Words.how }
            && !isBe(last) && !Words.prepositions.contains(last.hash) && last.hash != Words.to
            && !Words.conjunctions.contains(last.hash)
    }

    private func isNumber(_ token: Token?) -> Bool {
        token.map { text[$0.start].value &- 48 < 10 || Words.numbers.contains($0.hash) } ?? false
    }
}

/// The words that decide whether a phrase can be replaced.
private enum Words {
    static let to = WordHash.of("to")
    static let that = WordHash.of("that")
    static let than = WordHash.of("than")
    static let only = WordHash.of("only")
    static let there = WordHash.of("there")
    static let how = WordHash.of("how")
    static let determiners = set("the this these those my our your his her its their all some any each every no both")
    static let subjects = set("this that it")
    static let possessives = set("my our your his her its their")
    static let demonstratives = set("this that these those")
    static let pronouns = set(
        "it them him her us you me he she they we i this that these those here there itself themselves yourself")
    static let conjunctions = set("and or nor but")
    static let auxiliaries = set(
        "do does did to will would can could may might shall should must let lets make makes have has had having be not "
            + "never don't doesn't didn't won't can't cannot help helps see")
    static let modals = set("do does did will would can could may might shall should must")
    static let prepositions = set(
        "of in on at by for from with as until till since than into onto over under about between during before after "
            + "the only")
    static let even = set("even just such quite rather what too how merely so")
    static let completed = set(
        "required necessary needed used able unable allowed permitted enabled forced expected asked told wanted supposed "
            + "meant intended designed made said known seen found thought believed considered assumed reported likely ready "
            + "free sufficient enough possible impossible important essential failed tried wanted needed decided started "
            + "written verified checked tested confirmed added connected attached assigned applied sent passed moved mapped "
            + "reduced restricted limited related converted committed linked copied given shown returned exposed "
            + "set put left stopped taught caused chosen advised encouraged invited instructed authorized authorised "
            + "configured prepared scheduled requested bound inclined tempted ordered got had been come agreed refused "
            + "ability way ways time times right rights permission permissions chance option options opportunity power "
            + "order request attempt attempts effort efforts need reason place thing things something anything nothing "
            + "someone anyone everything plan decision desire intention failure tendency wish ones one first last next only "
            + "user users process program kernel system server client compiler developer developers")
    static let controlling = set(
        "allow allows allowing ask asks asking tell tells telling force forces forcing enable enables enabling cause causes "
            + "causing require requires requiring want wants expect expects need needs needed necessary required permit permits "
            + "get gets help helps helping advise instruct instructs like likes prefer prefers have has had having too enough "
            + "possible impossible easy hard difficult possibility sufficient essential important recommended wait waits know knows knowing change "
            + "changes changed changing convert converts set sets move moves add adds "
            + "lead leads used for fail fails try tries trying attempt attempts able unable")
    static let totals = set(
        "all every everything each any no none same identical equal everyone nobody everybody nothing")
    static let kinds = set("type class kind when being")
    static let questions = set("about whether based when how")
    static let measuring = set("of for at to by with has have had takes take took uses use used requires require")
    static let judgements = set(
        "easier simpler easy simple possible impossible safer safe faster slower harder hard difficult")
    static let asking = set(
        "question questions doubt doubts decide decides decided decision uncertain unsure unclear know knows uncertainty"
    )
    static let singular = set("is was has does isn't wasn't hasn't doesn't exists itself")
    static let plurals = set("people children men women data mice feet")
    static let numbers = set(
        "one two three four five six seven eight nine ten twelve twenty thirty forty fifty sixty hundred several many at up "
            + "about a an")

    private static func set(_ words: String) -> Set<UInt64> { WordHash.set(words) }
}
