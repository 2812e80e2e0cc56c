import FileActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// What a receipt says about a file that a step created.
@Suite("Recorded effects of a step")
struct MadeEffectTests {
    @Test("State and content are those of the staged file; another file under its name gets no receipt")
    func another() throws {
        let folder = try TemporaryFolder("made")
        let files = HeldFiles(below: [folder.path])
        let path = folder.path.appending("a.pdf")
        try Durable.replaceOwn(path, with: Array("ours".utf8))
        let own = try #require(try files.entry(path).identity())
        let expected = FileEffect.created(
            path, try #require(try FileStatus.of(path)).fingerprint, ContentHash(of: Array("ours".utf8)))
        #expect(try FileEffect.made(path, files, among: [own]) == expected)
        #expect(try FileEffect.made(path, files) == expected)

        let other = folder.path.appending("other")
        try Durable.replaceOwn(other, with: Array("theirs".utf8))
        try runProgram(["/bin/mv", other.text, path.text]).check()
        let taken = #expect(throws: Fault.self) { try FileEffect.made(path, files, among: [own]) }
        #expect(taken?.kind == .failed && taken?.message.contains("another file") == true, "\(taken?.message ?? "")")

        try Durable.remove(path)
        let gone = #expect(throws: Fault.self) { try FileEffect.made(path, files, among: [own]) }
        #expect(gone?.kind == .failed && gone?.message.contains("vanished") == true, "\(gone?.message ?? "")")
    }
}
