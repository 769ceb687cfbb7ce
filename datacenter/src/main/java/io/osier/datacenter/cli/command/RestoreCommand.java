package io.osier.datacenter.cli.command;

import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.store.files.StoreFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Replaces a store by a backup. */
@Command(
    name = "restore",
    description = {
      "Replaces the store of a stopped datacenter by a backup of it.",
      "",
      "The backup's checksums are compared first. The store that was there is set aside, "
          + "not deleted. The datacenter then starts as a new incarnation and gets from its "
          + "peers what they have and the backup has not."
    })
public final class RestoreCommand extends StoreOption {
  @Parameters(
      paramLabel = "BACKUP",
      description = "the name of a backup beside the store, or a path to one")
  private String backup;

  private static final String ALONE =
      "\nBefore that name others of the cluster under osier.peers, which is empty, if any was added"
          + " since the backup: else this datacenter knows only those that the backup knows,"
          + " refuses the others, and serves without what they have.";

  @Override
  String run(DatacenterConfig config, Path dir) {
    Path named = dir.resolve("backups").resolve(backup);
    Path from = Files.isDirectory(named) ? named : Path.of(backup);
    Optional<Path> former = StoreFiles.restore(dir, from, config.cluster(), config.dc());
    return "restored "
        + from
        + " into "
        + dir
        + former.map(f -> "; the former store is now " + f).orElse("")
        + "\nStart the datacenter: it takes a new incarnation."
        + (config.peers().isEmpty() ? ALONE : "");
  }
}
