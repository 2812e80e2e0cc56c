import Platform

/// What actions that run programs act through.
package struct ProcessServices: Sendable {
    let run: RunPolicy
    let files: BlockingLanes

    package init(run: RunPolicy, files: BlockingLanes) {
        self.run = run
        self.files = files
    }
}

/// Whether and how rules may run programs.
package struct RunPolicy: Sendable {
    package var isAllowed: Bool
    /// Seconds after which a program is ended, where the rule does not say.
    package var timeout: Double

    package init(isAllowed: Bool, timeout: Double = 300) {
        self.isAllowed = isAllowed
        self.timeout = timeout
    }
}
