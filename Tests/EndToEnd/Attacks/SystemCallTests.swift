import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// How the agent accesses a person's files, as the kernel sees it: `strace` of one job of each action.
///
/// A *use* opens, reads or changes; a *look* (stat, access, readlink, statfs, a watch, opening a folder) does not, and
/// its result is a hint. A use below a place is by descriptor: one name in an open folder, or `openat2` with
/// `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`. Looks by path are allowed on the watcher's thread, and for files that
/// have not been opened yet. The places' own roots may be opened by their paths.
@Suite("System calls on files in places")
struct SystemCallTests {
    @Test(
        "After the first opening no action reaches a user's file by its path",
        .enabled(if: geteuid() == 0, "an agent with a vault lets no user look at its open files"))
    func each() async throws {
        let steward = try AgentFixture(configuration: AttackedAction.configuration)
        let folder = steward.home.path.appending("calls")
        try Durable.makeDirectory(folder)
        guard Editor.has("strace"), try steward.shell(["strace", "-o", "/dev/null", "true"]).status == 0 else {
            try Test.cancel("strace is not here, or not permitted")
        }
        try steward.addPlace("out")
        for action in AttackedAction.all {
            try steward.rule("50-\(action.name).yaml", action.rule(settle: "100ms"))
            try steward.folder(BytePath("dropbox/\(action.name)/x"))
        }
        try steward.drop("notes/shared/inbox.md", "Mine.\n")
        try await steward.start(wrapper: SystemCalls.wrapper(folder))
        try steward.wait()
        let files = AttackedAction.all.map { BytePath("\($0.name)/x/\($0.file)") }
        for (action, file) in zip(AttackedAction.all, files) {
            try steward.moveIn(BytePath("dropbox").appending(file), try action.content("A file for \(action)."))
        }
        try steward.wait()
        for (action, file) in zip(AttackedAction.all, files) {
            let states = try steward.past(BytePath("dropbox").appending(file)).map { $0["state"].text }
            #expect(states == [action.outcome], "\(action)")
        }
        try await steward.stop()

        let calls = try SystemCalls(folder)
        let places = (steward.places + ["out"]).map { steward.path(BytePath($0)) }
        let dropped = files.map { steward.path("dropbox").appending($0) }
        for file in dropped {
            #expect(calls.calls.contains { $0.opened == file.text }, "the trace shows that \(file) was opened")
        }
        let uses = calls.uses(below: places)
        #expect(uses.isEmpty, "\(uses.count) uses by path:\n\(uses.joined(separator: "\n"))")
        let looks = calls.looks(at: dropped, below: places)
        #expect(looks.isEmpty, "\(looks.count) looks by path:\n\(looks.joined(separator: "\n"))")
    }
}
