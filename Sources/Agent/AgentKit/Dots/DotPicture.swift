import Foundation
import Glibc
import Platform

/// Renders a picture of dots as PNG with librsvg's program, in a separate process with limits on time and memory. The
/// picture is our own and contains no text of a capture.
package enum DotPicture {
    /// Pixels per unit of the picture, for sharp results on high-density screens.
    private static let zoom = "2"
    private static let seconds = "30"

    /// - Throws: `Fault(.failed)` if the program is not installed or produces nothing.
    package static func png(_ svg: String) async throws -> [UInt8] {
        try await BlockingPool("dots.png").run {
            let (input, output) = (try Descriptor(inMemory: "the grid"), try Descriptor(inMemory: "the PNG"))
            let errors = try Descriptor(inMemory: "what rsvg-convert says")
            try input.write(Array(svg.utf8), at: 0)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try program("timeout", package: "coreutils"))
            process.arguments = [
                "--signal=KILL", seconds, try program("prlimit", package: "util-linux"), "--as=\(1 << 30)", "--cpu=20",
                "--fsize=\(64 << 20)", "--core=0", "--nofile=256",
                try program("rsvg-convert", package: "librsvg2-bin"), "--format=png", "--zoom=\(zoom)",
            ]
            process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
            process.standardInput = FileHandle(fileDescriptor: input.raw, closeOnDealloc: false)
            process.standardOutput = FileHandle(fileDescriptor: output.raw, closeOnDealloc: false)
            process.standardError = FileHandle(fileDescriptor: errors.raw, closeOnDealloc: false)
            try process.run()
            process.waitUntilExit()
            withExtendedLifetime((input, output, errors)) {}
            let png = try output.readAll(limit: 64 << 20)
            guard process.terminationStatus == 0, PictureFormat.of(png) == .png else {
                let said = String(decoding: try errors.readAll(limit: 4096), as: UTF8.self)
                let reason =
                    said.split(separator: "\n").last.map(String.init) ?? "it ended with \(process.terminationStatus)"
                throw Fault(.failed, "rsvg-convert produced no PNG: \(reason); --svg needs no program")
            }
            return png
        }
    }

    private static func program(_ name: String, package: String) throws -> String {
        let places = ["/usr/bin", "/bin", "/usr/local/bin"].map { "\($0)/\(name)" }
        guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
            throw Fault(
                .failed,
                "no PNG can be made: \(name) is not installed (`apt install \(package)`); --svg needs no program")
        }
        return found
    }
}
