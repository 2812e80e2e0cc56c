extension QuickScan {
    mutating func findPassives(_ text: UnsafeBufferPointer<Unicode.Scalar>) {
        for sentence in prose.sentences {
            var hasPassive = false
            var index = sentence.tokens.lowerBound
            while index < sentence.tokens.upperBound {
                defer { index += 1 }
                let token = prose.tokens[index]
                let kind = lexicon.kind(token.word)
                guard kind.contains(.be) || kind.contains(.contracted), token.hash != Self.being else { continue }
                guard let participle = participle(after: index) else { continue }
                let participleKind = lexicon.kind(prose.tokens[participle].word)
                if !participleKind.contains(.stative), !kind.contains(.contracted) {
                    hasPassive = true
                    if firstPassive == nil { firstPassive = token.start..<prose.tokens[participle].end }
                }
                guard !participleKind.contains(.idiomatic), !speech.contains(token.start),
                    let by = agentMark(after: participle), isActor(behind: by, sentence)
                else { continue }
                // A story stays with its characters, so a passive about them is legitimate.
                findings.append(
                    Finding(rule: .passive, range: token.start..<prose.tokens[by].end, isForNarrative: false))
                index = by
            }
            if hasPassive { passiveCount += 1 }
        }
    }

    /// The participle of a form of “be”, after at most two adverbs.
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

    /// The “by” directly after a participle, if an agent follows.
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
        // “by the time”, “by a factor”, “by their names”.
        if by + 2 < prose.tokens.count, first.contains(.known) || first.contains(.article) {
            let noun = prose.tokens[by + 2]
            if noun.followsDirectly, lexicon.kind(noun.word).contains(.notAgent) || Self.measures.contains(noun.hash) {
                return nil
            }
        }
        return by
    }

    /// Whether a known person or thing follows “by”, in a few words that end the clause. A new or long agent is better
    /// at the end, which justifies the passive.
    private func isActor(behind by: Int, _ sentence: ProseTokens.Sentence) -> Bool {
        let agent = prose.tokens[by + 1]
        guard lexicon.kind(agent.word).contains(.known) || agent.isCapitalised else { return false }
        var last = by + 1
        while last + 1 < sentence.tokens.upperBound, prose.tokens[last + 1].followsDirectly {
            last += 1
            if last - by > Self.longestActor || prose.tokens[last].isTechnical { return false }
        }
        return true
    }

    private static let longestActor = 4
    private static let being = WordHash.of("being")
    private static let measures = Set(
        [
            "time", "end", "way", "factor", "rate", "amount", "number", "margin", "same", "following", "means", "use",
            "fact", "name", "names", "position", "value", "values", "index", "id", "key", "title", "type", "size",
            "length",
            "order", "path", "label", "channel", "method", "presence", "absence", "side",
        ]
        .map(WordHash.of))
}
