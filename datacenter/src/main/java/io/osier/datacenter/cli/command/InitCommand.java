package io.osier.datacenter.cli.command;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.net.HostPort;
import io.osier.datacenter.access.User;
import io.osier.datacenter.config.ConfigReader;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    description =
        "Writes a commented configuration file for one datacenter of several, which osier server"
            + " --config starts from, and with --tls its certificate and the first user's password."
            + " An existing file is never overwritten.",
    footer = {
      "",
      "Examples:",
      "  osier init --dc eu --peers us=us.example:7401,ap=ap.example:7401",
      "  osier init --dc eu --tls --host eu.example",
      "  osier init --dc us --tls --host us.example --join eu.example",
      "  osier server --config eu.conf"
    })
public final class InitCommand implements Callable<Integer> {
  private static final int CLIENT_PORT = 7_400;
  private static final int PORT_MAX = 65_535;
  private static final List<String> LOOPBACK = List.of("localhost", "127.0.0.1");

  @Option(
      names = "--dc",
      required = true,
      paramLabel = "NAME",
      description = "this datacenter's name, unique in the cluster")
  private String dc;

  @Option(
      names = "--peers",
      split = ",",
      paramLabel = "NAME=HOST:PORT",
      description = "the other datacenters and their peer ports, separated by commas")
  private List<String> peers = new ArrayList<>();

  @Option(
      names = "--join",
      paramLabel = "HOST[:PORT]",
      description =
          "a datacenter of an existing cluster to join, and its client port (default: 7400); it"
              + " tells which other datacenters and keyspaces there are")
  private @Nullable String join;

  @Option(
      names = "--tls",
      description =
          "use TLS and users: creates a certificate authority if there is none, this datacenter's"
              + " certificate, and the first user's password")
  private boolean tls;

  @Option(
      names = "--secrets",
      paramLabel = "DIR",
      description =
          "the folder of the files that --tls reads and creates: authority.pem, authority.key,"
              + " NAME.pem, NAME.key, USER.password (default: secrets, beside the file)")
  private @Nullable Path secretsDir;

