import Foundation
import Platform
import Rules
import TestSupport
import Testing

@Suite("Hostile YAML") struct HostileYamlTests {
    private func diagnostics(_ bytes: [UInt8]) -> [Diagnostic] {
        RuleDirectories.parse(file: "x.yaml", bytes: bytes, registry: registry, places: places(), timeZone: utc).1
    }

    @Test("Bytes that are not text are reported with their position") func bytesTextNamed() {
        #expect(diagnostics(Array("- a\n  b".utf8) + [0xFF]).map(\.position) == [SourcePosition(line: 2, column: 4)])
        #expect(diagnostics(Array("é\u{0}".utf8)).map(\.position) == [SourcePosition(line: 1, column: 2)])
        #expect(diagnostics(Array("a\r\nb\u{1B}[2J".utf8)).map(\.position) == [SourcePosition(line: 2, column: 2)])
    }

    @Test("Depth, size and aliases have limits") func depthSizeAliases() {
        for depth in [50, 900, 100_000] {
            #expect(diagnostics(Array(repeating: UInt8(ascii: "["), count: depth)).hasErrors)
            #expect(diagnostics(Array(String(repeating: "- ", count: depth).utf8)).hasErrors)
            #expect(
                diagnostics(
                    Array((String(repeating: "{a: ", count: depth) + String(repeating: "}", count: depth)).utf8)
                ).hasErrors)
        }
        #expect(
            diagnostics(Array(String(repeating: "# x\n", count: 300_000).utf8)).first?.message.contains("bytes") == true
        )
        var bomb = "a0: &a0 [x, x]\n"
        for level in 1...30 { bomb += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
        #expect(diagnostics(Array(bomb.utf8)).first?.message.contains("aliases") == true)
        let key = bomb.split(separator: "\n").prefix(6).joined(separator: "\n") + "\n? [*a5, *a5]\n: 1\n"
        #expect(diagnostics(Array(key.utf8)).hasErrors)
    }

    @Test("Deep nesting fits a small stack") func deepNestingFits() {
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            for piece in ["[", "{a: ", "- ", "? "] { check(Array(String(repeating: piece, count: 990).utf8)) }
            check(Array((String(repeating: "[", count: 990) + String(repeating: "]", count: 990)).utf8))
            done.signal()
        }
        thread.stackSize = 1 << 20
        thread.start()
        done.wait()
    }

    @Test("A few aliases are fine") func fewAliasesFine() throws {
        let text =
            "- { rule: A, in: other, where: &w { name: 'a*' }, do: trash }\n"
            + "- { rule: B, in: other, where: *w , do: trash }\n"
        #expect(try rules(text).count == 2)
    }

    @Test("No mutation of a good file crashes, and every error has a position") func mutationGoodFile() {
        var random = SeededGenerator(for: "noMutationOfAGoodFileCrashes")
        let good = Array(RuleFileTests.whole.utf8)
        let splinters = [
            "{{", "}}", "*", "&a ", "[", "{", "\"", "'", "|", ">", "- ", ": ", "\t", "\n", "\u{0}", "%", "!!", "? ",
            "\\", "é", "---\n",
        ]
        var (taken, refused) = (0, 0)
        for number in 0..<1_000 {
            var bytes = good
            if number.isMultiple(of: 4) {
                // A letter of the comment at the start of the file.
                bytes[Int.random(in: 2..<24, using: &random)] = .random(in: 0x61...0x7A, using: &random)
                if check(bytes) { taken += 1 } else { refused += 1 }
                continue
            }
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(contentsOf: (splinters.randomElement(using: &random) ?? "").utf8, at: index)
                case 3: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 0...40, using: &random)))
                default:
                    let end = min(bytes.count, index + Int.random(in: 0...80, using: &random))
                    bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0..<bytes.count, using: &random))
                }
                if bytes.isEmpty { bytes = [0x2D] }
            }
            if check(bytes) { taken += 1 } else { refused += 1 }
        }
        // A tenth of those changed anywhere get a non-UTF-8 byte as their last change.
        #expect(taken >= 250 && refused > 20, "\(taken) taken, \(refused) refused")
    }

    @Test("No random bytes crash") func randomBytesCrash() {
        var random = SeededGenerator(for: "noRandomBytesCrash")
        let yaml = Array("-:?{}[]&*!|>'\"%@`#, \n\tab01\\".utf8)
        // Anchors are counted in comments as well.
        let comment = yaml.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "&") }
        var (taken, refused) = (0, 0)
        for round in 0..<1_000 {
            let count = Int.random(in: 0...200, using: &random)
            let isComment = round.isMultiple(of: 10)
            let bytes = (0..<count).map { _ -> UInt8 in
                if isComment { return comment.randomElement(using: &random) ?? 0 }
                return round % 2 == 0
                    ? UInt8.random(in: 0...255, using: &random) : yaml.randomElement(using: &random) ?? 0
            }
            if check((isComment ? [UInt8(ascii: "#")] : []) + bytes) { taken += 1 } else { refused += 1 }
        }
        // Nine tenths of the 400 that may contain any byte have at least twenty of them: not UTF-8.
        #expect(taken >= 100 && refused > 300, "\(taken) taken, \(refused) refused")
    }

    /// - Returns: whether it is valid.
    @discardableResult
    private func check(_ bytes: [UInt8]) -> Bool {
        let found = diagnostics(bytes)
        let lines = bytes.count + 1
        for diagnostic in found where diagnostic.line < 1 || diagnostic.column < 1 || diagnostic.line > lines {
            Issue.record("\(diagnostic) for \(BytePath.escape(bytes))")
        }
        let shown = found.map(\.description).joined()
        #expect(!shown.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" || $0.value == 0x7F })
        return !found.hasErrors
    }
}
