import Platform

/// Says what a deposit's archive is and what belongs beside it in the vault. Whoever knows the public key has made it:
/// it is as hostile as any file from outside.
package protocol DepositJudge: Sendable {
    /// Blocks for as long as it takes to read the archive.
    ///
    /// - Parameter deposit: no part of it may be written to a disk. Of what the depositor says of it nothing is believed.
    /// - Throws: `Fault(.refused)` for what is no comic; what reading the deposit throws.
    func judge(_ deposit: DropContent) throws -> DropVerdict
}
