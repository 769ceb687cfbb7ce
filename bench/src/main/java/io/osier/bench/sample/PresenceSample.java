package io.osier.bench.sample;

import io.osier.proxy.Keyspace;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;

/** Shows who is online, by a set whose elements expire unless the user's device renews them. */
@Command(
    name = "presence",
    mixinStandardHelpOptions = true,
    description = "Who is online, by elements that expire when they are not renewed.")
final class PresenceSample implements Callable<Integer> {
  private static final String ONLINE = "online";
  private static final Duration TIME_TO_LIVE = Duration.ofMillis(1_500);
  private static final long RENEW_MILLIS = 300;

  @Override
  public Integer call() {
    try (TwoDatacenters dcs = new TwoDatacenters("presence { sla = 200ms }", Values.plain());
        ScheduledExecutorService phones = Executors.newScheduledThreadPool(1)) {
      Keyspace eu = dcs.eu().keyspace("presence");
      Keyspace us = dcs.us().keyspace("presence");

      System.out.println("Ada comes in at eu, Bob and Cleo at us");
      ScheduledFuture<?> ada = online(phones, eu, "ada");
      ScheduledFuture<?> bob = online(phones, us, "bob");
      ScheduledFuture<?> cleo = online(phones, us, "cleo");
      for (Keyspace at : List.of(eu, us)) {
        Set<String> all = Set.of("ada", "bob", "cleo");
        TwoDatacenters.until("there are " + all, () -> online(at).equals(all));
      }

      System.out.println("Bob's phone runs out of power, and Cleo logs out");
      bob.cancel(false);
      cleo.cancel(false);
      us.set(ONLINE).remove("cleo");
      for (Keyspace at : List.of(eu, us)) {
        TwoDatacenters.until("Ada is alone", () -> online(at).equals(Set.of("ada")));
      }
      ada.cancel(false);
      TwoDatacenters.until("nobody is there", () -> !us.exists(ONLINE));
      return 0;
    }
  }

  /** Adds a user again and again, each time with the time to live. */
  private static ScheduledFuture<?> online(
      ScheduledExecutorService phones, Keyspace presence, String user) {
    return phones.scheduleWithFixedDelay(
        () -> presence.set(ONLINE).expiring(TIME_TO_LIVE).add(user),
        0,
        RENEW_MILLIS,
        TimeUnit.MILLISECONDS);
  }

  private static Set<String> online(Keyspace presence) {
    return presence.set(ONLINE, String.class).get();
  }
}
