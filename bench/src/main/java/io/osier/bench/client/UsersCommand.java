package io.osier.bench.client;

import com.ongres.scram.client.ScramClient;
import com.ongres.scram.common.exception.ScramException;
import io.osier.bench.cluster.Directories;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.core.Grant;
import io.osier.core.net.Ports;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.security.Decoys;
import io.osier.datacenter.security.ScramLogin;
import io.osier.datacenter.security.User;
import io.osier.datacenter.security.Users;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;

/** What rights and logins cost, and whether the time of a login tells something. */
@Command(
    name = "users",
    mixinStandardHelpOptions = true,
    description = {
      "Measures updates of counters at one datacenter process on loopback, in turns without users",
      "and with a user of 33 rights, of which the last one is needed; and how long a datacenter",
      "takes for a login, by why it is refused: who measures that should learn nothing from it."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class UsersCommand extends Experiment {
  private static final int IN_FLIGHT = 256;
  private static final int OTHER_RIGHTS = 32;
  private static final String WORKLOAD = IN_FLIGHT + " in flight";
  private static final String RATE = "operations/s";
  private static final String LOGINS = "logins";
  private static final String MICROS = "µs at the datacenter";

  /** How a login is wrong. */
  private enum Way {
    RIGHT("right password"),
    UNKNOWN("unknown user"),
    FIRST("proof wrong in its first byte"),
    LAST("proof wrong in its last byte");

    private final String text;

    Way(String text) {
      this.text = text;
    }
  }

  /** For picocli. */
  public UsersCommand() {}

  private static CounterSide side(Path directory, String name, String users)
      throws IOException, InterruptedException {
    int port = Ports.free();
    String config =
        """
        osier {
          dc = %s
          cluster = %s
          listen { client-port = %d, peer-port = %d }
          store { dir = "" }
          keyspaces { %s { sla = 2s } }
          users { %s }
        }
        """
            .formatted(name, name, port, Ports.free(), CounterSide.KEYSPACE, users);
    return new CounterSide(directory, name, List.of(config), port, Optional.empty());
  }

  private static String users() {
    StringBuilder rights = new StringBuilder();
    for (int i = 0; i < OTHER_RIGHTS; i++) {
      rights.append("\"write ").append(CounterSide.KEYSPACE).append(" other").append(i);
      rights.append(":\", ");
    }
    String keyspace = CounterSide.KEYSPACE;
    return "default { rights = ["
        + rights
        + "\"read "
        + keyspace
        + "\", \"write "
        + keyspace
        + "\"] }";
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-users");
    System.out.println("logs in " + directory);
    try (CounterSide without = side(directory, "without", "");
        CounterSide with = side(directory, "with", users())) {
      System.out.println("warming up");
      for (int i = 0; i < 3; i++) {
        without.run(IN_FLIGHT, quick() ? 4 : 10);
        with.run(IN_FLIGHT, quick() ? 4 : 10);
      }
      double seconds = quick() ? 3 : 10;
      for (int round = 1; round <= (quick() ? 3 : 8); round++) {
        double none = rate(results, "without users", without, seconds);
        double some = rate(results, "33 rights", with, seconds);
        System.out.printf(
            Locale.ROOT,
            "without users %,10.0f/s; 33 rights %,10.0f/s (%+.2f %%)%n",
            none,
            some,
            100 * (some / none - 1));
      }
    }
    logins(results);
    System.out.println();
    System.out.println(results.table(WORKLOAD));
    System.out.println(results.table(LOGINS));
    Directories.delete(directory);
  }

  private static double rate(Results results, String alternative, CounterSide side, double seconds)
      throws InterruptedException {
    Duration before = side.cpu();
    Driver.Outcome outcome = side.run(IN_FLIGHT, seconds);
    double cpu =
        side.cpu().minus(before).toNanos() / 1e3 / Math.max(1, outcome.nanos().getTotalCount());
    results.add(WORKLOAD, alternative, RATE, outcome.perSecond());
    results.add(WORKLOAD, alternative, CounterSide.CPU, cpu);
    return outcome.perSecond();
  }

  // ---------------------------------------------------------------- logins

  private void logins(Results results) {
    byte[] salt = new byte[ScramCredential.SALT_BYTES];
    ScramCredential credential =
        ScramCredential.of("pencil".toCharArray(), salt, ScramCredential.ITERATIONS_MIN);
    Users users =
        new Users(
            List.of(
                new User("cart", Optional.of(credential), List.of(Grant.onAll(Grant.Right.READ)))));
    Decoys decoys = new Decoys(new byte[Decoys.SECRET_BYTES]);
    for (int round = 0; round < (quick() ? 3 : 8); round++) {
      Histogram[] nanos = new Histogram[Way.values().length];
      for (Way way : Way.values()) {
        nanos[way.ordinal()] = new Histogram(3);
      }
      // In turns: what the machine does besides is then the same for all.
      for (int i = 0; i < (quick() ? 500 : 2_000); i++) {
        for (Way way : Way.values()) {
          nanos[way.ordinal()].recordValue(login(way, users, decoys));
        }
      }
      for (Way way : Way.values()) {
        double median = nanos[way.ordinal()].getValueAtPercentile(50) / 1e3;
        results.add(LOGINS, way.text, MICROS, median);
        System.out.printf(Locale.ROOT, "%-32s %8.2f µs%n", way.text, median);
      }
    }
  }

  /** How long the datacenter's part of a login takes, in nanoseconds. */
  private static long login(Way way, Users users, Decoys decoys) {
    ScramClient client =
        ScramClient.builder()
            .advertisedMechanisms(List.of(ScramCredential.MECHANISM))
            .username(way == Way.UNKNOWN ? "card" : "cart")
            .password("pencil".toCharArray())
            .build();
    String first = client.clientFirstMessage().toString();
    long start = System.nanoTime();
    ScramLogin login = new ScramLogin(users, decoys, "nonceOfTheDatacenter0000");
    String challenge = login.challenge(first);
    long challenged = System.nanoTime() - start;
    String last;
    try {
      client.serverFirstMessage(challenge);
      last = client.clientFinalMessage().toString();
    } catch (ScramException e) {
      throw new IllegalStateException(e);
    }
    String sent = changed(way, last);
    start = System.nanoTime();
    ScramLogin.Verdict verdict = login.verdict(sent);
    long nanos = challenged + System.nanoTime() - start;
    if (verdict instanceof ScramLogin.Verdict.Accepted != (way == Way.RIGHT)) {
      throw new IllegalStateException(way + " ends with " + verdict);
    }
    return nanos;
  }

  private static String changed(Way way, String last) {
    int at = last.indexOf(",p=") + 3;
    byte[] proof = Base64.getDecoder().decode(last.substring(at));
    switch (way) {
      case FIRST -> proof[0]++;
      case LAST -> proof[proof.length - 1]++;
      default -> {}
    }
    return last.substring(0, at) + Base64.getEncoder().encodeToString(proof);
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("users-rate", "What rights cost", RATE);
  }
}
