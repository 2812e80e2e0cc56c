import AgentKit
import ArgumentParser
import Platform

/// `steward metrics`
struct MetricsCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Print the agent's metrics in the text format of Prometheus.",
        discussion: """
            For the textfile collector of node_exporter, or for inspection. `metrics: { listen: 127.0.0.1:9464 }` in steward.yaml \
            makes the agent serve them to a scraper.
            """)

    @OptionGroup var options: CommonOptions

    var request: ShowMetrics { ShowMetrics() }
}
