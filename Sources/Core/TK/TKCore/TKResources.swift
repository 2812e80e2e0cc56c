import Foundation
import Glibc
import OwnFiles
import Platform

/// The bundled data files: roles, story types, prompts, models and prices.
///
/// Searched in `STEWARD_TK_RESOURCES`, in `steward_TKCore.resources/Resources` beside the running program, and in
/// `../share/steward/tk` from there. Nothing is cached; all calls block briefly.
package struct TKResources: Sendable {
    package let folder: BytePath

    /// Uses a folder without checks.
    package init(folder: BytePath) { self.folder = folder }

    /// - Parameters:
    ///   - program: the program's own file; by default the running one.
    /// - Throws: `Fault` (`.failed`) that names every folder searched.
    package static func locate(
        environment: [String: String] = ProcessInfo.processInfo.environment, program: BytePath? = nil
    ) throws -> TKResources {
        if let named = environment["STEWARD_TK_RESOURCES"], !named.isEmpty {
            let folder = BytePath(named)
            if holdsData(folder) { return TKResources(folder: folder) }
            throw Fault(
                .usage,
                "STEWARD_TK_RESOURCES names \(folder), which has no folder `roles`; name the folder that holds "
                    + "roles, story-types, prompts and models.json, or unset the variable", path: folder)
        }
        let beside = try (program ?? runningProgram()).parent
        let candidates = [
            beside.appending("steward_TKCore.resources/Resources"), beside.parent.appending("share/steward/tk"),
        ]
        for folder in candidates where holdsData(folder) { return TKResources(folder: folder) }
        throw Fault(
            .failed,
            "the advisors' data files are missing: neither \(candidates[0]) nor \(candidates[1]) is there; "
                + "install the package again, or name their folder in STEWARD_TK_RESOURCES", path: candidates[0])
    }

    /// A data file's bytes, by its path within the folder.
    package func read(_ relative: String) throws -> [UInt8] {
        try Descriptor(folder.appending(relative), follow: true).readAll(limit: 4 << 20)
    }

    /// A text file, without its trailing line break.
    package func text(_ relative: String) throws -> String {
        guard let text = String(validating: try read(relative), as: UTF8.self) else {
            throw Fault(.failed, "\(folder.appending(relative)) is not UTF-8; install the package again")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    /// The paths of a folder's `*.json`, sorted by name.
    package func jsonFiles(in relative: String) throws -> [String] {
        try jsonNames(in: folder.appending(relative)).map { "\(relative)/\($0.nameText)" }
    }

    private static func holdsData(_ folder: BytePath) -> Bool {
        var found = stat()
        return folder.appending("roles").withCString { stat($0, &found) } == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    private static func runningProgram() throws -> BytePath {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { throw Fault.system("find the running program by", "/proc/self/exe") }
        return BytePath(bytes: buffer.prefix(count).map { UInt8(bitPattern: $0) })
    }
}

/// A folder's `*.json`, without hidden and unfinished ones, sorted by name. Blocks.
func jsonNames(in folder: BytePath) throws -> [BytePath] {
    try listDirectory(folder).map { BytePath(bytes: $0.name) }
        .filter { $0.nameText.hasSuffix(".json") && !$0.nameText.hasPrefix(".") }
        .sorted()
}
