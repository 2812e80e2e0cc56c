import Foundation
import Platform

/// Dependencies of the capture actions.
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
