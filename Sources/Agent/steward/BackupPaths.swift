import AgentKit
import ArgumentParser
import ComicVault
import Foundation
import Platform
import Rules
import TKCommands

/// Command-line handling shared by both commands.
enum BackupPaths {
    /// `tk`'s folder; nil if it cannot be determined.
    static var drafts: BytePath? { BackupStore.drafts(ProcessInfo.processInfo.environment) }

    static func show(_ progress: BackupProgress, on meter: ProgressMeter) {
        switch progress {
        case .file(let path, _): meter.show(0, of: 0, path.text)
        case .database(let path, let done, let total): meter.show(Int64(done), of: Int64(total), path.text)
        }
    }
}
