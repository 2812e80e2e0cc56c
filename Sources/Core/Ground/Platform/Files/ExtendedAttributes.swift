import CLinux
import Glibc

/// Extended attributes (xattr(7)) of open files. Blocks.
package enum ExtendedAttributes {
    /// All names; empty if the file system has no attributes.
    package static func names(of file: Descriptor) throws -> [String] {
        Blocking.call()
        let size = steward_flistxattr(file.raw, nil, 0)
        if size < 0 && errno == ENOTSUP { return [] }
        guard size >= 0 else { throw Fault.system("list the attributes of", file.path) }
        var buffer = [CChar](repeating: 0, count: size)
        let filled = steward_flistxattr(file.raw, &buffer, UInt(size))
        guard filled >= 0 else { throw Fault.system("list the attributes of", file.path) }
        return buffer.prefix(filled).split(separator: 0).map {
            String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The value; nil if the file has no such attribute.
    package static func value(_ name: String, of file: Descriptor) throws -> [UInt8]? {
        Blocking.call()
        let size = steward_fgetxattr(file.raw, name, nil, 0)
        if size < 0 && (errno == ENODATA || errno == ENOTSUP) { return nil }
        guard size >= 0 else { throw Fault.system("read the attribute \(name) of", file.path) }
        var buffer = [UInt8](repeating: 0, count: size)
        let filled = steward_fgetxattr(file.raw, name, &buffer, UInt(size))
        guard filled >= 0 else { throw Fault.system("read the attribute \(name) of", file.path) }
        return Array(buffer.prefix(filled))
    }

    /// Sets the attribute, or removes it if nil.
    package static func set(_ name: String, _ value: [UInt8]?, on file: Descriptor) throws {
        Blocking.call()
        defer { FaultPoint.reach("attribute set") }
        if let value {
            guard steward_fsetxattr(file.raw, name, value, UInt(value.count)) == 0 else {
                throw Fault.system("set the attribute \(name) of", file.path)
            }
        } else if steward_fremovexattr(file.raw, name) != 0 && errno != ENODATA {
            throw Fault.system("remove the attribute \(name) of", file.path)
        }
    }
}
