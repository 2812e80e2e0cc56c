import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

private let hasEnglish = FileManager.default.fileExists(atPath: "/usr/share/hunspell/en_US.dic")
private let hasGerman = FileManager.default.fileExists(atPath: "/usr/share/hunspell/de_DE.dic")

/// The rules `spelling` and `unknown-word` of the quick pass.
@Suite("Spelling")
struct SpellingTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder("spelling") }

    private func pass(_ folders: String? = nil) throws -> QuickPass {
        let resources = TKResources(folder: Checkout.root.appending("Sources/Core/TK/TKCore/Resources"))
        let spelling = Spelling(
            resources: resources, home: TKHome(folder: home.path.appending(".tk")),
            environment: folders.map { ["DICPATH": $0] } ?? [:])
        return try QuickPass(resources: resources, spelling: spelling)
    }

    /// `word`, or `word -> replacement`, one per finding of either rule.
    private func lines(
        _ pass: QuickPass, _ text: String, _ settings: QuickPass.Settings = .init(strictRules: ["unknown-word"])
    ) -> [String] {
        let draft = DraftText(text)
        return pass.suggestions(for: draft, settings: settings).filter { QuickPass.isSpelling($0.rule) }.map {
            #expect(draft[$0.anchor.range] == $0.originalText)
            return $0.originalText + ($0.hasReplacement ? " -> \($0.suggestedText)" : "")
        }
    }

    @Test(
        "Words in no dictionary are found, names and code are not",
        .enabled(if: hasEnglish, "hunspell-en-us is missing"),
        arguments: [
            ("We recieve the letters.", ["recieve -> receive"]),
            ("Teh house is old.", ["Teh -> The"]),
            ("The hosue is *definately* old.", ["hosue -> house", "definately -> definitely"]),
            ("A well-knwon house.", ["knwon -> known"]),
            ("The hosue’s door, the hosue's roof.", ["hosue’s -> house’s", "hosue's -> house's"]),
            ("It xqzvw and xqzvw.", ["xqzvw", "xqzvw"]),
            ("It xqzvw and xqzvw and xqzvw.", ["xqzvw"]),
            ("We re\u{AD}cieve it.", ["re\u{AD}cieve -> receive"]),
            ("| a | b |\n|---|---|\n| we recieve | it |", ["recieve -> receive"]),
            ("- We recieve\n- it again\n\n## They recieve\n\nIt all.", ["recieve -> receive", "recieve -> receive"]),
            ("It recieve and recieve and recieve it.", ["recieve"]),
            // Correct.
            ("Ludwig van Beethoven and Martin von Zweigbergk wrote add-ons.", []),
            ("The marvellous sceptic despatched a cheque for woollen jewellery to practised worshippers.", []),
            ("We don’t, can't and won't; it’s the house’s door and James' dog at o'clock.", []),
            ("The cafe\u{301} is of\u{AD}fi\u{AD}cial, and the o\u{FB03}ce too.", []),
            ("A subfolder of a filesystem has parseable filenames and a well-known timestamp.", []),
            ("The colour of the neighbourhood was organised and travelled.", []),
            ("Finite automata, intra or extrapolation, macos, ios and nginx.", []),
            // Not for a dictionary.
            ("We played Head ovar Heels. Alice teh cat saw Alice teh cat.", ["teh -> the", "teh -> the"]),
            ("Then I recieve Letters.", ["recieve -> receive"]),
            ("He met Grzegorz in Szczecin. Xqzvw is a town.", []),
            ("The xqzvw2, XQZVW, xqzVw, XQZVWs, xq_zvw, xq/zvw, xqzvw@example.org and xqzvw.conf.", []),
            ("Run `xqzvw`, then xqzvw again; see https://example.org/recieve and [it](recieve.md).", []),
            ("Run `xqzvw`s and **re**cieve.", []),
            ("He said “we recieve them”, and the word 'recieve'.", []),
            ("The plan, called Recieve, and so on: recieve it.", []),
            ("# The Recieve Plan", []),
            ("<!-- tk: ignore spelling -->\n\nWe recieve the letters.", []),
            ("---\nlang: en-US\n---\nThe color of the house.", []),
            ("---\nlang: en-US\n---\nThe colour of the house.", ["colour -> color"]),
            ("---\nlang: en-US\n---\nA marvellous cheque.", ["marvellous -> marvelous", "cheque"]),
            ("---\nlang: xx\n---\nWe recieve the letters.", []),
        ])
    func findings(text: String, expected: [String]) throws {
        #expect(lines(try pass(), text) == expected)
    }

    @Test(
        "At most 2 findings per thousand words of documentation",
        .enabled(if: hasEnglish, "hunspell-en-us is missing"))
    func noise() throws {
        let pass = try pass()
        var (words, found) = (0, [String]())
        let texts = try ProseCorpora.markdownFiles().prefix(20).map(\.text) + [ProseCorpora.handbook(words: 10_000)]
        for text in texts {
            let mask = DraftMask(DraftText(text))
            words += mask.blocks.reduce(0) { $0 + mask.text(in: $1.range).split(whereSeparator: \.isWhitespace).count }
            found += lines(pass, text, .init())
        }
        print("noise of spelling: \(found.count) findings in \(words) words: \(found.joined(separator: ", "))")
        #expect(found.count * 1000 <= 2 * words)
    }

    @Test("German is read by its own dictionary, in its encoding", .enabled(if: hasGerman, "hunspell-de-de is missing"))
    func german() throws {
        let pass = try pass()
        let text =
            "Wir haben gestern die größten Häuser der Stadt besucht, und danach sind wir mit der Straßenbahn nach Hause "
            + "gefahrren, weil es über Nacht geschneit hatte und wir nicht laufen wolten. "
        #expect(lines(pass, text) == ["gefahrren -> gefahren", "wolten -> wollten"])
        // A noun is no name because of its capital; a name is not in the dictionary, and no slip.
        for (nouns, found) in [
            ("Die Strassenban und die Enttäuschnug kamen mit Grzegorz aus Szczecin.", ["Enttäuschnug -> Enttäuschung"]),
            ("Der Enttäuschnug folgte die Enttäuschnug und noch eine Enttäuschnug.", []),
            ("Das Haus von Ludwig von Mises steht am Rand der Stadt.", []),
        ] {
            #expect(lines(pass, text + nouns).dropFirst(2) == found[...], "\(nouns)")
        }
    }

    @Test(
        "Words that a user or a project has declared correct are no findings",
        .enabled(if: hasEnglish, "hunspell-en-us is missing"))
    func ownWords() throws {
        let text = "The xqzvw and the plovf recieve it. Xqzvw!"
        #expect(lines(try pass(), text).count == 3)
        #expect(try WordFile(home: TKHome(folder: home.path.appending(".tk"))).add(["xqzvw"]) == ["xqzvw"])
        try home.write("project/.tk/words.dic", "1\nplovf/S\n")
        let spelling = try #require(try pass().spelling)
        func found(_ draft: BytePath?) throws -> [String] {
            let (words, problems) = spelling.words(for: draft)
            #expect(problems == [])
            var settings = QuickPass.Settings(strictRules: ["unknown-word"])
            settings.knownWords = words
            return lines(try pass(), text, settings)
        }
        #expect(try found(home.path.appending("project/notes/draft.md")) == ["recieve -> receive"])
        #expect(try found(nil) == ["plovf", "recieve -> receive"])
        // A list that cannot be read is named, and the others count.
        try home.write("project/.tk/words.txt", [0xFF, 0x0A])
        let (words, problems) = spelling.words(for: home.path.appending("project/draft.md"))
        #expect(words == ["xqzvw", "plovf"])
        #expect(problems.count == 1 && problems.first?.contains("words.txt is not UTF-8") ?? false)
        #expect(lines(try pass(), text, .init(ignoredRules: ["spelling"])).isEmpty)
    }

    /// A language of a few words, in a given encoding.
    private func write(_ name: String, _ encoding: String, affixes: String = "", _ words: [UInt8]) throws {
        try home.write(BytePath("dictionaries/\(name).aff"), "SET \(encoding)\n\(affixes)")
        try home.write(BytePath("dictionaries/\(name).dic"), words)
    }

    @Test("A dictionary's encoding is respected", arguments: ["UTF-8", "ISO8859-1", "microsoft-cp1252"])
    func encodings(encoding: String) throws {
        let isUTF8 = encoding == "UTF-8"
        var words = Array("2\nstra".utf8)
        words += isUTF8 ? Array("ß".utf8) : [0xDF]
        words += Array("e\nde\n".utf8)
        try write("xx_XX", encoding, words)
        let pass = try pass(home.path.appending("dictionaries").text)
        let found = lines(pass, "---\nlang: xx\n---\nde straße, de straaße, de łódź")
        // A letter that the encoding lacks is of another language.
        let foreign = isUTF8 ? ["łódź"] : []
        #expect(found == ["straaße -> straße"] + foreign)
        #expect(pass.review(DraftText("---\nlang: xx\n---\nde"), settings: .init()).absence == nil)
    }

    @Test("The stated region chooses the dictionary")
    func regions() throws {
        try write("xx_XX", "UTF-8", Array("1\neins\n".utf8))
        try write("xx_YY", "UTF-8", Array("1\nzwei\n".utf8))
        let folder = home.path.appending("dictionaries").text
        for (language, found) in [("xx", ["zwei"]), ("xx-YY", ["eins"]), ("xx_yy", ["eins"]), ("xx-ZZ", ["zwei"])] {
            #expect(lines(try pass(folder), "---\nlang: \(language)\n---\neins zwei") == found, "\(language)")
        }
    }

    @Test(
        "A missing dictionary is named with its package, until it is installed",
        arguments: [("", "hunspell-en-us"), ("lang: en-GB", "hunspell-en-gb"), ("lang: fr", "hunspell-fr")])
    func missing(front: String, package: String) throws {
        let pass = try pass(home.path.appending("dictionaries").text)
        let draft = DraftText("---\n\(front)\n---\nWe recieve the letters and the books.")
        let found = pass.review(draft, settings: .init())
        #expect(found.suggestions.isEmpty)
        #expect(found.absence?.hasSuffix("(in Debian: \(package))") ?? false, "\(found.absence ?? "")")
        #expect(pass.review(draft, settings: .init(ignoredRules: ["spelling"])).absence == nil)
        for name in ["en_US", "en_GB", "fr_FR"] { try write(name, "UTF-8", Array("2\nbooks\nletters\n".utf8)) }
        #expect(pass.review(draft, settings: .init()).absence == nil)
    }

    @Test("An empty DICPATH switches spelling off, without a line")
    func off() throws { #expect(try pass("").spelling == nil) }

    @Test("A list of words is read with comments, in Hunspell's format, and changed atomically")
    func files() throws {
        let file = WordFile(home.path.appending(".tk/words.txt"))
        #expect(try file.words() == [])
        try home.write(".tk/words.txt", "# ours\r\nfoo\r\ncafe\u{301}  # a place\n\n")
        #expect(try file.words() == ["foo", "café"])
        #expect(try file.add(["bar", "foo", "bar"]) == ["bar"])
        #expect(try file.remove(["foo", "none"]) == ["foo"])
        #expect(try home.read(".tk/words.txt") == "# ours\ncafe\u{301}  # a place\n\nbar\n")
        for word in ["two words", "a/b", "#", ""] { #expect(throws: Fault.self) { try file.add([word]) } }
        try home.write(".tk/words.dic", "2\nfoo/SM po:noun\nbar\n")
        #expect(try WordFile(home.path.appending(".tk/words.dic")).words() == ["foo", "bar"])
        try home.write("a/.tk/words.txt", "baz\n")
        let nearest = try WordFile.all(above: home.path.appending("a/b")).first?.words()
        #expect(nearest == ["baz"])
        try home.write(".tk/words.txt", [0xFF, 0x0A])
        #expect(throws: Fault.self) { try file.words() }
    }

    /// `word>proposal`, `word?` without one, and words that are left alone; all from drafts and manuals.
    private static let slips = """
        recieve>receive teh>the taht>that thsi>this adn>and frm>from dont>don't couldnt>couldn't hosue's>house's
        definately>definitely seperate>separate occured>occurred untill>until goverment>government accross>across
        begining>beginning geting>getting programing>programming controled>controlled accomodate>accommodate
        irresistable>irresistible occurences>occurrences independant>independent dependancy>dependency swtich>switch
        varible>variable comands>commands isues>issues ouput>output extensiions>extensions folloing>following
        mnachines>machines corectly>correctly lisitng>listing papre>paper entires>entries greadly>greatly
        wierd? vitual? garantees? successfuly? orthoganal? ajoining? motiviate? convient?
        mtime src ons bliki kdestroy poppler's ish fn gensr netsh threedeegrees asymmetrics learnings togethers
        memoizes customed lengthed implementors redirectors sharding dicts parens compat passwd checkin artefacts
        queueing amongst frak kool nuff olds dialogs mcollective cornichons neeps padano ragu
        clunkiness speccing virality extremal autonomizing cordiale
        """

    @Test(
        "By default a word in no dictionary is a finding if it is probably a slip, with a proposal if one is likeliest",
        .enabled(if: hasEnglish, "hunspell-en-us is missing"))
    func slips() throws {
        let pass = try pass()
        for entry in Self.slips.split(whereSeparator: \.isWhitespace).map(String.init) {
            let word = String(entry.prefix { $0 != ">" && $0 != "?" })
            let found = lines(pass, "We saw the \(word) in the house.", .init())
            #expect(found == (entry == word ? [] : [entry.replacing(">", with: " -> ").replacing("?", with: "")]))
        }
        for (text, expected) in [
            ("Mostly knick-knacks, pre-emptively, and a well-knwon house.", ["knwon -> known"]),
            ("It is (Q)uitt, and quitt() ends it.", []), ("It recieve and recieve and recieve it.", []),
        ] { #expect(lines(pass, text, .init()) == expected, "\(text)") }
    }

    @Test("Most typing mistakes are found", .enabled(if: hasEnglish, "hunspell-en-us is missing"))
    func recall() throws {
        let pass = try pass()
        var random = SeededGenerator(for: "typing mistakes")
        let words = try ProseCorpora.handbook(words: 4_000).split(whereSeparator: \.isWhitespace).filter {
            $0.count > 2 && $0.allSatisfy { ("a"..."z").contains($0) }
        }
        var (made, found) = (0, 0)
        for _ in 0..<120 {
            guard let word = words.randomElement(using: &random) else { continue }
            let text = "We saw the \(mistyped(word, &random)) in the house."
            if lines(pass, text).isEmpty { continue }
            made += 1
            found += lines(pass, text, .init()).count
        }
        print("typing mistakes: \(found) of \(made) found")
        #expect(found * 10 >= made * 5)
    }

    /// Two letters changed places, or one was forgotten, doubled, or hit beside its key.
    private func mistyped(_ word: some Collection<Character>, _ random: inout SeededGenerator) -> String {
        var letters = Array(word)
        let index = Int.random(in: 1..<letters.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: letters.swapAt(index - 1, index)
        case 1: letters.remove(at: index)
        case 2: letters.insert(letters[index], at: index)
        default:
            let rows: [[Character]] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"].map { Array($0) }
            let row = rows.first { $0.contains(letters[index]) } ?? []
            let key = row.firstIndex(of: letters[index]) ?? 0
            letters[index] = row[key == 0 ? 1 : key - 1]
        }
        return String(letters)
    }

    @Test(
        "Another proposal for a misspelt word is the next similar one",
        .enabled(if: hasEnglish, "hunspell-en-us is missing"))
    func nextSimilar() throws {
        let pass = try pass()
        let draft = DraftText("The hosue is old.\n")
        let finding = try #require(pass.suggestions(for: draft).first { $0.rule == "spelling" })
        var refused = [finding.suggestedText]
        while let next = AnotherProposal.next(for: finding, others: [], in: draft, refused: refused, quick: pass) {
            let words = try #require(next.finding?.suggestedText)
            #expect(!refused.contains(words) && words != "hosue")
            refused.append(words)
        }
        #expect(refused.count > 1)
    }
}
