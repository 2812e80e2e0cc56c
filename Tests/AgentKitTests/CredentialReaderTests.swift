import AgentKit
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Reading credentials for the courier") struct CredentialReaderTests {
    @Test("A valid one, a missing one, and one that must not be used")
    func answers() async throws {
        let reader = CredentialReader { name in
            if name == "open" { throw Fault(.failed, "others may read it") }
            return name == "there" ? SecretBytes(lockedWherePossible: "abc".utf8) : nil
        }
        #expect(try await reader.secret("there")?.withBytes { Array($0) } == Array("abc".utf8))
        #expect(try await reader.secret("nowhere") == nil)
        let fault = await #expect(throws: Fault.self) { _ = try await reader.secret("open") }
        #expect(fault?.message == "others may read it")
    }

    @Test("If their folder does not respond, that is reported in time, and few threads are left blocked there")
    func hangs() async throws {
        // Simulates a read call that does not return.
        let isHanging = Atomic<Bool>(true)
        let begun = Atomic<Int>(0)
        let reader = CredentialReader(timeout: 0.01) { _ in
            begun.add(1, ordering: .relaxed)
            while isHanging.load(ordering: .relaxed) { usleep(1_000) }
            return nil
        }
        for _ in 0..<(2 * CredentialReader.most) {
            let fault = await #expect(throws: Fault.self) { _ = try await reader.secret("hub") }
            #expect(fault?.kind == .transient && fault?.code == Fault.hanging)
        }
        #expect(begun.load(ordering: .relaxed) <= CredentialReader.most)
        isHanging.store(false, ordering: .relaxed)
        try await waitUntil("it answers again") {
            do { return try await reader.secret("hub") == nil } catch { return false }
        }
    }
}
