import Foundation
import Platform

/// The repository that these tests were built from.
package enum Checkout {
    /// Links resolved: the folder may have been mounted or linked.
    package static let root: BytePath = {
        let root = BytePath(#filePath).parent.parent.parent
        return root.real ?? root
    }()
}

/// Programs built beside the tests.
package enum Built {
    /// nil if it was not built.
    package static func program(_ name: String) -> BytePath? {
        let bundles = CommandLine.arguments.compactMap { argument in
            argument.range(of: ".xctest").map { BytePath(String(argument[..<$0.upperBound])).parent }
        }
        let own = BytePath("/proc/self/exe").real?.parent
        let main = BytePath(Bundle.main.bundleURL.path).parent
        return (bundles + [own, main].compactMap { $0 }).map { $0.appending(BytePath(name)) }
            .first { FileManager.default.isExecutableFile(atPath: $0.text) }
    }
}
