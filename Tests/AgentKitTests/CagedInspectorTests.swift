import AgentKit
import Foundation
import OwnFiles
import Platform
import Rules
import Sandbox
import TestSupport
import Testing

@Suite("Inspecting files for rules") struct CagedInspectorTests {
    @Test("Templates know every field that can be found, and no others")
    func names() {
        let found = Set(ContentField.allCases.map(\.rawValue))
        #expect(Set(BuiltInValues.inside.map(\.name)) == found.union(["document.text"]))
    }

    @Test(
        "A photo's moment is shown in the camera's local time",
        arguments: [
            // The first of July is in summer time; on 29 March the clocks go from two to three, on 25 October back.
            ("2026-07-01 10:00:05", 7_200), ("2026-03-29 02:30:05", 3_600), ("2026-10-25 02:30:05", 7_200),
        ])
    func moment(_ text: String, _ offset: Int) async throws {
        let folder = try TemporaryFolder("photo")
        let zone = try #require(Zone(identifier: "Europe/Berlin"))
        let inspector = CagedInspector(program: Built.program("steward-worker"), timeZone: zone)
        let found = try await BlockingPool("photo").run {
            let file = try Descriptor(folder.write("photo.tif", Self.photo(text)))
            return try inspector.inspect(.picture, of: file, mime: "image/tiff", hash: nil)
        }
        #expect(found.written["photo.taken"] == text)
        let civil = try #require(CivilDateTime(text))
        #expect(found.values["photo.taken"] == .local(LocalTime(civil, offset: offset)))
        let template = try Template("{{ photo.taken | date: '%F %T' }}")
        #expect(try template.rendered(TemplateContext(values: found.values, timeZone: zone)) == text)
    }

    /// A TIFF that contains only its capture time.
    private static func photo(_ taken: String) -> [UInt8] {
        func number(_ value: Int, _ width: Int) -> [UInt8] { (0..<width).map { UInt8(value >> ($0 * 8) & 255) } }
        let head: [UInt8] = [0x49, 0x49, 0x2A, 0]
        let main = number(8, 4) + number(1, 2) + number(0x8769, 2) + number(4, 2) + number(1, 4) + number(26, 4)
        let sub = number(0, 4) + number(1, 2) + number(0x9003, 2) + number(2, 2) + number(20, 4) + number(44, 4)
        return head + main + sub + number(0, 4)
            + Array("\(taken.prefix(10).replacing("-", with: ":"))\(taken.dropFirst(10))\0".utf8)
    }
}
