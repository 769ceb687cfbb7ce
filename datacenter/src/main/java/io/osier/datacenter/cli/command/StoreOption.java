package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import java.io.File;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The base of commands that work on the store of a stopped datacenter. */
@Command(
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:done", "1:failed; the error is one line on standard error", "2:wrong usage"})
abstract class StoreOption implements Callable<Integer> {
  @Option(
      names = "--config",
      required = true,
      paramLabel = "FILE",
      description = "the datacenter's configuration file")
  private File file;

  /** Runs the command on the store in a directory; returns the text to print. */
  abstract String run(DatacenterConfig config, Path dir);

  @Override
  public final Integer call() {
    try {
      DatacenterConfig config =
          ConfigReader.read(
              file, System.getenv(), warning -> System.err.println("warning: " + warning));
      Path dir =
          config
              .store()
              .dir()
              .orElseThrow(
                  () ->
                      new OsierException(
                          ErrorCode.CONFIGURATION,
                          "osier.store.dir is empty in "
                              + file
                              + ": this datacenter has no store"));
      System.out.println(run(config, dir));
      return 0;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    }
  }
}
