import Platform
import Synchronization

/// The styles of projects: compiled when the first draft needs them, and again when their files have changed.
package final class ProjectStyles: Sendable {
    private let quick: QuickPass
    /// By their settings.
    private let known = Mutex<[BytePath: StylePass]>([:])

    /// The number of projects that are kept.
    private static let most = 16

    /// - Parameter quick: see ``StylePass/init(_:quick:checker:)``.
    package init(quick: QuickPass) { self.quick = quick }

    /// The styles of the nearest `.vale.ini`; nil if there is none. Blocks.
    ///
    /// - Parameter draft: an absolute path.
    /// - Returns: the pass, and whether it is new, so that its ``StyleLibrary/problems`` should be told.
    /// - Throws: `Fault` if the settings cannot be read.
    package func pass(for draft: BytePath, _ reader: ProjectReader = .paths) throws -> (pass: StylePass, isNew: Bool)? {
        try StyleLibrary.settings(for: draft, reader).map { try pass(settings: $0, reader) }
    }

    /// The styles that a `.vale.ini` names; see ``pass(for:_:)``.
    package func pass(
        settings: BytePath, _ reader: ProjectReader = .paths
    ) throws -> (pass: StylePass, isNew: Bool) {
        try known.withLock { known in
            if let pass = known[settings], try pass.library.isCurrent(reader) { return (pass, false) }
            let pass = StylePass(try StyleLibrary(settings: settings, reader), quick: quick)
            if known.count >= Self.most { known = [:] }
            known[settings] = pass
            return (pass, true)
        }
    }
}
