import Platform
import TestSupport
import Testing

@Suite("Restrictions on a foreign program with a hostile file") struct RenderCageTests {
    @Test("The file it is given cannot be mapped executable or duplicated to another number; libraries can be mapped")
    func execution() throws {
        let folder = try TemporaryFolder("cage-probe")
        let probe = folder.path.appending("probe").text
        let sources = Checkout.root.appending("Sources/Core/Ground/System/CLinux")
        let command = [
            "-I", sources.appending("include").text, "-o", probe,
            Checkout.root.appending("Tests/Peers/cage_probe.c").text,
            sources.appending("RenderCage.c").text,
        ]
        guard
            let compiler = ["clang", "cc", "gcc"].first(where: { (try? runProgram([$0, "--version"]))?.status == 0 })
        else {
            try Test.cancel("a C compiler is wanted")
        }
        try runProgram([compiler] + command).check()
        let hostile = try folder.write("hostile", String(repeating: "x", count: 4096))
        let said = try runProgram([probe, hostile.text, probe]).check().output
        #expect(said == "read 0\nexecute 1\nprotect 1\nduplicate 22\nlibrary 0\nduplicate-library 0\n")
    }
}
