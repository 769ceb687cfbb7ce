package io.osier.datacenter.cli.command;

import com.typesafe.config.ConfigUtil;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.ConfigReader;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;
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
  private Map<String, String> peers = new TreeMap<>();

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
    if (peers.containsKey(dc)) {
      throw new ParameterException(
          spec.commandLine(), "--peers names the other datacenters; " + dc + " is this one");
    }
    Path to = file == null ? Path.of(dc + ".conf") : file;
    String text = text();
    try {
      ConfigReader.read("the file that would be written", text, Map.of());
      Files.writeString(to, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
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

  private String text() {
    StringBuilder others = new StringBuilder();
    peers.forEach(
        (name, address) ->
            others
                .append("    ")
                .append(ConfigUtil.quoteString(name))
                .append(" = ")
                .append(ConfigUtil.quoteString(address))
                .append('\n'));
    return """
    # The settings of one datacenter; docs/OPERATIONS.md explains them all. Check a changed file with
    #   osier server --config FILE --check
    osier {
      # This datacenter's name; no other process may have it.
      dc = %s

      listen {
        # The address to bind. 0.0.0.0 lets other machines in; it is refused without tls and users.
        host = "127.0.0.1"
        # Where clients connect.
        client-port = 7400
        # Where the other datacenters connect.
        peer-port = 7401
      }

      # The page, metrics (/metrics) and health (/livez, /readyz), over HTTP.
      admin { enabled = true, port = 7402 }

      # The other datacenters, with their peer ports.
      peers {
    %s  }

      # Where the data is kept, below the folder in which the server is started.
      store { dir = %s }

      # An update is visible at every connected datacenter within sla. More keyspaces can be created
      # while all run: osier cli keyspace create NAME sla=500ms
      keyspaces { %s { sla = 2s } }

      # TLS on all ports; osier cert makes certificates for trying it out.
      # tls { certificate = "certs/%s.pem", key = "certs/%s.key", authorities = "certs/authority.pem" }

      # Who may do what; without any, whoever can connect may do everything.
      # users { admin { password-file = "admin.password", rights = ["admin *", "read *", "write *"] } }
    }
    """
        .formatted(dc, others, StarterConfig.DIR, ConfigUtil.quoteString(keyspace), dc, dc);
  }
}
