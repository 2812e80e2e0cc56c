import ComicArchive
import Platform
import Rules

/// Converts the picture to another format, quality or size.
struct ConvertPicture: DecidingAction {
    struct Intent: Codable, Sendable, Equatable {
        let placement: FilePlacement
        let format: PictureRequest.Format
        let quality: Int
        let width: Int
        let height: Int

        var wish: PictureRequest { PictureRequest(format: format, quality: quality, width: width, height: height) }
    }

    static let declaration = ActionDeclaration(
        name: "convert-picture",
        summary:
            "Makes another picture of the picture: of another format, shrunk to fit a box, or both. JPEG, PNG, GIF, WebP, "
            + "TIFF and, where libvips knows them, HEIC and AVIF are read, by libvips in a locked-down process. It is turned "
            + "as its orientation says, in sRGB, and without metadata, so that it does not tell where it was taken.",
        guarantee: .exactlyOnce, work: .cpu, canUndo: true,
        parameters: [
            ParameterSpec(
                "to", .choice(PictureRequest.Format.allCases.map(\.rawValue)),
                default: PictureRequest.Format.jpeg.rawValue,
                "the format; in a JPEG transparent parts are white"),
            ParameterSpec(
                "width", .integer(1...ImageHeader.sideLimit), default: String(ImageHeader.sideLimit),
                "the most pixels that it is to be wide; it is never enlarged"),
            ParameterSpec(
                "height", .integer(1...ImageHeader.sideLimit), default: String(ImageHeader.sideLimit),
                "the most pixels that it is to be high"),
            ParameterSpec("quality", .integer(1...100), default: "85", "of a JPEG or WebP, the best being 100"),
            DestinationParameters.place, DestinationParameters.folder,
            ParameterSpec(
                "name", .template, "the picture's name; the file's own with the new ending where it is not given"),
            ParameterSpec(
                "exists", .choice(["rename", "skip", "replace"]), default: "rename",
                "what to do where the name is taken: `rename` takes `name (1).jpg`, `skip` makes nothing, `replace` puts "
                    + "the old one in the trash"),
        ],
        provides: PlacementValues.specs,
        example: "convert-picture: { to: webp, width: 1600, height: 1600, folder: web }")

    private let arguments: Arguments
    private let services: MediaServices

    init(_ arguments: Arguments, _ services: MediaServices) throws {
        try arguments.checkDestination()
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        let format = try arguments.choice("to", as: PictureRequest.Format.self)
        let name =
            try arguments.has("name")
            ? arguments.name(input)
            : Mover.cut(input.file.path.stemAndExtension.stem, 220) + Array(".\(format.ending)".utf8)
        return Intent(
            placement: try await FilePlacement.decide(
                input, root: arguments.root(input), folder: arguments.folder(input), name: name,
                isFixed: arguments.fixedParts(), exists: arguments.choice("exists", as: ExistsPolicy.self),
                pool: services.placing.files),
            format: format, quality: try arguments.int("quality"), width: try arguments.int("width"),
            height: try arguments.int("height"))
    }

    func work(for intent: Intent) -> any Primitive {
        let (services, source) = (services, intent.placement.source)
        return MadeFile(intent.placement, services.placing, on: services.pool, nothing: "made no picture") {
            "made a \(intent.format.rawValue) of \(source): \($0)"
        } make: { file, put in
            switch try services.painter().convert(opened: file, as: intent.wish) {
            case .made(let picture): try put(picture)
            case .failed(let why):
                throw Fault(.refused, "no picture can be made of \(source): \(why)", path: source)
            }
        }
    }

    func summary(of intent: Intent) -> String {
        "make a \(intent.format.rawValue) of \(intent.placement.source): \(intent.placement.destination.target)"
    }
}

extension PictureRequest.Format {
    /// File name extension.
    fileprivate var ending: String { self == .jpeg ? "jpg" : rawValue }
}
