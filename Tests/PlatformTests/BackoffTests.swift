import Platform
import TestSupport
import Testing

@Suite("Backoff")
struct BackoffTests {
    private func backoff(jitter: Double) -> Backoff {
        Backoff(
            first: .seconds(1), longest: .seconds(8), jitter: jitter, generator: SeededGenerator(for: "BackoffTests"))
    }

    @Test("A delay doubles with each failure in a row, up to a cap, and begins anew after a success")
    func doubling() {
        var backoff = backoff(jitter: 0)
        let row: [Duration] = [1, 2, 4, 8, 8, 8].map { .seconds($0) }
        #expect(row.indices.map { _ in backoff.next() } == row)
        backoff.reset()
        #expect(backoff.next() == .seconds(1))
        #expect(backoff.seconds(failures: 3) == 4)
    }

    @Test(
        "Nobody comes back sooner than asked, and not everyone at once",
        arguments: [(nil, 0.8, 1.2), (0, 1, 1.2), (0.5, 1, 1.2), (3, 3, 3.6), (20, 20, 24)]
            as [(Double?, Double, Double)])
    func asked(_ asked: Double?, _ shortest: Double, _ longest: Double) {
        var backoff = backoff(jitter: 0.2)
        let delays = (0..<200).map { _ in backoff.seconds(failures: 1, asked: asked) }
        #expect(delays.allSatisfy { (shortest...longest).contains($0) }, "\(delays)")
        #expect(Set(delays).count > 1)
    }
}
