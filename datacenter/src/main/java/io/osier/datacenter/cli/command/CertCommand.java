package io.osier.datacenter.cli.command;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.tls.TlsName;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes certificates for trying out TLS. */
@Command(
    name = "cert",
    mixinStandardHelpOptions = true,
    description =
        "Makes certificates and keys, as files in PEM form: an authority, and what it "
            + "signs for datacenters and clients. For trying out, and for those who have no "
            + "authority of their own.",
    subcommands = {
      CertCommand.Authority.class,
      CertCommand.Datacenter.class,
      CertCommand.Client.class,
      CertCommand.User.class
    },
    footer = {
      "",
      "Examples:",
      "  osier cert authority --dir certs",
      "  osier cert dc eu --dir certs --host eu.example --host 10.0.0.1",
      "  osier cert client cart-service --dir certs",
      "  osier cert user cart --dir certs"
    })
public final class CertCommand implements Callable<Integer> {
  private CommandSpec spec;

  @Spec
  void specify(CommandSpec ofThis) {
    spec = ofThis;
  }

  @Override
  public Integer call() {
    throw new ParameterException(
        spec.commandLine(), "a subcommand is missing: osier cert authority, dc, client or user");
  }

  /** The options that all these commands share. */
  abstract static class Making implements Callable<Integer> {
    @Option(
        names = "--dir",
        defaultValue = "certs",
        paramLabel = "DIR",
        description = "where the files are (default: ${DEFAULT-VALUE})")
    Path dir;

    @Option(
        names = "--cluster",
        defaultValue = "osier",
        paramLabel = "NAME",
        description = "the cluster's name, osier.cluster (default: ${DEFAULT-VALUE})")
    String cluster;

    @Option(
        names = "--days",
        paramLabel = "N",
        description = "how long it is valid (default: ten years for an authority, else one)")
    Integer days;

    @Spec CommandSpec spec;

    int days(int usual) {
      if (days == null) {
        return usual;
      }
      if (days < 1 || days > 36_500) {
        throw new ParameterException(
            spec.commandLine(), "--days must be from 1 to 36500, not " + days);
      }
      return days;
    }

    abstract List<Path> make();

    @Override
    public Integer call() {
      try {
        List<Path> made = make();
        System.out.println(
            "made " + String.join(" and ", made.stream().map(Path::toString).toList()));
        return 0;
      } catch (OsierException e) {
        System.err.println("error " + e.code() + ": " + e.reason());
        return 1;
      }
    }
  }

  @Command(
      name = "authority",
      mixinStandardHelpOptions = true,
      description =
          "Makes an authority: authority.pem, which everybody may have, and authority.key, "
              + "which signs and must stay where it is safe.")
  static final class Authority extends Making {
    @Override
    List<Path> make() {
      return CertificateMaker.authority(dir, cluster, days(3_650));
    }
  }

  abstract static class Signed extends Making {
    @Parameters(paramLabel = "NAME", description = "the name of the datacenter or user")
    String name;

    @Option(
        names = "--host",
        paramLabel = "HOST",
        description = "a host name or address that clients dial; may be given several times")
    List<String> hosts = new ArrayList<>();
  }

  @Command(
      name = "dc",
      mixinStandardHelpOptions = true,
      description = "Makes a datacenter's certificate and key: NAME.pem and NAME.key.")
  static final class Datacenter extends Signed {
    @Override
    List<Path> make() {
      try {
        ReplicaId.checkDcName(name);
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), e.getMessage());
      }
      List<String> all = hosts.isEmpty() ? List.of("localhost", "127.0.0.1") : hosts;
      return CertificateMaker.signed(
          dir, name, TlsName.ofDatacenter(cluster, name), all, days(365));
    }
  }

  @Command(
      name = "client",
      mixinStandardHelpOptions = true,
      description = "Makes a client's certificate and key: NAME.pem and NAME.key.")
  static final class Client extends Signed {
    @Override
    List<Path> make() {
      return CertificateMaker.signed(dir, name, TlsName.ofClient(cluster, name), hosts, days(365));
    }
  }

  @Command(
      name = "user",
      mixinStandardHelpOptions = true,
      description =
          "Makes a user's certificate and key: NAME.pem and NAME.key. Who has them is logged "
              + "in as the user without a password, where osier.tls.client-certificates is true or "
              + "optional.")
  static final class User extends Signed {
    @Override
    List<Path> make() {
      return CertificateMaker.signed(dir, name, TlsName.ofUser(cluster, name), hosts, days(365));
    }
  }
}
