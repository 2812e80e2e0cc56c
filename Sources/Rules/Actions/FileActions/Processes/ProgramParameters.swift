import Platform
import Rules

/// Resource limits of a program, as action parameters.
enum ProgramParameters {
    static let specs = [
        ParameterSpec(
            "network", .boolean, default: "false",
            "whether the program gets sockets of the network. Without, it gains no privileges either (`sudo`), and programs "
                + "of another architecture end"),
        ParameterSpec("memory", .literal, default: "2 GiB", "how much memory each of its processes may write to"),
        ParameterSpec("open-files", .integer(16...1_000_000), default: "1024", "how many files each may have open"),
        ParameterSpec(
            "processes", .integer(1...100_000), default: "256",
            "how many processes and threads may run, besides those that the agent's user has already; nothing holds root to it"
        ),
    ]

    /// Defaults.
    static let usual = ProgramLimits(memory: 2 << 30, openFiles: 1024, processes: 256, hasNetwork: false)

    /// - Throws: `ArgumentFault` if `memory` is not a size.
    static func limits(_ arguments: Arguments) throws -> ProgramLimits {
        let text = try arguments.literal("memory")
        guard let memory = Quantity.bytes(text), memory >= 1 << 20 else {
            throw ArgumentFault("memory", "\"\(printable(text))\" is no size from 1 MiB on; write one such as 2 GiB")
        }
        return ProgramLimits(
            memory: memory, openFiles: try arguments.int("open-files"),
            processes: try arguments.int("processes"), hasNetwork: try arguments.bool("network"))
    }
}
