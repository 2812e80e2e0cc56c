import Foundation
import Platform
import Testing

@Suite("The program's memory pages")
struct ProgramPagesTests {
    @Test("Pages released while running are read from the file again")
    func letGo() async {
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<64 { group.addTask { String(repeating: "x", count: number).utf8.count } }
            for _ in 0..<8 { #expect(ProgramPages.letGo()) }
            let sum = await group.reduce(0, +)
            #expect(sum == 64 * 63 / 2)
        }
    }
}
