import Foundation
import Platform
import RuleActions

/// `steward doctor`, the part about publishing: whether the targets answer and the credentials can be read. Sends no
/// event and no credential.
package struct PublishExamination: Sendable {
    private let configuration: Configuration
    private let directories: Directories

    /// - Parameters:
    ///   - configuration: names the targets.
    ///   - directories: where credentials are stored.
    package init(_ configuration: Configuration, _ directories: Directories) {
        self.configuration = configuration
        self.directories = directories
    }

    /// - Returns: one finding per target, in the order of the configuration.
    package func findings() async -> [Examination.Finding] {
        let senders = Couriers.senders(configuration.publish, directories, connections: 1)
        var all: [Examination.Finding] = []
        for target in configuration.publish {
            if let lack = await lack(of: target) {
                all.append(lack)
            } else if let sender = senders[target.name], let problem = await sender.unreachable() {
                all.append(
                    finding(
                        target, "nobody answers at \(target.url): \(problem)",
                        "check whether the server is running and reachable; events wait until then"))
            } else {
                all.append(finding(target, "\(target.kind.rawValue), \(target.url) answers", nil))
            }
        }
        return all
    }

    private func lack(of target: PublishTarget) async -> Examination.Finding? {
        let credentials = PublishCredentials(directories, environment: ProcessInfo.processInfo.environment)
        for name in [target.token, target.secret].compactMap({ $0 }) {
            do {
                guard try await BlockingPool("credentials").run({ try credentials.origin(name) }) == nil else {
                    continue
                }
                return finding(
                    target, "there is no credential `\(name)`",
                    "put it into \(PublishCredentials.folder(directories).appending(name)) (mode 0600, in a folder of "
                        + "mode 0700), or see docs/publish.md; events wait until then")
            } catch {
                return finding(target, explain(error), "fix that; events wait until then")
            }
        }
        return nil
    }

    private func finding(_ target: PublishTarget, _ message: String, _ remedy: String?) -> Examination.Finding {
        Examination.Finding("publish \(target.name)", message, remedy: remedy)
    }
}
