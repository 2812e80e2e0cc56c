import OwnFiles
import Platform
import TKCore

/// The page that describes the rules of the quick pass, one section each.
struct RulePages: Sendable {
    private let page: BytePath
    private let rules: Set<String>

    /// - Returns: nil if the page is not installed with the resources. Blocks.
    init?(_ resources: TKResources, _ quick: QuickPass) throws {
        page = resources.folder.parent.parent.appending("doc/steward/quick-rules.md")
        guard try FileStatus.of(page)?.kind == .file else { return nil }
        rules = Set(quick.rules.map(\.id))
    }

    /// The address of a rule's section; nil for a rule of somebody else.
    func address(of rule: String) -> String? {
        guard rules.contains(rule) else { return nil }
        // As GitHub and others name a section.
        return FileURI.of(page) + "#" + rule.filter { $0 != "." }
    }
}
