import A4CoreSwift
import Foundation
import Testing

@Suite("Appending to random notes")
struct RandomAppendTests {
    @Test("A batch gives the same bytes as one append at a time")
    func batch() throws {
        var random = RandomNotes("batch")
        for _ in 0..<3_000 {
            let note = random.note()
            let blocks = try (0..<random.number(1..<6)).map { try random.block($0, nil) }
            let oneByOne = try blocks.reduce(note) { try Append.appending([$1], to: $0) }
            let batch = try Append.appending(blocks, to: note)
            try #require(
                batch == oneByOne, "\(String(reflecting: text(note)))\n\(blocks.map { ($0, text($0.content)) })")
        }
    }

    @Test("A note kept in memory has the same bytes as one read again each time, and knows its anchors")
    func kept() throws {
        var random = RandomNotes("kept")
        for _ in 0..<2_000 {
            var note = random.note()
            var kept = try AppendableNote(note)
            try #require(kept.bytes == note)
            for _ in 0..<random.number(1..<4) {
                let blocks = try (0..<random.number(0..<3)).map { try random.block($0, nil) }
                try kept.append(blocks)
                note = try Append.appending(blocks, to: note)
                try #require(kept.bytes == note, "\(String(reflecting: text(note)))")
                try #require(
                    Anchors.tokens(in: note).allSatisfy { kept.mayHold($0.token) },
                    "\(String(reflecting: text(note)))")
            }
        }
    }

    @Test("The same for long sections, in the middle of the note and at its end")
    func keptLong() throws {
        var random = RandomNotes("keptLong")
        for _ in 0..<4 {
            var note = Data("# Day\n\n## A\n\n## B\n".utf8)
            var kept = try AppendableNote(note)
            for number in 0..<60 {
                let line = String(repeating: "word ", count: random.number(1..<4)) + "\n"
                // Trailing blank lines, as a text may have.
                let content = String(repeating: line, count: random.number(1..<6_000)) + (number % 3 == 0 ? "\n\n" : "")
                let heading = ["A", "B", "C"][random.number(0..<3)]
                let block = try AppendOptions(
                    heading: heading, anchor: AnchorToken(parse: "aa-0101__n\(number)"), content: Data(content.utf8),
                    placement: random.number(0..<4) == 0 ? .endOfFile : .endOfSection)
                try kept.append([block])
                note = try Append.appending([block], to: note)
                try #require(kept.bytes == note, "block \(number) under \(heading)")
            }
            #expect(note.count > 1 << 20)
        }
    }

    @Test("If one of the blocks cannot be written, none is appended")
    func allOrNone() throws {
        var note = try AppendableNote(Data("## A\n".utf8))
        let before = note.bytes
        let bad = AppendOptions(heading: "A", anchor: try AnchorToken(parse: "aa-0102"), content: Data([0xff]))
        #expect(throws: A4Error.self) { try note.append([try block("aa-0101", "x", under: "A"), bad]) }
        #expect(try note.bytes == before && !note.mayHold(AnchorToken(parse: "aa-0101")))
        #expect(throws: A4Error.self) { try AppendableNote(Data([0xff])) }
    }

    @Test("At the end of the file nothing before the block changes, and the framing is exact")
    func endOfFile() throws {
        var random = RandomNotes("endOfFile")
        for _ in 0..<3_000 {
            let note = random.note()
            let block = try random.block(0, .endOfFile)
            let after = try Append.appending([block], to: note)
            let prior = normalized(note)
            try #require(after.starts(with: prior), "\(String(reflecting: text(note)))")
            if let header = Notes.splitFrontMatter(note).header { try #require(after.starts(with: header)) }
            var content = normalizedContent(block.content)
            if content.last != UInt8(ascii: "\n") { content.append(UInt8(ascii: "\n")) }
            let framed = Data("\(block.anchor.marker())\n".utf8) + content
            let between = text(after.dropFirst(prior.count).dropLast(framed.count))
            try #require(after.suffix(framed.count) == framed)
            let heading = "\n## \(block.heading)\n\n"
            // Bytes, not characters: a newline that combines with a CR or a mark would be counted wrongly.
            let endsBlank = prior.suffix(2) == Data("\n\n".utf8)
            try #require(between == heading || between == (endsBlank ? "" : "\n"), "\(String(reflecting: text(note)))")
        }
    }

    @Test("At the end of a section only blank lines of the note are removed, and none is moved")
    func endOfSection() throws {
        var random = RandomNotes("endOfSection")
        for _ in 0..<3_000 {
            let note = random.note()
            let block = try random.block(0, .endOfSection)
            let after = try Append.appending([block], to: note)
            let marker = Array(block.anchor.marker().utf8)
            let lines = text(after).utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(
                Array.init)
            let at = try #require(lines.firstIndex(of: marker))
            try #require(lines[at - 1].isEmpty)
            try #require(after.last == UInt8(ascii: "\n"))
            let written = lines.filter { !$0.isEmpty }
            let before = lineBytes(normalized(note)).filter { !$0.isEmpty }
            let added = [marker] + lineBytes(normalizedContent(block.content)).filter { !$0.isEmpty }
            let heading = Array("## \(block.heading)".utf8)
            try #require(contains(written, before, plus: added) || contains(written, before, plus: [heading] + added))
        }
    }

    @Test("Blocks read back as they were written")
    func roundTrip() throws {
        var random = RandomNotes("roundTrip")
        var asked = 0
        for _ in 0..<1_000 {
            // Text swallowed by an open fence or front matter is not a block; such notes are skipped.
            let note = random.note()
            let probe = try Append.appending([random.block(99, .endOfFile, plain: true)], to: note)
            guard Anchors.tokens(in: probe).last?.token.suffix == "n99" else { continue }
            asked += 1
            let blocks = try (0..<random.number(1..<6)).map { try random.block($0, nil, plain: true) }
            let found = Anchors.tokens(in: try Append.appending(blocks, to: note))
            for block in blocks {
                let read = try #require(found.first { $0.token == block.anchor }, "\(String(reflecting: text(note)))")
                try #require(read.text == text(block.content))
            }
        }
        #expect(asked > 200)
    }

    private func normalizedContent(_ content: Data) -> Data {
        Data(
            text(content).unicodeScalars.split(separator: "\r\n".unicodeScalars).map { part in
                String(String.UnicodeScalarView(part.map { $0 == "\r" ? "\n" : $0 }))
            }.joined(separator: "\n").utf8)
    }

    private func lineBytes(_ bytes: Data) -> [[UInt8]] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Whether `whole` is `before` with the run `added` inserted at one place.
    private func contains(_ whole: [[UInt8]], _ before: [[UInt8]], plus added: [[UInt8]]) -> Bool {
        guard whole.count == before.count + added.count else { return false }
        return (0...before.count).contains { whole == before[..<$0] + added + before[$0...] }
    }
}

extension Collection where Element == Unicode.Scalar, SubSequence: Collection {
    /// Cuts at every occurrence of `separator`, keeping empty parts.
    fileprivate func split(separator: String.UnicodeScalarView) -> [[Unicode.Scalar]] {
        var parts: [[Unicode.Scalar]] = [[]]
        var rest = self[...]
        while let first = rest.first {
            if rest.starts(with: separator) {
                parts.append([])
                rest = rest.dropFirst(separator.count)
            } else {
                parts[parts.count - 1].append(first)
                rest = rest.dropFirst()
            }
        }
        return parts
    }
}
