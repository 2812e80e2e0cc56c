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
            "steward_jobs", "Jobs in the ledger, by state: ready, waiting, asking, parked, done and so on."),
        gauge("steward_jobs_at_work", "Files with a running job."),
        gauge(
            "steward_jobs_unknown",
            "Jobs that have been ready for ten seconds and that the scheduler does not know: always 0, or there is a bug "
                + "in the program."),
        gauge(
            "steward_oldest_job_age_seconds",
            "Age of the oldest job that is ready or waiting for its next attempt; 0 for none."),
        counter("steward_jobs_ended_total", "Jobs that have ended since the start, by rule and result."),
        counter("steward_job_retries_total", "Attempts that failed for a transient reason, by rule."),
        histogram(
            "steward_job_latency_seconds", "Time from judging a file to the last receipt of its job, by rule.",
            waits),
        counter("steward_steps_total", "Steps carried out, by action and result."),
        histogram(
            "steward_step_duration_seconds",
            "Time from a step's decision to its receipt, by action; only completed steps."),
        histogram(
            "steward_settling_seconds", "Time from the first event of a file until it is complete, by place.", waits),
        counter("steward_files_judged_total", "Judged files, by place and verdict."),
        gauge("steward_files", "Present files known to the ledger."),
        gauge("steward_files_settling", "Files and folders that are still changing."),
        counter("steward_watch_events_total", "Events received from the kernel."),
        counter(
            "steward_watch_overflows_total",
            "Overflows of the kernel's event queue, each followed by a rescan."),
        counter("steward_watch_rescans_total", "Scans of all places, for any reason."),
        gauge("steward_watches", "Kernel watches in use."),
        gauge(
            "steward_watch_limit_reached",
            "1 while folders are polled because the kernel's limit of watches is reached."),
        gauge(
            "steward_place_up",
            "1 if the place is available, 0 if it is away, replaced, missing or in use by another agent."),
        gauge("steward_place_polled_folders", "Folders of a place that are polled instead of watched."),
        gauge("steward_hanging_calls", "Places, vaults, rules and notes whose file system does not respond."),
        gauge("steward_notes_held_up", "Notes that cannot be written at the moment, such as those open in an editor."),
        gauge(
            "steward_blocks_missing",
            "Blocks missing from their notes without being known to have been removed by a person; at most 100."),
        gauge("steward_rules", "Rules in force."),
        gauge("steward_rules_valid", "0 while the rule files have errors."),
        gauge("steward_paused", "1 while the agent is paused."),
        gauge("steward_quarantined_files", "Files in quarantine."),
        gauge("steward_outbox_events", "Events in the outbox, by state: waiting, due, held, dead."),
        gauge("steward_outbox_oldest_age_seconds", "Age of the oldest event waiting to be published; 0 for none."),
        gauge("steward_vault_unlocked", "1 while the vault is unlocked."),
        counter("steward_model_calls_total", "Calls to language models, by provider, model and result."),
        counter("steward_model_tokens_total", "Tokens read and written by models, by direction."),
        counter(
            "steward_model_cost_dollars_total",
            "Cost of calls to models, in US dollars, as far as prices are known."),
        gauge(
            "steward_last_backup_timestamp_seconds",
            "Start time of the last finished backup, since unix epoch in seconds; absent before the first."),
        gauge(
            "steward_stores_lost",
            "Databases that were set aside as corrupt or were missing, until `steward losses acknowledge`."),
        gauge("steward_ledger_writable", "0 while the ledger cannot be written, such as on a full disk."),
        counter(
            "steward_log_lines_lost_total",
            "Log lines dropped because nobody read standard error or the journal in time."),
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
