import Foundation
import Platform
import TKCore

/// `steward doctor`, the part about reviews: the advisors' data files, the settings of the agent's user, and the
/// provider's key. Does not contact the provider, which may cost money.
package struct AdvisorExamination: Sendable {
    private let environment: [String: String]

    /// - Parameter environment: names the user's `.tk` folder and keys.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
    }

    /// Blocks briefly.
    package func findings() -> [Examination.Finding] {
        do {
            let resources = try TKResources.locate(environment: environment)
            let home = try TKHome(environment: environment)
            let roles = try RoleCatalogue.load(resources, custom: FileSystemRoleStore(folder: home.roles))
            return [advisors(roles), models(resources, home)]
        } catch {
            return [
                Examination.Finding(
                    "advisors", explain(error),
                    remedy: "fix the problem named in the message; rules with `review` fail until then, all others work"
                )
            ]
        }
    }

    private func advisors(_ roles: RoleCatalogue) -> Examination.Finding {
        guard roles.problems.isEmpty else {
            return Examination.Finding(
                "advisors", roles.problems.joined(separator: "; "),
                remedy: "fix or remove these files; the other advisors can be used")
        }
        return Examination.Finding("advisors", "\(roles.roles.count) can be asked")
    }

    private func models(_ resources: TKResources, _ home: TKHome) -> Examination.Finding {
        do {
            let prices = try ModelTable.load(resources, user: home.models)
            let configuration = try ConfigurationStore(
                home: home, workingDirectory: home.folder.parent, environment: environment, models: prices
            ).effective()
            let provider = configuration.provider
            let secrets = SecretChain(home: home, environment: environment, configured: provider)
            // Reads the key instead of only looking for it: a key that others may read is refused.
            let hasKey = try secrets.secret(for: provider) != nil
            let origin = try secrets.origin(for: provider) ?? ""
            return Examination.Finding(
                "models",
                hasKey
                    ? "\(provider), with a key from \(origin)"
                    : "\(provider), without a key: reviews need a local model, or consist of the quick pass only")
        } catch {
            return Examination.Finding(
                "models", explain(error),
                remedy: "fix the problem named in the message; until then reviews consist of the quick pass only")
        }
    }
}
