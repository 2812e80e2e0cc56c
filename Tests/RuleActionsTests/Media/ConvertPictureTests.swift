import ComicArchive
import ComicTestSupport
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Converting pictures", .enabled(if: hasThumbnails, "libvips42 is not installed"))
struct ConvertPictureTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
    }

    private func made(_ path: BytePath) throws -> ImageHeader? {
        ImageHeader.read(try Descriptor(scene.path(path)).readAll())
    }

    @Test(
        "The converted picture is at the destination, and the original stays",
        arguments: ["jpeg", "png", "webp"])
    func formats(_ format: String) async throws {
        let file = try scene.home.write("dropbox/p.png", Picture.png(40, 60))
        let deed = try await world.run("convert-picture: { to: \(format), place: drafts, folder: new }", on: "p.png")
        let name = format == "jpeg" ? "p.jpg" : "p.\(format)"
        #expect(deed.target == scene.path(BytePath("drafts/new/\(name)")))
        #expect(try made(BytePath("drafts/new/\(name)"))?.format.rawValue == format)
        #expect(try Descriptor(file).readAll() == Picture.png(40, 60))
    }

    @Test("It is shrunk to fit the box, and never enlarged") func size() async throws {
        let old = try #require(ImageHeader.read(Picture.png(40, 60)))
        try scene.home.write("dropbox/p.png", Picture.png(40, 60))
        let half = max(1, old.width / 2)
        _ = try await world.run("convert-picture: { to: png, width: \(half), name: small.png }", on: "p.png")
        #expect(try made("dropbox/small.png")?.width == half)
        _ = try await world.run("convert-picture: { width: 30000, name: large.jpg }", on: "p.png", step: "job.1")
        #expect(try made("dropbox/large.jpg")?.width == old.width)
    }

    @Test("Anything but a picture is refused, and nothing is left") func refused() async throws {
        try scene.home.write("dropbox/p.png", "no picture")
        let fault = await #expect(throws: Fault.self) { try await world.run("convert-picture", on: "p.png") }
        #expect(fault?.kind == .refused, "\(fault?.message ?? "")")
        #expect(try listDirectory(scene.path("dropbox")).count == 1)
    }
}
