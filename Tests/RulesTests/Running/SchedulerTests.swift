import Platform
import Testing

@testable import Rules

@Suite("The scheduler, event by event")
struct SchedulerTests {
    private func job(_ id: String, _ file: String, isBacklog: Bool = false) -> Scheduler.Job {
        Scheduler.Job(
            id: id, whose: .place("p"), file: Scheduler.File(place: "p", path: BytePath(file)), isBacklog: isBacklog)
    }

    private func begun(_ effects: [Scheduler.Effect]) -> [String] {
        effects.compactMap { if case .begin(let job, _) = $0 { job.id } else { nil } }
    }

    @Test("A job requested while it runs is read again after it has ended, however it ended")
    func askedAgain() {
        let ends: [Scheduler.End] = [
            .over(then: []), .waits(.retry, seconds: 60), .waits(.answer, seconds: 60), .heldUp(by: []),
            .heldUp(by: ["other"]),
        ]
        for end in ends {
            var scheduler = Scheduler()
            let now = ContinuousClock.now
            #expect(begun(scheduler.submit([job("a", "a")], areReady: true)) == ["a"])
            #expect(begun(scheduler.submit([job("a", "a")], areReady: false)) == [])
            let effects = scheduler.ended("a", end, now)
            #expect(effects.contains { if case .read("a") = $0 { true } else { false } }, "\(end)")
            #expect(begun(scheduler.found("a", .open(job("a", "a")), now)) == ["a"])
        }
    }

    @Test("A woken job is read if it waits for a retry or is at work, and only then")
    func wakes() {
        var scheduler = Scheduler()
        let now = ContinuousClock.now
        func reads(_ effects: [Scheduler.Effect]) -> Bool {
            effects.contains { if case .read("a") = $0 { true } else { false } }
        }
        #expect(!reads(scheduler.wake(["a"])), "it is not known")
        _ = scheduler.submit([job("a", "a")], areReady: true)
        #expect(!reads(scheduler.wake(["a"])), "it runs")
        #expect(reads(scheduler.ended("a", .waits(.retry, seconds: 600), now)))
        #expect(begun(scheduler.found("a", .open(job("a", "a")), now)) == ["a"])
        #expect(!reads(scheduler.ended("a", .waits(.retry, seconds: 600), now)))
        #expect(reads(scheduler.wake(["a"])))
        _ = scheduler.found("a", .open(job("a", "a")), now)
        _ = scheduler.ended("a", .waits(.answer, seconds: 600), now)
        #expect(!reads(scheduler.wake(["a"])), "only a person answers")
    }
}
