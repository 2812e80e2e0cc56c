import Foundation
import Platform
import TKCore
import TestSupport
import Testing

@Suite("Unified diffs", .timeLimit(.minutes(30)))
struct ApplyDiffTests {
    /// The result of applying the diff to `old` with patch(1).
    static func patched(_ old: String, _ diff: String, _ folder: TemporaryFolder) throws -> String {
        try folder.write("draft.md", old)
        let file = try folder.write("change.diff", diff)
        let patch = try runProgram([
            "/usr/bin/patch", "--binary", "--fuzz=0", "--quiet", "--no-backup-if-mismatch",
            folder.path.appending("draft.md").text, file.text,
        ])
        #expect(patch.status == 0, "\(patch.output)\(patch.errors)\n\(diff)")
        return try folder.read("draft.md")
    }

    @Test("The format is the standard one")
    func format() {
        let diff = UnifiedDiff.text(
            from: "a\nb\nc\nd\ne\nf\n", to: "a\nb\nc\nD\ne\nf\ng", oldName: "a/my draft.md", newName: "b/x\"y\n.md")
        #expect(
            diff == """
                --- a/my draft.md\t
                +++ "b/x\\"y\\n.md"
                @@ -1,6 +1,7 @@
                 a
                 b
                 c
                -d
                +D
                 e
                 f
                +g
                \\ No newline at end of file

                """)
        #expect(UnifiedDiff.text(from: "a\n", to: "a\n", oldName: "a", newName: "b").isEmpty)
    }

    @Test("patch(1) produces the new text from the old one and the diff, for any two texts")
    func patch() throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(for: "diff")
        var pairs: [(String, String)] = [
            ("a\n", "a"), ("a", "a\n"), ("a", "b"), ("a\r\nb\r\n", "a\r\nc\r\n"), ("x\n", "x\n\n"), ("é\n", "🙂\n"),
            ("--- a\n+++ b\n", "@@ -1 +1 @@\n-x\n"),
        ]
        for _ in 0..<40 {
            let old = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                "line \(Int.random(in: 0...9, using: &random))"
            }
            var new = old
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0...new.count, using: &random)
                if Bool.random(using: &random), index < new.count, new.count > 1 {
                    new.remove(at: index)
                } else {
                    new.insert("new \(index)", at: index)
                }
            }
            let end = Bool.random(using: &random) ? "\n" : ""
            pairs.append((old.joined(separator: "\n") + "\n", new.joined(separator: "\n") + end))
        }
        for (old, new) in pairs where old != new {
            let diff = UnifiedDiff.text(from: old, to: new, oldName: "draft.md", newName: "draft.md")
            let made = try Self.patched(old, diff, folder)
            #expect(made.utf8.elementsEqual(new.utf8), "\(diff)")
        }
    }

    @Test("Texts with many lines are compared in reasonable time, even if all have changed")
    func large() throws {
        let folder = try TemporaryFolder()
        let old = (0..<6_000).map { "line \($0) of \($0 % 7)\n" }.joined()
        var lines = (0..<6_000).map { "line \($0) of \($0 % 7)\n" }
        lines.insert("a new one\n", at: 10)
        for index in stride(from: 100, to: 5_900, by: 37) { lines[index] = "changed \(index)\n" }
        lines.removeSubrange(5_000..<5_050)
        let new = lines.joined()
        let diff = UnifiedDiff.text(from: old, to: new, oldName: "draft.md", newName: "draft.md")
        #expect(try Self.patched(old, diff, folder) == new)
        #expect(diff.utf8.count < 60_000)
        let other = (0..<6_000).map { "other \($0)\n" }.joined()
        let all = UnifiedDiff.text(from: old, to: other, oldName: "draft.md", newName: "draft.md")
        #expect(try Self.patched(old, all, folder) == other)
    }
}
