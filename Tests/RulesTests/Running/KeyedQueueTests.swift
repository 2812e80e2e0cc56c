import Rules
import TestSupport
import Testing

@Suite("Keyed queue: lanes of the outbox, places with due work")
struct KeyedQueueTests {
    private typealias Keys = KeyedQueue<String>

    /// How a turn ends, how it was requested meanwhile, and whether it is ready again: at once, after its wait, or on
    /// request.
    @Test(
        "A request for running work gets another turn, however this one ends",
        arguments: [
            (.done, nil, false, true, true), (.done, .afterWait, true, false, false), (.done, .now, true, false, false),
            (.again, nil, true, false, false), (.again, .afterWait, true, false, false),
            (.wait(seconds: 9), nil, false, false, true), (.wait(seconds: 9), .afterWait, false, false, true),
            (.wait(seconds: 9), .now, true, false, false), (.waitForWord, nil, false, false, true),
            (.waitForWord, .afterWait, false, false, true), (.waitForWord, .now, true, false, false),
        ] as [(KeyedQueue<String>.End, KeyedQueue<String>.Asked?, Bool, Bool, Bool)])
    func ends(
        _ end: KeyedQueue<String>.End, _ meanwhile: KeyedQueue<String>.Asked?, isReady: Bool, afterWait: Bool, now: Bool
    ) {
        var turns = Keys()
        let isNew = turns.ask("a", .afterWait)
        #expect(isNew)
        turns.begin("a")
        #expect(turns.isAnyAtWork)
        let isNewMeanwhile = meanwhile.map { turns.ask("a", $0) }
        #expect(isNewMeanwhile != true)
        let isReadyAgain = turns.ended("a", end, .now)
        #expect(isReadyAgain == isReady)
        #expect(!turns.isAnyAtWork)
        var copy = turns
        let asked = (copy.ask("a", .afterWait), turns.ask("a", .now))
        #expect(asked == (afterWait, now))
    }

    @Test("In any history each key is in one state, no request is lost, and each wait has its timer")
    func histories() {
        var random = SeededGenerator(for: "KeyedQueueTests")
        for _ in 0..<2_000 {
            var turns = Keys()
            var (ready, atWork): (Set<String>, [String: KeyedQueue<String>.Asked?]) = ([], [:])
            var waiting: [String: ContinuousClock.Instant?] = [:]
            var (now, timer) = (ContinuousClock.now, ContinuousClock.Instant?.none)
            for _ in 0..<40 {
                let key = ["a", "b", "c"].randomElement(using: &random) ?? ""
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let asked = Bool.random(using: &random) ? Keys.Asked.now : .afterWait
                    let isNew = !ready.contains(key) && atWork[key] == nil && (waiting[key] == nil || asked == .now)
                    let isReady = turns.ask(key, asked)
                    #expect(isReady == isNew)
                    if isNew {
                        ready.insert(key)
                        waiting[key] = nil
                    } else if let other = atWork[key] {
                        atWork[key] = .some(max(asked, other ?? asked))
                    }
                case 1 where ready.remove(key) != nil:
                    turns.begin(key)
                    atWork[key] = .some(nil)
                case 2:
                    guard let asked = atWork.removeValue(forKey: key) else { continue }
                    let end =
                        [Keys.End.done, .again, .waitForWord, .wait(seconds: 5), .wait(seconds: 7)]
                        .randomElement(using: &random) ?? .done
                    let isReady = asked == .now || end == .again || (end == .done && asked != nil)
                    let isReadyAgain = turns.ended(key, end, now)
                    #expect(isReadyAgain == isReady)
                    if isReady { ready.insert(key) }
                    if case .wait(let seconds) = end, !isReady {
                        waiting[key] = .some(now.advanced(by: .seconds(seconds)))
                    }
                    if case .waitForWord = end, !isReady { waiting[key] = .some(nil) }
                case 3:
                    now = now.advanced(by: .seconds(Int.random(in: 0...3, using: &random)))
                    guard let time = timer, time <= now else { break }
                    timer = nil
                    let due = waiting.compactMap { key, until in until.map { $0 <= now } == true ? key : nil }
                    let taken = turns.takeDue(now)
                    #expect(Set(taken) == Set(due))
                    for key in due {
                        waiting[key] = nil
                        ready.insert(key)
                    }
                default: break
                }
                if let next = turns.timer() { timer = next }
                if let first = waiting.values.compactMap(\.self).min() { #expect(timer.map { $0 <= first } == true) }
                #expect(turns.isAnyAtWork == !atWork.isEmpty)
            }
        }
    }
}
