import CXml
import Glibc

/// Walks an XML document node by node, without building a tree or loading anything external. Stops at a document type
/// declaration: none of the supported formats needs one, and entities are declared there.
enum XmlText {
    enum Node {
        case start(String)
        case end(String)
        case text(UnsafeBufferPointer<UInt8>)
    }

    enum Ending {
        case complete
        case stopped
        case damaged
        case documentType
    }

    // XML_PARSE_NOERROR, NOWARNING, NONET, COMPACT, IGNORE_ENC; never HUGE, NOENT or DTDLOAD.
    private static let options: Int32 = 1 << 5 | 1 << 6 | 1 << 11 | 1 << 16 | 1 << 21

    /// - Parameters:
    ///   - utf8: the document, or its beginning.
    ///   - take: called for each start, end and text, with names without their prefixes. Stops if it returns false.
    static func walk(_ utf8: [UInt8], _ take: (Node, xmlTextReaderPtr) -> Bool) -> Ending {
        utf8.withUnsafeBytes { bytes -> Ending in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            guard let reader = xmlReaderForMemory(start, Int32(clamping: bytes.count), nil, "UTF-8", options) else {
                return .damaged
            }
            defer { xmlFreeTextReader(reader) }
            while true {
                switch xmlTextReaderRead(reader) {
                case 1: break
                case 0: return .complete
                default: return .damaged
                }
                let goesOn: Bool
                switch xmlTextReaderNodeType(reader) {
                case 1:
                    let found = name(reader)
                    goesOn =
                        take(.start(found), reader)
                        && (xmlTextReaderIsEmptyElement(reader) != 1 || take(.end(found), reader))
                case 15: goesOn = take(.end(name(reader)), reader)
                case 3, 4, 14:
                    guard let value = xmlTextReaderConstValue(reader) else { continue }
                    goesOn = take(.text(UnsafeBufferPointer(start: value, count: Int(xmlStrlen(value)))), reader)
                case 10: return .documentType
                default: goesOn = true
                }
                if !goesOn { return .stopped }
            }
        }
    }

    private static func name(_ reader: xmlTextReaderPtr) -> String {
        xmlTextReaderConstLocalName(reader).map { String(cString: $0) } ?? ""
    }

    /// An attribute of the current element, by its name with prefix.
    static func attribute(_ name: String, _ reader: xmlTextReaderPtr) -> String? {
        guard let value = xmlTextReaderGetAttribute(reader, name) else { return nil }
        defer { free(value) }
        return String(cString: value)
    }

    /// Triggers libxml2's one-time initialization.
    static func warmUp() {
        xmlInitParser()
        _ = walk(Array("<a>b</a>".utf8)) { _, _ in true }
    }
}
