import FilePlacing
import Platform
import Rules

/// What actions that run programs act through.
package struct ProcessServices: Sendable {
    let run: RunPolicy
    let notify: NotifyPolicy
    let placing: FileServices

    var files: BlockingLanes { placing.files }
    var journal: EffectJournal { placing.journal }

    package init(run: RunPolicy, notify: NotifyPolicy, placing: FileServices) {
        self.run = run
        self.notify = notify
        self.placing = placing
    }
}

/// How people are told.
package struct NotifyPolicy: Sendable {
    /// The program that sends mail as sendmail(8) does; nil where rules may send none.
    package var sendmail: String?
    /// The program that calls the desktop.
    package var busctl: String

    package init(sendmail: String? = nil, busctl: String = "busctl") {
        self.sendmail = sendmail
        self.busctl = busctl
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
