/// The comments with which an author silences findings: `<!-- tk: off -->` … `<!-- tk: on -->`, both optionally
/// followed by rules to limit them to, and `<!-- tk: ignore RULE -->` for the block that contains the comment or
/// follows it.
enum TKDirectives {
    private enum Directive {
        case off(Set<String>?), on(Set<String>?), ignore(Set<String>?)
    }

    static func exemptions(
        comments: [Range<Int>], draft: DraftText, blocks: [Range<Int>], topLevel: [Range<Int>]
    ) -> [DraftMask.Exemption] {
        var exemptions: [DraftMask.Exemption] = []
        var everythingOffSince: Int?
        var ruleOffSince: [String: Int] = [:]
        func close(_ start: Int, _ end: Int, _ rules: Set<String>?) {
            exemptions.append(DraftMask.Exemption(range: start..<end, rules: rules))
        }
        for comment in comments {
            switch parse(draft[comment]) {
            case nil: continue
            case .off(nil): everythingOffSince = everythingOffSince ?? comment.lowerBound
            case .off(let rules?):
                for rule in rules where ruleOffSince[rule] == nil { ruleOffSince[rule] = comment.lowerBound }
            case .on(nil):
                if let start = everythingOffSince { close(start, comment.upperBound, nil) }
                for (rule, start) in ruleOffSince { close(start, comment.upperBound, [rule]) }
                everythingOffSince = nil
                ruleOffSince = [:]
            case .on(let rules?):
                for rule in rules {
                    if let start = ruleOffSince.removeValue(forKey: rule) { close(start, comment.upperBound, [rule]) }
                }
            case .ignore(let rules):
                if let range = target(of: comment, blocks: blocks, topLevel: topLevel) {
                    close(range.lowerBound, range.upperBound, rules)
                }
            }
        }
        if let start = everythingOffSince { close(start, draft.count, nil) }
        for (rule, start) in ruleOffSince { close(start, draft.count, [rule]) }
        return exemptions.sorted {
            ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
        }
    }

    /// The target of `ignore`: the block around the comment, else the next one.
    private static func target(of comment: Range<Int>, blocks: [Range<Int>], topLevel: [Range<Int>]) -> Range<Int>? {
        if let block = first(blocks, where: { $0.upperBound > comment.lowerBound }), block.overlaps(comment) {
            return block
        }
        let around = first(topLevel) { $0.upperBound > comment.lowerBound }
        let isAlone = around.map { $0.contains(comment.lowerBound) && $0.upperBound <= comment.upperBound + 2 } ?? false
        let next = first(isAlone ? topLevel : blocks) { $0.lowerBound >= comment.upperBound }
        return next ?? first(blocks) { $0.lowerBound >= comment.upperBound }
    }

    /// The first of sorted, non-overlapping ranges for which `isBehind` is true.
    private static func first(_ ranges: [Range<Int>], where isBehind: (Range<Int>) -> Bool) -> Range<Int>? {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if isBehind(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low < ranges.count ? ranges[low] : nil
    }

    private static func parse(_ comment: String) -> Directive? {
        var text = Substring(comment)
        guard text.hasPrefix("<!--") else { return nil }
        text = text.dropFirst(4)
        if text.hasSuffix("-->") { text = text.dropLast(3) }
        let words = text.split { $0.isWhitespace || $0 == "," }
        guard let first = words.first?.lowercased(), first.hasPrefix("tk:") else { return nil }
        var names = words.dropFirst().map(String.init)
        if first != "tk:" { names.insert(String(first.dropFirst(3)), at: 0) }
        guard let verb = names.first?.lowercased() else { return nil }
        let rules = names.count > 1 ? Set(names.dropFirst().map { $0.lowercased() }) : nil
        switch verb {
        case "off": return .off(rules)
        case "on": return .on(rules)
        case "ignore": return .ignore(rules)
        default: return nil
        }
    }
}
