import Platform

/// The metric types of Prometheus.
package enum MetricKind: String, Sendable { case counter, gauge, histogram }

/// A dimension and its value.
package struct MetricLabel: Hashable, Sendable, Comparable {
    package let name: String
    package let value: String

    /// Replaces label values beyond the maximum.
    static let other = "other"

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    package static func < (left: MetricLabel, right: MetricLabel) -> Bool {
        (left.name, left.value) < (right.name, right.value)
    }
}

/// A value with its labels.
package struct MetricSample: Sendable, Equatable {
    package let name: String
    package let labels: [MetricLabel]
    package let value: Double

    package init(_ name: String, _ labels: [MetricLabel], _ value: Double) {
        (self.name, self.labels, self.value) = (name, labels, value)
    }
}

extension MetricSample {
    /// A sample without labels.
    package init(_ name: String, _ value: Double) { self.init(name, [], value) }
}

/// All samples of one metric.
package struct MetricFamily: Sendable {
    package let name: String
    package let kind: MetricKind
    package let samples: [MetricSample]

    package init(_ name: String, _ kind: MetricKind, samples: [MetricSample]) {
        (self.name, self.kind, self.samples) = (name, kind, samples)
    }
}

/// Metric names in Prometheus style.
enum MetricName {
    static func plain(_ label: String) -> String {
        let allowed = label.unicodeScalars.map { scalar -> Character in
            let isWord = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isWord || scalar == "_" || scalar == ":" ? Character(scalar) : "_"
        }
        let name = String(allowed)
        return name.first?.isNumber != false ? "_" + name : name
    }

    static func counter(_ label: String) -> String { ending("_total", plain(label)) }
    static func seconds(_ label: String) -> String { ending("_seconds", plain(label)) }

    private static func ending(_ end: String, _ name: String) -> String { name.hasSuffix(end) ? name : name + end }
}

/// Metrics in the Prometheus text format, version 0.0.4.
package enum MetricText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// - Parameter families: those with the same name are merged.
    package static func document(_ families: [MetricFamily]) -> String {
        var text = ""
        let named = Dictionary(grouping: families, by: \.name).sorted { $0.key < $1.key }
        for (name, parts) in named {
            let kind = parts[0].kind
            text += "# HELP \(name) \(escaped(MetricCatalog.help(of: name)))\n# TYPE \(name) \(kind.rawValue)\n"
            let samples = parts.flatMap(\.samples)
            // The buckets of a histogram keep their order.
            let lines = kind == .histogram ? samples.map(line) : samples.map(line).sorted()
            for line in lines { text += line + "\n" }
        }
        return text
    }

    private static func line(_ sample: MetricSample) -> String {
        guard !sample.labels.isEmpty else { return "\(sample.name) \(number(sample.value))" }
        let labels = sample.labels.map { "\(MetricName.plain($0.name))=\"\(escapedValue($0.value))\"" }
        return "\(sample.name){\(labels.joined(separator: ","))} \(number(sample.value))"
    }

    /// Integers without a fraction, for readability.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map { abs($0) < 1 << 53 ? "\($0)" : "\(value)" } ?? "\(value)"
    }

    /// Escapes terminal control characters first: the text may also be printed.
    private static func escaped(_ text: String) -> String {
        ShownText.line(text).replacing("\\", with: "\\\\")
    }

    private static func escapedValue(_ text: String) -> String { escaped(text).replacing("\"", with: "\\\"") }
}
