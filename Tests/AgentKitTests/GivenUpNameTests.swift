import Platform
import Testing

@testable import AgentKit

/// The current names of files that gave up others.
@Suite("Former names of files")
struct GivenUpNameTests {
    private func key(_ path: BytePath) -> Pipeline.Key { Pipeline.Key(root: "inbox", path: path) }

    private func found(_ path: BytePath, _ names: inout RenameTracker) -> BytePath? { names.name(of: key(path)) }

    @Test("A file is found under its latest name, however many it has had")
    func last() {
        var names = RenameTracker()
        for number in 0..<2_000 { names.add(key(BytePath("\(number)")), BytePath("\(number + 1)")) }
        let lost = (0..<2_000).filter { found(BytePath("\($0)"), &names) != "2000" }
        #expect(lost.isEmpty)
        names.add(key("2000"), "end")
        let (first, end) = (found("0", &names), found("end", &names))
        #expect(first == "end")
        #expect(end == nil)
        let elsewhere = names.name(of: Pipeline.Key(root: "other", path: "0"))
        #expect(elsewhere == nil)
    }

    @Test("Names that were exchanged or reused do not form a cycle")
    func circles() {
        var names = RenameTracker()
        names.add(key("a"), "b")
        names.add(key("b"), "a")
        let back = [found("a", &names), found("b", &names)]
        #expect(back == [nil, "a"])
        names.add(key("a"), "c")
        let on = found("b", &names)
        #expect(on == "c")
        for (old, new) in [("x", "t"), ("y", "x"), ("t", "y")] { names.add(key(BytePath(old)), BytePath(new)) }
        let exchanged = [found("x", &names), found("y", &names), found("t", &names)]
        #expect(exchanged == [nil, nil, "y"])
    }

    @Test("A name is forgotten once the fate of its file is known")
    func forgotten() {
        var names = RenameTracker()
        names.add(key("a"), "b")
        names.add(key("b"), "c")
        names.forget(key("b"))
        let first = found("a", &names)
        #expect(first == "b")
        names.forget(key("a"))
        let none = found("a", &names)
        #expect(none == nil)
    }
}
