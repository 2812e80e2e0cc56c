import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// Processes killed between two of their system calls. They are forked one after the other by a process that does
/// nothing else: restarting the test program for each would take far longer than the work itself.
enum CrashKilling {
    /// Left beside the vault by a process that has passed all its points: their number.
    private static let points: BytePath = "points"

    /// How many points `sample` passes in its own scene.
    static func points(_ sample: CrashSample, in scene: StoreScene) async throws -> Int {
        try await kill(sample, in: [(scene, .max)])
        return Int(String(decoding: try Descriptor(scene.path.appending(points)).readAll(), as: UTF8.self)) ?? 0
    }

    /// Performs `sample` in each scene, in a process that is killed at that point.
    static func kill(_ sample: CrashSample, in scenes: [(scene: StoreScene, point: Int)]) async throws {
        let list = scenes.map { "\($0.point) \($0.scene.path.text)" }.joined(separator: "\n")
        await #expect(processExitsWith: .success) { [name = sample.rawValue as String, list = list as String] in
            guard let sample = CrashSample(rawValue: name) else { throw TestFailure("no sample \(name)") }
            try CrashKilling.warmUp()
            for line in list.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 1)
                guard let point = Int(words[0]) else { throw TestFailure("no point in “\(line)”") }
                try CrashKilling.end(sample, BytePath(String(words[1])), killedAt: point)
            }
        }
    }

    /// Initialisation that every child would repeat: the first use of libcrypto and of the runtime's tables. Passes no
    /// point.
    static func warmUp() throws {
        let secrets = try VaultSecrets.generate(for: .random())
        let description = VaultDescription(id: secrets.id)
        _ = try VaultDescription(description.bytes, at: "vault.json")
        let slot = try KeySlot.seal(secrets, .random(), for: StoreScene.credential(), description)
        _ = try slot.open(StoreScene.credential(), description)
        let head = ManifestHead(gen: 1, seq: 0, tag: try SecureRandom.bytes(AESGCM.tagSize))
        let log = LogName(gen: 1, n: 0)
        let cipher = try RecordCipher(secrets.keys, log: log, salt: SecureRandom.bytes(32))
        let record = try cipher.seal(ManifestRecord.follows(log: nil, head).encoded, seq: 1, previous: head.tag)
        _ = try cipher.open(record, at: 0, seq: 1, previous: head.tag)
        _ = try HPKE.seal(
            to: secrets.keyPair.publicKey, info: [], aad: [], ikmE: .random(32), plaintext: secrets.master)
        _ = ContentHash(of: head.tag)
    }

    /// This process has not reached any point yet, so the child reads from its environment where to die.
    static func end(_ sample: CrashSample, _ home: BytePath, killedAt point: Int) throws {
        setenv("STEWARD_FAULT", "*:\(point)", 1)
        let child = fork()
        if child == 0 { perform(sample, home, isCounting: point == .max) }
        var status: Int32 = 0
        guard child > 0, waitpid(child, &status, 0) == child else { throw Fault.system("wait for the child in", home) }
        guard status & 0x7F == (point == .max ? 0 : SIGKILL), status >> 8 == 0 else {
            throw TestFailure("\(sample) at point \(point) ended with the status \(status)")
        }
    }

    private static func perform(_ sample: CrashSample, _ home: BytePath, isCounting: Bool) -> Never {
        // If it hangs, the test should report it.
        alarm(1200)
        do {
            try sample.perform(StoreScene(in: home))
            let count = FaultPoint.reached
            if isCounting { try Durable.replaceOwn(home.appending(points), with: Array(String(count).utf8)) }
        } catch {
            FileHandle.standardError.write(Data("\(sample): \(error)\n".utf8))
            _exit(1)
        }
        if isCounting { _exit(0) }
        // Names are random, and so is whether two objects share a folder: there may be one point fewer than was
        // counted.
        Glibc.kill(getpid(), SIGKILL)
        _exit(1)
    }
}
