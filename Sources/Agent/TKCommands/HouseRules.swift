import OwnFiles
import Platform
import Synchronization
import TKCore

/// The styles of the projects that drafts belong to (docs/tk.md, "House rules"). Everything here blocks.
final class HouseRules: Sendable {
    private let styles: ProjectStyles
    private let spelling: Spelling?
    private let named: BytePath?
    private let told = Mutex<Set<String>>([])

    /// - Parameter named: the `.vale.ini` to use for all drafts.
    /// - Throws: `Fault` if that cannot be read.
    init(_ quick: QuickPass, named: PathArgument? = nil) throws {
        styles = ProjectStyles(quick: quick)
        spelling = quick.spelling
        self.named = named.map { Self.absolute($0.path) }
        if let path = self.named { _ = try styles.pass(settings: path) }
    }

    /// The findings, and the project's problems: a `.vale.ini` that cannot be read, and rules that cannot be used.
    ///
    /// - Parameter path: the draft's; nil for one without a file, which belongs to the working folder.
    func review(
        _ draft: DraftText, _ path: BytePath?, ignoredRules: Set<String>, knownWords: Set<String>
    ) -> (found: StylePass.Result, problems: [String]) {
        let file = Self.absolute(path ?? "draft.md")
        do {
            guard let (pass, _) = try named.map({ try styles.pass(settings: $0) }) ?? styles.pass(for: file) else {
                return (StylePass.Result(), [])
            }
            var found = pass.review(draft, file: file, ignoredRules: ignoredRules, knownWords: knownWords)
            found.notices += spelling?.takeNotices() ?? []
            return (found, pass.library.problems.map(\.description))
        } catch {
            return (StylePass.Result(), [explain(error)])
        }
    }

    /// Those that this has not returned before.
    func news(_ texts: [String]) -> [String] { told.withLock { told in texts.filter { told.insert($0).inserted } } }

    private static func absolute(_ path: BytePath) -> BytePath {
        path.isAbsolute ? path : BytePath.workingFolder.appending(path)
    }
}
