import Glibc
import Platform

/// The external program that renders pages, as far as both sides need to know it.
package enum PageRenderer {
    /// Pixels of a page's longer side while it is examined: a line of small print is a grey one.
    package static let lookedAtSide = 200
}

/// The external program that unpacks solid RARs, as far as both sides need to know it.
package enum SolidUnpacker {
    package static let places: [BytePath] = ["/usr/bin/unar", "/usr/local/bin/unar"]

    /// Whether the program is installed.
    package static var isInstalled: Bool { places.contains { $0.withCString { access($0, X_OK) } == 0 } }
}
