import AgentKit
import Metrics
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Metrics as text")
struct MetricTextTests {
    private let registry = MetricRegistry(most: 3)

    private var lines: [String] { MetricText.document(registry.snapshot()).split(separator: "\n").map(String.init) }

    @Test("A counter increases, and has help, type, and a name with the suffix of a counter")
    func counter() {
        let counter = Metrics.Counter(
            label: "steward_steps", dimensions: [("result", "done"), ("action", "move")], factory: registry)
        counter.increment()
        counter.increment(by: 4)
        #expect(lines.first == "# HELP steward_steps_total Steps carried out, by action and result.")
        #expect(lines.dropFirst().first == "# TYPE steward_steps_total counter")
        #expect(lines.last == #"steward_steps_total{action="move",result="done"} 5"#)
    }

    @Test("A timer is a histogram in seconds with cumulative buckets")
    func timer() {
        let timer = Metrics.Timer(label: "steward_step_duration", dimensions: [("action", "move")], factory: registry)
        timer.recordMilliseconds(3)
        timer.recordMilliseconds(5)
        timer.recordSeconds(400)
        let shown = lines
        #expect(shown.contains("# TYPE steward_step_duration_seconds histogram"))
        #expect(shown.contains(#"steward_step_duration_seconds_bucket{action="move",le="0.001"} 0"#))
        #expect(shown.contains(#"steward_step_duration_seconds_bucket{action="move",le="0.005"} 2"#))
        #expect(shown.contains(#"steward_step_duration_seconds_bucket{action="move",le="300"} 2"#))
        #expect(shown.contains(#"steward_step_duration_seconds_bucket{action="move",le="+Inf"} 3"#))
        #expect(shown.contains(#"steward_step_duration_seconds_sum{action="move"} 400.008"#))
        #expect(shown.last == #"steward_step_duration_seconds_count{action="move"} 3"#)
    }

    @Test("Characters that would end a label or control a terminal are escaped")
    func escapes() {
        let rule = "a \"b\" \\ c\nd\u{1B}[2J"
        Metrics.Counter(label: "x", dimensions: [("rule", rule)], factory: registry).increment()
        #expect(lines.last == #"x_total{rule="a \"b\" \\ c\\x0Ad\\x1B[2J"} 1"#)
        #expect(lines.count == 3)
    }

    @Test("Names from outside cannot make it grow: beyond a limit they are counted together")
    func bounded() {
        for number in 0..<100 {
            Metrics.Counter(label: "calls", dimensions: [("path", "/\(number)")], factory: registry).increment()
        }
        let samples = lines.dropFirst(2)
        #expect(samples.count == 4)
        #expect(samples.contains(#"calls_total{path="other"} 97"#))
        #expect(registry.counts("calls_total", by: "path").values.reduce(0, +) == 100)
    }

    @Test("Handles with one name and the same labels count together, whatever the order of the labels")
    func together() {
        for dimensions in [[("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]] {
            Metrics.Counter(label: "both", dimensions: dimensions, factory: registry).increment()
        }
        #expect(lines.last == #"both_total{a="1",b="2"} 2"#)
    }

    @Test("A name with one meaning does not get another")
    func conflict() {
        Meter(label: "level", factory: registry).set(7)
        Metrics.Timer(label: "level", factory: registry).recordSeconds(1)
        Recorder(label: "level", aggregate: true, factory: registry).record(1)
        #expect(lines.filter { $0.hasPrefix("level ") } == ["level 7"])
        #expect(!lines.contains { $0.hasPrefix("level_bucket") })
    }

    @Test("A quantile is between the bounds of its bucket")
    func quantiles() throws {
        var found = Distribution(bounds: [1, 2, 4])
        #expect(found.quantile(0.5) == nil)
        for value in [0.5, 1.5, 1.5, 3] { found.record(value) }
        found.record(.nan)
        #expect(found.count == 4)
        #expect(found.quantile(0.5) == 1.5)
        #expect(found.quantile(1) == 4)
        found.record(100)
        #expect(found.quantile(0.99) == 4)
    }

    @Test("The manual lists every metric, with the help text that scrapers get")
    func manual() throws {
        let page = try String(
            decoding: Descriptor(Checkout.root.appending("docs/operations.md")).readAll(), as: UTF8.self)
        for entry in MetricCatalog.all {
            #expect(page.contains("| `\(entry.name)` | \(entry.kind.rawValue) |"), "\(entry.name)")
        }
    }
}
