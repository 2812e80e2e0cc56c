import Glibc
import Platform

/// The program of others that draws pages, as far as both sides have to know of it.
package enum PageRenderer {
    /// Pixels of a page's longer side while it is looked at: a line of small print is a grey one.
    package static let lookedAtSide = 200
}

/// The program of others that unpacks solid RARs, as far as both sides have to know of it.
package enum SolidUnpacker {
    package static let places: [BytePath] = ["/usr/bin/unar", "/usr/local/bin/unar"]

    /// Whether there is such a program.
    package static var isInstalled: Bool { places.contains { $0.withCString { access($0, X_OK) } == 0 } }
}
