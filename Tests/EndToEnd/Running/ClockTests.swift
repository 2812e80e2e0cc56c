import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Clock changes", .enabled(if: Editor.has("clang"), "clang is wanted"))
struct ClockTests {
    /// Sets a program's calendar clock from a file, but no timers. libfaketime could do this, but Swift programs get no
    /// arguments under it.
    private static let clock = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t clock, struct timespec *time) {
            long result = syscall(SYS_clock_gettime, clock, time);
            if (result != 0 || clock != CLOCK_REALTIME) return (int)result;
            char text[32] = {0};
            int file = open(OFFSET, O_RDONLY | O_CLOEXEC);
            if (file < 0) return 0;
            if (read(file, text, sizeof text - 1) > 0) time->tv_sec += atol(text);
            close(file);
            return 0;
        }
        """

    @Test("A pending retry is not delayed by setting the clock back a day")
    func back() async throws {
        let steward = try AgentFixture(configuration: "notes: { wait-open: 1s }")
        try steward.rule(
            """
            - rule: Noted
              in: dropbox
              settle: 50ms
              do: { append-block: { note: log, text: "<{{ file.text }}>" } }
            """)
        try steward.drop("notes/log.md", "before\n")
        let (wrapper, offset) = try settable(steward)
        try await steward.start(wrapper: wrapper)
        let holder = try FileHolder(steward.path("notes/log.md"), .appending)
        try steward.drop("dropbox/a.txt", "late")
        try await steward.until("the job waits") { try steward.status().waiting.count == 1 }
        // Renamed into place, so the file is never empty.
        let back = try steward.home.write("back", "-86400")
        try #require(rename(back.text, offset.text) == 0)
        try holder.release()
        try await steward.until("it is tried again") { try steward.notes().contains("<late>") }
        try await steward.stop()
    }

    /// A wrapper that runs a program with a settable clock, and the file with the offset in seconds.
    private func settable(_ steward: AgentFixture) throws -> (wrapper: [String], offset: BytePath) {
        let offset = try steward.home.write("offset", "0")
        let source = try steward.home.write("clock.c", Self.clock)
        let library = steward.home.path.appending("clock.so").text
        try steward.home.run(
            ["clang", "-shared", "-fPIC", "-O1", "-DOFFSET=\"\(offset)\"", "-o", library, source.text],
            environment: steward.environment
        ).check()
        return (["/usr/bin/env", "LD_PRELOAD=\(library)"], offset)
    }

    @Test("One start with the clock a hundred days ahead loses no history, and no file that is not old")
    func ahead() async throws {
        let steward = try AgentFixture()
        try steward.rule(
            """
            - rule: Noted
              in: dropbox
              settle: 50ms
              do: [{ append-block: { note: log, text: "<{{ file.text }}>" } }, trash]
            - rule: Old
              in: drafts
              settle: 50ms
              where: { age: "> 30d" }
              do: trash
            """)
        let (wrapper, _) = try settable(steward)
        let copy = steward.home.path.appending(".local/state/steward/ledger.backup.sqlite")
        try await steward.start(wrapper: wrapper)
        for number in 1...3 { try steward.drop(BytePath("dropbox/\(number).txt"), "note \(number)") }
        try steward.drop("drafts/young.txt", "young")
        try steward.wait()
        try await steward.stop()
        let before = try #require(try FileStatus.of(copy)).inode
        try steward.home.write("offset", "8640000")
        try await steward.start(wrapper: wrapper)
        try await steward.until("the ledger is copied and tidied") { try FileStatus.of(copy)?.inode != before }
        try steward.wait()
        #expect(try steward.exists("drafts/young.txt"))
        #expect(try steward.run(["status"]).check().output.contains("held back: the clock went ahead by 100.0 days"))
        let doctor = try steward.run(["doctor"])
        #expect(doctor.status == 2 && doctor.output.contains("!    clock: it says"), "\(doctor.output)")
        try await steward.stop()
        try steward.home.write("offset", "0")
        try await steward.start(wrapper: wrapper)
        #expect(try steward.inLedger("SELECT COUNT(*) FROM job WHERE state = 'done'") == "3")
        #expect(try steward.shell(["sqlite3", copy.text, "SELECT COUNT(*) FROM job"]).check().output == "3\n")
        #expect(try !steward.run(["status"]).check().output.contains("held back"))
        #expect(try steward.run(["doctor"]).output.contains("ok   clock: "))
        let undone = try steward.inLedger("SELECT id FROM job LIMIT 1")
        try steward.run(["undo", undone]).check()
        try await steward.stop()
    }
}
