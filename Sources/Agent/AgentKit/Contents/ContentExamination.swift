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
                        remedy: "no rule looks into files so; the kernel must offer seccomp filters "
                            + "(CONFIG_SECCOMP_FILTER), and nothing around the agent may forbid them")
                ]
            }
            return [
                Examination.Finding("contents", "looked into by steward-worker, locked down")
            ]
        } catch {
            return [
                Examination.Finding(
                    "contents", explain(error),
                    remedy: "rules that look into files wait until it is there; it is installed with steward, in "
                        + "libexec/steward")
            ]
        }
    }
}
