import OwnFiles
import Platform
import TestSupport
import Testing

@testable import TKCore

/// Users' answers to the quick pass are kept, and mute rules that they never follow.
@Suite("Answers to the quick pass", .timeLimit(.minutes(30)))
struct RuleAnswerTests {
    private let folder: TemporaryFolder
    private let store: RuleAnswerStore

    init() throws {
        folder = try TemporaryFolder()
        store = RuleAnswerStore(home: TKHome(folder: folder.path.appending(".tk")))
    }

    private func skipped(_ numbers: Range<Int>, _ rule: String) -> [RuleAnswer] {
        numbers.map { RuleAnswer(finding: "\(rule)-\($0)", rule: rule, isAccepted: false) }
    }

    private func accepted(_ number: Int, _ rule: String) -> RuleAnswer {
        RuleAnswer(finding: "\(rule)-\(number)", rule: rule, isAccepted: true)
    }

    @Test("Nothing is muted at first, and asking creates no file")
    func empty() throws {
        #expect(try store.mutedRules().isEmpty)
        #expect(try FileStatus.of(store.path) == nil)
        #expect(try store.record([]).isEmpty)
        #expect(try FileStatus.of(store.path) == nil)
    }

    @Test("The eighth skip mutes a rule, across drafts and runs; nobody else may read the file")
    func mutes() throws {
        #expect(try store.record(skipped(0..<7, "wordy") + skipped(0..<2, "passive")).isEmpty)
        #expect(try store.record(skipped(7..<8, "wordy")) == ["wordy"])
        #expect(try store.record(skipped(8..<9, "wordy")).isEmpty, "it is named once")
        #expect(try store.mutedRules() == ["wordy"])
        #expect(try store.answers()["passive"] == RuleAnswers(skipped: 2))
        #expect(try FileStatus.of(store.path)?.mode == 0o600)
    }

    @Test("The same finding, skipped in each run, counts once; accepting it reverts the skip")
    func once() throws {
        for _ in 0..<20 { #expect(try store.record(skipped(0..<1, "wordy")).isEmpty) }
        #expect(try store.answers()["wordy"] == RuleAnswers(skipped: 1))
        _ = try store.record([accepted(0, "wordy")])
        #expect(try store.answers()["wordy"] == RuleAnswers(accepted: 1))
    }

    @Test("One acceptance in twenty keeps a rule")
    func acceptance() throws {
        _ = try store.record([accepted(0, "wordy")] + skipped(1..<20, "wordy"))
        #expect(try store.mutedRules().isEmpty)
        #expect(try store.record(skipped(20..<21, "wordy")) == ["wordy"])
    }

    @Test("Rules can be reset, one or all")
    func forget() throws {
        _ = try store.record(skipped(0..<8, "wordy") + skipped(0..<8, "passive") + skipped(0..<3, "cliche"))
        #expect(try store.forget(["wordy", "cliche"]) == ["wordy"])
        #expect(try store.mutedRules() == ["passive"])
        #expect(try store.forget(nil) == ["passive"])
        #expect(try store.answers().isEmpty)
    }

    @Test("Old answers make room for new ones, so that the file stays small")
    func limit() throws {
        _ = try store.record(skipped(0..<8, "wordy"))
        _ = try store.record(skipped(0..<RuleAnswerStore.limit, "passive"))
        #expect(try store.answers()["passive"]?.skipped == RuleAnswerStore.limit)
        #expect(try store.mutedRules() == ["passive"])
    }

    @Test("A damaged file is reported and left alone", arguments: ["{", "[]", #"{"answers": [{"rule": 1}]}"#])
    func damaged(text: String) throws {
        try folder.write(".tk/rule-answers.json", text)
        let fault = #expect(throws: Fault.self) { try store.mutedRules() }
        #expect(fault?.message.contains("rule-answers.json:1") == true, "\(fault?.message ?? "")")
        #expect(throws: Fault.self) { try store.record(skipped(0..<1, "wordy")) }
        #expect(try folder.read(".tk/rule-answers.json") == text)
    }
}
