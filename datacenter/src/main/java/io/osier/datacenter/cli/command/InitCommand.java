package io.osier.datacenter.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.typesafe.config.ConfigUtil;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.ConfigReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Writes a datacenter's first configuration file. */
@Command(
    name = "init",
    mixinStandardHelpOptions = true,
    description = {
      "Writes a commented configuration file for one datacenter of several, which osier server",
      "--config starts from. An existing file is never overwritten."
    },
    footer = {
      "",
      "Examples:",
      "  osier init --dc eu --peers us=us.example:7401,ap=ap.example:7401",
      "  osier server --config eu.conf"
    })
public final class InitCommand implements Callable<Integer> {
  private static final String EXAMPLE = "/osier-example.conf";

  /** What it has in the place of the peers. */
  private static final String PEERS =
      """
          # us = "us.example:7401"
          # ap = "ap.example:7401"
      """;

  @Option(
      names = "--dc",
      required = true,
      paramLabel = "NAME",
      description = "this datacenter's name; no other may have it")
  private String dc;

  @Option(
      names = "--peers",
      split = ",",
      paramLabel = "NAME=HOST:PORT",
      description = "the other datacenters with their peer ports, separated by commas")
  private List<String> peers = new ArrayList<>();

  @Option(
      names = "--keyspace",
      defaultValue = "default",
      paramLabel = "NAME",
      description = "the first keyspace (default: ${DEFAULT-VALUE})")
  private String keyspace;

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "where to write it (default: NAME.conf)")
  private @Nullable Path file;

  @Spec private CommandSpec spec;

  /** For picocli. */
  @SuppressWarnings("NullAway.Init") // picocli sets what is required
  public InitCommand() {}

  @Override
  public Integer call() {
    try {
      ReplicaId.checkDcName(dc);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--dc: " + e.getMessage());
    }
    Path to = file == null ? Path.of(dc + ".conf") : file;
    try {
      String text = text();
      ConfigReader.read("the file that would be written", text, Map.of());
      Files.writeString(to, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    } catch (FileAlreadyExistsException e) {
      System.err.println("error: " + to + " exists already; name another with --file");
      return 1;
    } catch (IOException e) {
      System.err.println("error: " + to + " cannot be written: " + e);
      return 1;
    }
    System.out.println("wrote " + to + "; start it with: osier server --config " + to);
    return 0;
  }

  /** The distribution's example, which reads as it is, with what was given in its places. */
  private String text() throws IOException {
    StringBuilder others = new StringBuilder();
    for (String peer : peers) {
      String[] parts = peer.split("=", 2);
      if (parts.length < 2) {
        throw new ParameterException(
            spec.commandLine(), "--peers must be NAME=HOST:PORT[,...], not '" + peer + "'");
      }
      if (parts[0].equals(dc)) {
        throw new ParameterException(
            spec.commandLine(), "--peers names the other datacenters; " + dc + " is this one");
      }
      others
          .append("    ")
          .append(ConfigUtil.quoteString(parts[0]))
          .append(" = ")
          .append(ConfigUtil.quoteString(parts[1]))
          .append('\n');
    }
    try (InputStream in = requireNonNull(InitCommand.class.getResourceAsStream(EXAMPLE))) {
      String text =
          new String(in.readAllBytes(), UTF_8)
              .replace("dc = eu\n", "dc = " + dc + '\n')
              .replace("/etc/osier/eu.", "/etc/osier/" + dc + '.')
              .replace("shop { sla", ConfigUtil.quoteString(keyspace) + " { sla");
      return peers.isEmpty() ? text : text.replace(PEERS, others);
    }
  }
}
