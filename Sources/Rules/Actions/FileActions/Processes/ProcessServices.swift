import Platform
import Rules

/// Dependencies of the actions that run programs.
package struct ProcessServices: Sendable {
    let run: RunPolicy
    let notify: NotifyPolicy
    let placing: FileServices
    /// Where programs are started.
    let folders: PrivateFolders

    var files: BlockingPool { placing.files }
    var journal: EffectJournal { placing.journal }

    package init(run: RunPolicy, notify: NotifyPolicy, placing: FileServices, folders: PrivateFolders) {
        self.folders = folders
        self.run = run
        self.notify = notify
        self.placing = placing
    }

    /// Runs a program in an empty folder, which is removed afterwards.
    func inPrivateFolder<R: Sendable>(
        for step: String, _ body: @Sendable (Folder) async throws -> R
    ) async throws -> R {
        let folders = folders
        let own = try await files.run { try folders.make(for: step) }
        let outcome: Result<R, any Error>
        do {
            let folder = try await files.run { try own.openFolder() }
            guard let folder else { throw Fault(.transient, "\(own.path) is gone", path: own.path) }
            outcome = .success(try await body(folder))
        } catch {
            outcome = .failure(error)
        }
        try await files.run { folders.remove(own) }
        return try outcome.get()
    }
}

/// How to notify people.
package struct NotifyPolicy: Sendable {
    /// A program compatible with sendmail(8); nil if rules may not send mail.
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
    /// Default timeout in seconds.
    package var timeout: Double

    package init(isAllowed: Bool, timeout: Double = 300) {
        self.isAllowed = isAllowed
        self.timeout = timeout
    }
}
