import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Clocks that are set", .enabled(if: Editor.has("clang")))
struct ClockTests {
    /// Sets the calendar's clock of a program by what stands in a file, and no timer. libfaketime would do, but programs in
    /// Swift find no arguments with it.
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

    @Test("What waits for its next try does not wait longer because the clock goes back a day")
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
        let offset = try steward.home.write("offset", "0")
        let source = try steward.home.write("clock.c", Self.clock)
        let library = steward.home.path.appending("clock.so").text
        try steward.home.run(
            ["clang", "-shared", "-fPIC", "-O1", "-DOFFSET=\"\(offset)\"", "-o", library, source.text],
            environment: steward.environment
        ).check()
        try await steward.start(wrapper: ["/usr/bin/env", "LD_PRELOAD=\(library)"])
        let holder = try FileHolder(steward.path("notes/log.md"), .appending)
        try steward.drop("dropbox/a.txt", "late")
        try await steward.until("the job waits") { try steward.status().waiting.count == 1 }
        // Renamed into its place: no moment without a number.
        let back = try steward.home.write("back", "-86400")
        try #require(rename(back.text, offset.text) == 0)
        try holder.release()
        try await steward.until("it is tried again") { try steward.notes().contains("<late>") }
        try await steward.stop()
    }
}
