/// The meaning of each metric, for scrapers and for `docs/operations.md`.
package enum MetricCatalog {
    /// One of the agent's own metrics.
    package struct Entry: Sendable {
        package let name: String
        package let kind: MetricKind
        package let help: String
        /// For a histogram.
        let bounds: [Double]
    }

    /// From moments to hours: a job may wait for a person, or for a server that is down.
    private static let waits = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 43_200]
    private static let work = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
    private static let sizes = [256.0, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 16_777_216]

    private static func counter(_ name: String, _ help: String) -> Entry {
        Entry(name: name, kind: .counter, help: help, bounds: [])
    }

    private static func gauge(_ name: String, _ help: String) -> Entry {
        Entry(name: name, kind: .gauge, help: help, bounds: [])
    }

    private static func histogram(_ name: String, _ help: String, _ bounds: [Double] = work) -> Entry {
        Entry(name: name, kind: .histogram, help: help, bounds: bounds)
    }

    /// All own metrics, in the order of the manual.
    package static let all: [Entry] = [
        gauge(
            "steward_jobs", "Jobs that the ledger remembers, by state: ready, waiting, asking, parked, done and so on."),
        gauge("steward_jobs_at_work", "Files that jobs are carried out for at this moment."),
        gauge(
            "steward_jobs_unknown",
            "Jobs that have been ready for ten seconds and that the scheduler does not know: always 0, or there is a mistake "
                + "in the program."),
        gauge(
            "steward_oldest_job_age_seconds",
            "Age of the oldest job that is ready or waits for its next try; 0 for none."),
        counter("steward_jobs_ended_total", "Jobs that have ended since the start, by rule and result."),
        counter("steward_job_retries_total", "Tries that failed for a reason that may pass, by rule."),
        histogram(
            "steward_job_latency_seconds", "From the moment a file was judged to the last receipt of its job, by rule.",
            waits),
        counter("steward_steps_total", "Steps carried out, by action and result."),
        histogram(
            "steward_step_duration_seconds",
            "From a step's decision to its receipt, by action; only steps that were done."),
        histogram("steward_settling_seconds", "From the first word of a file to its being whole, by place.", waits),
        counter("steward_files_judged_total", "Files that were judged, by place and verdict."),
        gauge("steward_files", "Files that the ledger knows to be there."),
        gauge("steward_files_settling", "Files and folders that are waited for until they stand still."),
        counter("steward_watch_events_total", "Events that the kernel has sent."),
        counter(
            "steward_watch_overflows_total",
            "Times that the kernel's queue of events overflowed, each followed by a rescan."),
        counter("steward_watch_rescans_total", "Times that all places were looked through, for whatever reason."),
        gauge("steward_watches", "Kernel watches in use."),
        gauge("steward_watch_limit_reached", "1 while folders are polled because the kernel grants no more watches."),
        gauge(
            "steward_place_up",
            "1 where the place is there, 0 where it is away, replaced, missing or in use by another agent."),
        gauge("steward_place_polled_folders", "Folders of a place that are polled instead of watched."),
        gauge("steward_hanging_calls", "Places, vaults, rules and notes whose file system does not answer."),
        gauge("steward_notes_held_up", "Notes that cannot be written just now, such as those open in an editor."),
        gauge(
            "steward_blocks_missing",
            "Blocks that their notes lack though nobody is known to have taken them out; 100 at most."),
        gauge("steward_rules", "Rules in force."),
        gauge("steward_rules_valid", "0 while the rule files have errors."),
        gauge("steward_paused", "1 while nothing new is begun."),
        gauge("steward_quarantined_files", "Files in quarantine."),
        gauge("steward_outbox_events", "Events to be published, by state: waiting, due, held, dead."),
        gauge("steward_outbox_oldest_age_seconds", "Age of the oldest event that waits to be published; 0 for none."),
        gauge("steward_vault_unlocked", "1 while the vault is unlocked."),
        counter("steward_model_calls_total", "Calls to language models, by provider, model and result."),
        counter("steward_model_tokens_total", "Tokens that models have read and written, by direction."),
        counter(
            "steward_model_cost_dollars_total",
            "What calls to models have cost, in US dollars, as far as prices are known."),
        gauge(
            "steward_last_backup_timestamp_seconds",
            "When the last backup that was finished was begun, since unix epoch in seconds; absent before the first."),
        gauge(
            "steward_stores_lost",
            "Databases that were set aside as corrupt or were gone, until `steward losses acknowledge`."),
        gauge("steward_ledger_writable", "0 while the ledger cannot be written, such as on a full disk."),
        counter(
            "steward_log_lines_lost_total",
            "Lines of the log that were dropped, because nobody read standard error or the journal in time."),
        gauge("steward_ledger_bytes", "Size of the ledger's file, and of its log, by file."),
        gauge("process_resident_memory_bytes", "Resident memory size in bytes."),
        gauge("process_virtual_memory_bytes", "Virtual memory size in bytes."),
        counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds."),
        gauge("process_open_fds", "Number of open file descriptors."),
        gauge("process_max_fds", "Maximum number of open file descriptors."),
        gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
    ]

    /// Metrics of the RON client.
    private static let client: [Entry] = [
        counter("ron_client_calls_total", "Calls to an app plane, by method, path, status and problem."),
        histogram("ron_client_call_duration_seconds", "Duration of calls to an app plane."),
        histogram("ron_client_request_bytes", "Bodies sent to an app plane.", sizes),
        histogram("ron_client_response_bytes", "Bodies received from an app plane.", sizes),
        gauge("ron_client_calls_in_flight", "Calls to an app plane that have not been answered."),
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: (all + client).map { ($0.name, $0) })

    static func help(of name: String) -> String { byName[name]?.help ?? "A metric of a library that the agent uses." }

    static func bounds(of name: String) -> [Double] {
        guard let bounds = byName[name]?.bounds, !bounds.isEmpty else { return work }
        return bounds
    }
}
