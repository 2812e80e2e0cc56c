import AgentKit
import Platform
import Testing

/// People's answers to `steward rules new`.
@Suite("Turning answers into lines of a rule") struct RulePhraseTests {
    @Test(
        "Files are described by ending, name, kind, size, age or condition",
        arguments: [
            ("pdf jpg", "extension: [pdf, jpg]"), (".pdf", "extension: pdf"), ("pdf", "extension: pdf"),
            ("invoice*", "name: \"invoice*\""), ("image", "kind: image"), ("> 10 MB", "size: \"> 10 MB\""),
            (">30d", "age: \">30d\""), ("text: { contains: x }", "text: { contains: x }"),
        ])
    func conditions(_ answer: String, _ line: String) throws {
        #expect(try RulePhrases.condition(answer) == line)
    }

    @Test(
        "Steps are described by verb and destination, or as rules write them",
        arguments: [
            ("move archive", "move: { place: archive }"),
            ("move to archive/{{ file.kind }}", "move: { place: archive, folder: \"{{ file.kind }}\" }"),
            ("copy ./old", "copy: { folder: old }"),
            ("rename {{ file.name }}", "rename: { name: \"{{ file.name }}\" }"),
            ("tag a, b", "tag: { add: [a, b] }"), ("Trash", "trash"),
            ("note it came", "append-block: { text: it came }"),
            ("run: { command: [true] }", "run: { command: [true] }"),
        ])
    func steps(_ answer: String, _ entry: String) throws {
        let step = try RulePhrases.step(answer, places: ["archive"], actions: ["run", "trash"])
        #expect(step == entry)
    }

    @Test("An answer without meaning is rejected with suggestions", arguments: ["", "> much", "a-b c"])
    func refused(_ answer: String) {
        #expect(throws: Fault.self) { try RulePhrases.condition(answer) }
    }
}
