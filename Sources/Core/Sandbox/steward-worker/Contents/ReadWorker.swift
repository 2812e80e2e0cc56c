import Glibc
import OwnFiles
import Platform
import Sandbox

/// `steward-worker content`: one file on descriptor 3; records to the pipe on descriptor 4, and nothing else.
///
/// - `document [html]`: its text and metadata.
/// - `picture`: EXIF data and size.
/// - `media`: tags, length and dimensions of audio and video.
/// - `tag NAME=TEXT...`: the file as it would be with these tags.
/// - `entries`: the names of an archive's entries.
/// - `language`: the language of the text.
/// - `pdf text|info`: becomes pdftotext or pdfinfo, in its own cage; their raw output goes to descriptor 4.
/// - `probe open|socket|…`: breaks one rule of the cage, to prove that it holds.
package enum ReadWorker {
    /// Runs one command and exits: 0 when everything was sent, 64 for a malformed command line.
    package static func main(_ arguments: [String]) -> Never {
        WorkerCage.begin("steward-worker")
        let words = Array(arguments.dropFirst())
        guard let command = words.first else { _exit(64) }
        if command == "pdf" { PdfPrograms.become(words.dropFirst().first ?? "") }
        guard let file = HandedFile(descriptor: 3) else { _exit(64) }
        let output = ContentOutput(descriptor: 4)
        WorkerCage.warmUp()
        XmlText.warmUp()
        let language = command == "language" ? LanguagePass() : nil
        do {
            try WorkerCage.enter(
                processorSeconds: ContentLimits.processorSeconds, ceiling: ContentLimits.processorSeconds,
                memory: ContentLimits.memory)
        } catch {
            output.end(.noCage, explain(error))
        }
        do {
            switch command {
            case "document": try DocumentPass.run(file, isHtml: words.contains("html"), output)
            case "picture": try PicturePass.run(file, output)
            case "media": try MediaPass.run(file, output)
            case "tag": TagPass.run(file, words.dropFirst(), output)
            case "entries": try EntriesPass.run(file, output)
            case "language":
                guard let language else {
                    output.end(.notInstalled, "what is known of languages is missing: install libexttextcat-data")
                }
                try language.run(file, output)
            case "probe": CageProbe.run(words.dropFirst().first ?? "")
            default: _exit(64)
            }
        } catch {
            output.end(.unreadable, explain(error))
        }
    }
}

/// PDF through Debian's poppler-utils, which the worker becomes: the library would load forty others at every start.
enum PdfPrograms {
    static func become(_ what: String) -> Never {
        let name: String
        let words: [String]
        switch what {
        case "text":
            name = "pdftotext"
            words = ["-q", "-enc", "UTF-8", ProgramCage.input, "-"]
        case "info":
            name = "pdfinfo"
            words = ["-enc", "UTF-8", ProgramCage.input]
        default: _exit(64)
        }
        do {
            for folder in ["/usr/bin", "/usr/local/bin"] {
                let path = BytePath(folder).appending(name)
                guard let program = try? Descriptor(path, follow: true) else { continue }
                try ProgramCage.become(
                    program, [name] + words, on: .output, processorSeconds: ContentLimits.processorSeconds)
            }
        } catch {
            _exit(ContentStatus.notCaged)
        }
        _exit(ContentStatus.notInstalled)
    }
}
