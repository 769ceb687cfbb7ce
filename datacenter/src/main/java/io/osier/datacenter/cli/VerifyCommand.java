package io.osier.datacenter.cli;

import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.store.StoreFiles;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/** Looks for damage. */
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    description = {
      "Reads the whole store of a stopped datacenter, compares all checksums and says what is",
      "damaged. A running datacenter compares the checksums of what it reads."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:done", "1:failed; the error is one line on standard error", "2:wrong usage"})
public final class VerifyCommand extends StoreOption {
  /** For picocli. */
  public VerifyCommand() {}

  @Override
  String run(DatacenterConfig config, Path dir) {
    StoreFiles.Verified found = StoreFiles.verify(dir);
    return "%s: %,d bytes, every checksum is right%s"
        .formatted(
            dir,
            found.bytes(),
            found.logEndsEarly()
                ? "; the log ends within a record, as a crash in the middle of a write leaves it"
                : "");
  }
}
