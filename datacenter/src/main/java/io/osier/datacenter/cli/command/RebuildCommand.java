package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.store.files.StoreFiles;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/** Sets a store aside, so that the datacenter fetches its data from its peers. */
@Command(
    name = "rebuild",
    description = {
      "Sets the store of a stopped datacenter aside, for example a damaged one.",
      "",
      "The datacenter then starts as a new incarnation and fetches everything from its "
          + "peers. What only this datacenter had, because no peer could be reached since it "
          + "was written, is in the store that is set aside, and in backups."
    })
public final class RebuildCommand extends StoreOption {
  @Override
  String run(DatacenterConfig config, Path dir) {
    if (config.peers().isEmpty()) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.peers is empty: name there a datacenter of the cluster ('osier cli dc list' has"
              + " its address) that all data is to come from; if there is none, 'osier restore'"
              + " takes a backup");
    }
    Path aside =
        StoreFiles.setAside(dir)
            .orElseThrow(
                () ->
                    new OsierException(
                        ErrorCode.CONFIGURATION,
                        "there is no store in " + dir + ": just start the datacenter"));
    return "the store is now "
        + aside
        + "\nStart the datacenter: it takes a new incarnation and fetches everything from "
        + String.join(", ", config.peers().keySet().stream().sorted().toList())
        + ".";
  }
}
