import OwnFiles
import Platform
import TKCore

/// The styles of the projects that drafts belong to (docs/tk.md, "House rules"). Everything here blocks.
final class HouseRules: Sendable {
    private let styles: ProjectStyles
    private let named: BytePath?

    /// - Parameter named: the `.vale.ini` to use for all drafts.
    /// - Throws: `Fault` if that cannot be read.
    init(_ quick: QuickPass, named: PathArgument? = nil) throws {
        styles = ProjectStyles(quick: quick)
        self.named = named.map { Self.absolute($0.path) }
        if let path = self.named { _ = try styles.pass(settings: path) }
    }

    /// The findings, and the project's problems: a `.vale.ini` that cannot be read, and rules that cannot be used.
    ///
    /// - Parameters:
    ///   - path: the draft's; nil for one without a file, which belongs to the working folder.
    ///   - memory: see ``StylePass/review(_:file:mask:ignoredRules:knownWords:memory:)``.
    func review(
        _ draft: DraftText, _ path: BytePath?, _ mask: DraftMask? = nil, ignoredRules: Set<String>,
        knownWords: Set<String>, memory: StyleMemory? = nil
    ) -> (found: StylePass.Result, problems: [String]) {
        let file = Self.absolute(path ?? "draft.md")
        do {
            guard let (pass, _) = try named.map({ try styles.pass(settings: $0) }) ?? styles.pass(for: file) else {
                return (StylePass.Result(), [])
            }
            return (
                pass.review(
                    draft, file: file, mask: mask, ignoredRules: ignoredRules, knownWords: knownWords, memory: memory),
                pass.library.problems.map(\.description)
            )
        } catch {
            return (StylePass.Result(), [explain(error)])
        }
    }

    private static func absolute(_ path: BytePath) -> BytePath {
        path.isAbsolute ? path : BytePath.workingFolder.appending(path)
    }
}
