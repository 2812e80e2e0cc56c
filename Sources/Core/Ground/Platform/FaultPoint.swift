import Glibc
import Synchronization

/// Where a test kills the process deliberately, between two system calls, as a power cut would.
///
/// `STEWARD_FAULT=*:7` kills it at the seventh point reached, `STEWARD_FAULT=renamed:2` at the second of that name.
/// Without the variable, a point costs one comparison.
package enum FaultPoint {
    /// Whether the variable is set; if so, each write is split in two, with a point in between.
    package static let isArmed = plan != nil

    /// How many points were reached; counted only while armed.
    package static var reached: Int { count.load(ordering: .relaxed) }

    private static let count = Atomic<Int>(0)
    private static let plan: (name: String, number: Int)? = {
        guard let text = getenv("STEWARD_FAULT").map({ String(cString: $0) }) else { return nil }
        let parts = text.split(separator: ":")
        guard parts.count == 2, let number = Int(parts[1]) else { return nil }
        return (String(parts[0]), number)
    }()

    package static func reach(_ name: String) {
        guard let plan, plan.name == "*" || plan.name == name else { return }
        if count.wrappingAdd(1, ordering: .relaxed).newValue == plan.number { kill(getpid(), SIGKILL) }
    }
}
