/// How the worker leaves where a program or library that it needs is of no use; numbers of sysexits.h.
package enum WorkerStatus {
    /// What it needs is not installed.
    package static let notInstalled: Int32 = 69
    /// It could not be locked down.
    package static let notCaged: Int32 = 70
}
