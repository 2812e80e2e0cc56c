import Platform

/// The condition that something is mounted.
extension ConditionSpec {
    static let mountedCondition = ConditionSpec(
        "mounted",
        "Whether a file system is mounted when the file is judged: by the folder that it is mounted on (`/media/backup`), by "
            + "its device (`/dev/sdb1`), or by `label=NAME` or `uuid=ID`. A list: one must be. That it is mounted later is no "
            + "news of the file.",
        example: "mounted: /media/backup", schema: oneOrMoreTexts, takes: .both
    ) { node, context in
        guard let texts = context.texts(node, "mounted") else { return nil }
        var wanted: [MountName] = []
        for (item, text) in zip(context.reader.oneOrMore(node), texts) {
            if let name = MountName(text) {
                wanted.append(name)
            } else {
                context.reader.report(
                    item.position,
                    "`mounted` must be a whole path such as `/media/backup`, or `label=NAME`, not \(context.reader.shown(item))"
                )
            }
        }
        guard wanted.count == texts.count else { return nil }
        return Loaded { [wanted] facts, _ in
            // Throws if the surroundings of the file must not be read, which includes mounts.
            _ = try facts.around()
            let mounts = Mount.all()
            for name in wanted {
                if let mount = name.found(in: mounts) {
                    return Observation(true, seen: "\(mount.source) on \(mount.path)")
                }
            }
            return Observation(false, seen: "not mounted")
        }
    }
}

/// A file system as named in rules.
private enum MountName: Sendable {
    case folder(BytePath)
    case device(BytePath)

    init?(_ text: String) {
        let text = text.trimmedSpaces
        for (word, folder) in [("label=", "by-label"), ("uuid=", "by-uuid")] where text.lowercased().hasPrefix(word) {
            let name = text.dropFirst(word.count)
            // As udev escapes names: anything but a letter, a digit or one of these is `\xHH`.
            let escaped = name.utf8.map { byte -> String in
                let character = Character(Unicode.Scalar(byte))
                let isPlain = byte > 0x7F || character.isLetter || character.isNumber || "#+-.:=@_".contains(character)
                return isPlain ? String(decoding: [byte], as: UTF8.self) : "\\x" + String(byte, radix: 16)
            }
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            self = .device(BytePath("/dev/disk/\(folder)/\(escaped.joined())"))
            return
        }
        let path = BytePath(text)
        guard path.isAbsolute else { return nil }
        self = text.hasPrefix("/dev/") ? .device(path) : .folder(path)
    }

    func found(in mounts: [Mount]) -> Mount? {
        switch self {
        case .folder(let path): return mounts.last { $0.path == path }
        case .device(let path):
            let real = path.real ?? path
            return mounts.last { $0.source == path.text || $0.source == real.text }
        }
    }
}