  @Option(
      names = "--user",
      paramLabel = "NAME",
      defaultValue = "admin",
      description = "with --tls: the first user, who has all rights (default: ${DEFAULT-VALUE})")
  private String user;

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description =
          "the user's password is the first line of this file (default: USER.password in"
              + " --secrets, or the variable OSIER_PASSWORD; otherwise one is generated, or asked"
              + " for with --join)")
  private @Nullable Path passwordFile;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description =
          "with --tls: the host name or address at which clients and other datacenters reach this"
              + " one; without it only this machine does")
  private @Nullable String host;

  @Option(
      names = "--port",
      defaultValue = "7400",
      paramLabel = "N",
      description =
          "the port for clients (default: ${DEFAULT-VALUE}); the next port is for the other"
              + " datacenters, the one after it for the dashboard")
  private int port;

  @Option(
      names = "--cluster",
      defaultValue = "osier",
      paramLabel = "NAME",
      description =
          "only datacenters of one cluster talk to each other (default: ${DEFAULT-VALUE})")
  private String cluster;

  @Option(
      names = "--keyspace",
      paramLabel = "NAME",
      description = "the first keyspace (default: default, or with --join those of the others)")
  private @Nullable String keyspace;

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "the configuration file to write (default: NAME.conf)")
  private @Nullable Path file;

  @Spec private CommandSpec spec;

  /** For picocli. */
  @SuppressWarnings("NullAway.Init") // picocli sets required options
  public InitCommand() {}

  @Override
  public Integer call() {
    checkOptions();
    Map<String, String> named = peers();
    HostPort joined = join == null ? null : joined(join);
    Path to = file == null ? Path.of(dc + ".conf") : file;
    ClusterSecrets secrets =
        new ClusterSecrets(secretsDir == null ? to.resolveSibling("secrets") : secretsDir);
    try {
      if (Files.exists(to)) {
        throw new FileAlreadyExistsException(to.toString());
      }
      InitText text = new InitText(dc, cluster, port, keyspace).peers(named);
      checkText(text); // before files are made for a wrong configuration
      char[] password = {};
      if (tls) {
        if (!secrets.certify(dc, cluster, hosts(), join != null)) {
          System.out.println(
              "kept "
                  + secrets.certificate(dc)
                  + "; for another --host or --cluster remove it and its key first");
        }
        password = password(secrets);
        text.secure(secrets, host != null, user, CredentialCommand.make(password).line());
      }
      FoundCluster found = joined == null ? null : find(joined, secrets, password);
      Arrays.fill(password, '\0');
      if (found != null) {
        text.joins(found);
      }
      checkText(text);
      Files.writeString(to, text.text(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      made(secrets);
      System.out.println(next(to, secrets, joined));
      return 0;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
    } catch (FileAlreadyExistsException e) {
      System.err.println("error: " + to + " exists already; name another with --file");
    } catch (IOException e) {
      System.err.println("error: " + to + " cannot be written: " + e);
    }
    made(secrets); // the next try uses these files
    return 1;
  }

  private static void made(ClusterSecrets secrets) {
    secrets.made().forEach(made -> System.out.println("made " + made));
  }

  private static void checkText(InitText text) {
    ConfigReader.read("the file that would be written", text.text(), Map.of());
  }

  private void checkOptions() {
    try {
      ReplicaId.checkDcName(dc);
    } catch (IllegalArgumentException e) {
      throw wrong("--dc: " + e.getMessage());
    }
    if (join != null && !peers.isEmpty()) {
      throw wrong("--join asks for what --peers says: give one of them");
    }
    if (join != null && keyspace != null) {
      throw wrong(
          "--keyspace does not go with --join: the newcomer has the keyspaces of the others");
    }
    boolean isUserGiven = spec.commandLine().getParseResult().hasMatchedOption("--user");
    if (!tls && (host != null || secretsDir != null || passwordFile != null || isUserGiven)) {
      throw wrong(
          "--host, --secrets, --user and --password-file need --tls: who is reached by others needs"
              + " TLS and users");
    }
    if (!User.isName(user)) {
      throw wrong(
          "--user must be 1 to 64 of A-Z a-z 0-9 . _ @ -, a letter or digit first, not '"
              + user
              + "'");
    }
    if (host != null && HostPort.host(host).isEmpty()) {
      throw wrong("--host is a name or an address without a port, not '" + host + "'");
    }
    if (port < 1 || port > PORT_MAX - 2) {
      throw wrong("--port must be from 1 to " + (PORT_MAX - 2) + ", not " + port);
    }
  }

  private ParameterException wrong(String what) {
    return new ParameterException(spec.commandLine(), what);
  }

  /** Returns the hosts of the certificate; commands on this machine may use localhost. */
  private List<String> hosts() {
    List<String> all = new ArrayList<>(LOOPBACK);
    if (host != null) {
      HostPort.host(host).filter(h -> !all.contains(h)).ifPresent(all::addFirst);
    }
    return all;
  }

  private char[] password(ClusterSecrets secrets) {
    boolean isThere = Files.exists(secrets.passwordFile(user));
    return passwordFile != null || (!isThere && (UserArguments.isGiven() || join != null))
        ? UserArguments.password("password of " + user + ": ", Optional.ofNullable(passwordFile))
        : secrets.password(user);
  }

  private FoundCluster find(HostPort at, ClusterSecrets secrets, char[] password) {
    OsierClient.Builder builder =
        OsierClient.builder().name("osier init").endpoint(FoundCluster.ENDPOINT, at.toString());
    if (tls) {
      builder
          .tls(
              TlsOptions.DEFAULT
                  .authorities(secrets.authority())
                  .certificate(secrets.certificate(dc), secrets.key(dc)))
          .user(user, password.clone());
    }
    return FoundCluster.ask(dc, at, builder);
  }

  private HostPort joined(String at) {
    return HostPort.parse(at)
        .or(() -> HostPort.host(at).map(h -> new HostPort(h, CLIENT_PORT)))
        .orElseThrow(() -> wrong("--join must be HOST or HOST:PORT, not '" + at + "'"));
  }

  private Map<String, String> peers() {
    Map<String, String> named = new LinkedHashMap<>();
    for (String peer : peers) {
      String[] parts = peer.split("=", 2);
      if (parts.length < 2) {
        throw wrong("--peers must be NAME=HOST:PORT[,...], not '" + peer + "'");
      }
      if (parts[0].equals(dc)) {
        throw wrong("--peers names the other datacenters; " + dc + " is this one");
      }
      if (named.put(parts[0], parts[1]) != null) {
        throw wrong("--peers names " + parts[0] + " twice");
      }
    }
    return named;
  }

  private String next(Path to, ClusterSecrets secrets, @Nullable HostPort joined) {
    String start = "osier server --config " + to;
    if (!tls && joined == null) {
      return "wrote " + to + "; start it with: " + start;
    }
    String login = "";
    if (tls) {
      login = " --authorities " + secrets.authority() + " --user " + user;
      Path file = passwordFile == null ? secrets.passwordFile(user) : passwordFile;
      login += Files.exists(file) ? " --password-file " + file : "";
    }
    String here = host == null ? "localhost" : host;
    String own = new HostPort(here, port).toString();
    List<String> lines = new ArrayList<>(List.of("wrote " + to + "; go on with:"));
    if (joined != null) {
      String address = new HostPort(here, port + 1).toString();
      lines.add("osier cli --connect " + joined + login + " dc add " + dc + ' ' + address);
    }
    lines.add(start);
    lines.add("osier cli --connect " + own + login + " dc list");
    return String.join("\n  ", lines);
  }
}
