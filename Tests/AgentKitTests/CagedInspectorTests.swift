import AgentKit
import Foundation
import OwnFiles
import Platform
import Rules
import Sandbox
import TestSupport
import Testing

@Suite("Looking into files for rules") struct CagedInspectorTests {
    @Test("Templates know every field that can be found, and no other")
    func names() {
        let found = Set(ContentField.allCases.map(\.rawValue))
        #expect(Set(BuiltInValues.inside.map(\.name)) == found.union(["document.text"]))
    }

    @Test("A photo's moment is shown as the camera's clock showed it")
    func moment() async throws {
        let folder = try TemporaryFolder("photo")
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let inspector = CagedInspector(program: Built.program("steward-worker"), timeZone: zone)
        let found = try await BlockingLane("photo").run {
            let file = try Descriptor(folder.write("photo.tif", Self.photo))
            return try inspector.inspect(.picture, of: file, mime: "image/tiff", hash: nil)
        }
        #expect(found.written["photo.taken"] == "2026-07-01 10:00:05")
        // The first of July is in summer time.
        #expect(found.values["photo.taken"] == .date(Timestamp(seconds: 1_782_892_805)))
    }

    /// A TIFF that holds nothing but when it was taken.
    private static let photo: [UInt8] = {
        func number(_ value: Int, _ width: Int) -> [UInt8] { (0..<width).map { UInt8(value >> ($0 * 8) & 255) } }
        let head: [UInt8] = [0x49, 0x49, 0x2A, 0]
        let main = number(8, 4) + number(1, 2) + number(0x8769, 2) + number(4, 2) + number(1, 4) + number(26, 4)
        let sub = number(0, 4) + number(1, 2) + number(0x9003, 2) + number(2, 2) + number(20, 4) + number(44, 4)
        return head + main + sub + number(0, 4) + Array("2026:07:01 10:00:05\0".utf8)
    }()
}
