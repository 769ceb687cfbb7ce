package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.store.files.StoreComparison;
import io.osier.datacenter.store.files.StoreFiles;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Verifies the store of a stopped datacenter. */
@Command(
    name = "verify",
    description = {
      "Reads the whole store of a stopped datacenter, compares all checksums and says "
          + "what is damaged. A running datacenter compares the checksums of what it reads.",
      "",
      "With another store, of a copy of this datacenter or of another one, it also says "
          + "whether numbers of updates were given twice, as two copies that have both run "
          + "give them."
    })
public final class VerifyCommand extends StoreOption {
  @Option(
      names = "--with",
      paramLabel = "DIR",
      description = "another stopped store to compare with: the directory in which its 'db' is")
  private @Nullable Path with;

  @Override
  String run(DatacenterConfig config, Path dir) {
    StoreFiles.Verified found = StoreFiles.verify(dir);
    if (with != null) {
      StoreFiles.verify(with);
      List<String> wrong = StoreComparison.compare(dir, with);
      if (!wrong.isEmpty()) {
        throw new OsierException(ErrorCode.STORE_DAMAGED, String.join("; ", wrong));
      }
    }
    return "%s: %,d bytes, every checksum is right%s"
        .formatted(
            dir,
            found.bytes(),
            found.logEndsEarly()
                ? "; the log ends within a record, as a crash in the middle of a write leaves it"
                : "");
  }
}
