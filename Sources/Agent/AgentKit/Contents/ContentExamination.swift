import FileActions
import Platform

/// `steward doctor`, the part about rules that look into files: the worker program and its cage.
package struct ContentExamination: Sendable {
    package init() {}

    /// Checks that the cage holds by having the worker break one of its rules.
    package func findings() async -> [Examination.Finding] {
        do {
            let end = try await BlockingPool("doctor.contents").run {
                try ContentWorker().probe("open", Descriptor(inMemory: "the doctor's sample"))
            }
            guard end.hasPrefix("killed") else {
                return [
                    Examination.Finding(
                        "contents", "steward-worker is not locked down here: a forbidden call ended as `\(end)`",
                        remedy: "no rule inspects files like this; the kernel must support seccomp filters "
                            + "(CONFIG_SECCOMP_FILTER), and nothing must deny them to the agent")
                ]
            }
            return [
                Examination.Finding("contents", "inspected by steward-worker, locked down")
            ]
        } catch {
            return [
                Examination.Finding(
                    "contents", explain(error),
                    remedy: "rules that inspect files wait until it is installed; it comes with steward, in "
                        + "libexec/steward")
            ]
        }
    }
}
