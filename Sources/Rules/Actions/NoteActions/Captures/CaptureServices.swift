import Foundation
import Platform

/// What actions on captures act through.
package struct CaptureServices: Sendable {
    let captures: CaptureLibrary
    let files: BlockingLanes
    let timeZone: Zone

    package init(captures: CaptureLibrary, files: BlockingLanes, timeZone: Zone) {
        self.captures = captures
        self.files = files
        self.timeZone = timeZone
    }
}
