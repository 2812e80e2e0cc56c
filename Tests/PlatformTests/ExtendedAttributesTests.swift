import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Extended attributes")
struct ExtendedAttributesTests {
    private let folder: TemporaryFolder
    private let file: Descriptor

    init() throws {
        folder = try TemporaryFolder()
        file = try Descriptor(try folder.write("a", "x"), O_RDWR)
    }

    @Test("A value is set, listed, replaced and removed, byte for byte")
    func life() throws {
        let name = "user.xdg.tags"
        #expect(try ExtendedAttributes.value(name, of: file) == nil)
        try ExtendedAttributes.set(name, [0, 255, 10], on: file)
        #expect(try ExtendedAttributes.value(name, of: file) == [0, 255, 10])
        #expect(try ExtendedAttributes.names(of: file).contains(name))
        try ExtendedAttributes.set(name, [], on: file)
        #expect(try ExtendedAttributes.value(name, of: file) == [])
        try ExtendedAttributes.set(name, nil, on: file)
        #expect(try ExtendedAttributes.value(name, of: file) == nil)
        #expect(throws: Never.self) { try ExtendedAttributes.set(name, nil, on: file) }
    }

    @Test("A name that the kernel rejects causes an error that mentions it")
    func refused() {
        let fault = #expect(throws: Fault.self) { try ExtendedAttributes.set("nonsense", [1], on: file) }
        #expect(fault?.message.contains("nonsense") == true)
    }
}
