import Foundation
import Platform

/// What actions on captures act through.
package struct CaptureServices: Sendable {
    let captures: CaptureLibrary
    let files: BlockingPool
    let timeZone: Zone

    package init(captures: CaptureLibrary, files: BlockingPool, timeZone: Zone) {
        self.captures = captures
        self.files = files
        self.timeZone = timeZone
    }
}
