package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.PlacementRules.Placement;
import io.osier.proxy.Admin;
import io.osier.proxy.Keyspace;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The holders of a keyspace follow its clients from one of three datacenters to another. */
final class AdaptivePlacementTest {
  private static final String[] NAMES = {"ap", "eu", "us"};
  private static final String KEYSPACES =
      "carts { sla = 50ms, replicas = [eu, us], placement = adaptive }";

  /** A short period; the ways on loopback are worth so much that they are some. */
  private static final String SETTINGS =
      "dir = \"\" }, placement { period = 250ms, horizon = 1h, ms-worth = 10000";

  private static final Pattern HOLDER = Pattern.compile("\"dc\":\"(\\w+)\",\"state\":\"([^\"]+)\"");

  @AutoClose private final Opened open = new Opened();

  private final TestCluster cluster = open.add(new TestCluster(KEYSPACES, SETTINGS, NAMES));
  private int done;

  private static List<String> holders(Admin admin, boolean whole) {
    return HOLDER
        .matcher(admin.listKeyspacesAsync().join())
        .results()
        .filter(h -> !whole || h.group(2).equals("holds"))
        .map(h -> h.group(1))
        .toList();
  }

  /** Clients of one datacenter read and update until it is one of two holders. */
  private void use(String dc) {
    Admin admin = cluster.clientOf(dc).admin();
    Keyspace carts = cluster.clientOf(dc).session().keyspace("carts");
    awaitAll(carts); // of the sessions before this one
    long end = System.nanoTime() + Patience.LIMIT.toNanos();
    while (true) {
      carts.counter("c").increment(1);
      done++;
      assertThat(carts.counter("c").get()).as("the session's own updates").isEqualTo(done);
      List<String> whole = holders(admin, true);
      assertThat(holders(admin, false)).hasSizeBetween(2, 3);
      assertThat(whole).as("those that have all, at each moment").hasSizeGreaterThanOrEqualTo(2);
      if (whole.contains(dc) && holders(admin, false).size() == 2) {
        return;
      }
      LockSupport.parkNanos(5_000_000);
      assertThat(System.nanoTime()).isLessThan(end);
    }
  }

  private void awaitAll(Keyspace carts) {
    await().untilAsserted(() -> assertThat(carts.counter("c").get()).isEqualTo(done));
  }

  @Test
  void holdersFollowTheLoad_andNothingIsLost() {
    use("ap");
    List<String> first = holders(cluster.clientOf("us").admin(), false);
    String other = first.contains("eu") ? "us" : "eu";
    use(other);
    use("ap");
    for (String name : NAMES) {
      awaitAll(cluster.clientOf(name).session().keyspace("carts"));
    }
    Admin admin = cluster.clientOf("ap").admin();
    assertThat(admin.placementAsync().join())
        .contains("\"keyspace\":\"carts\"", "\"placement\":\"adaptive\"", "reads=", "B/s");
    admin.alterKeyspace("carts", k -> k.placement(Placement.PINNED).allow().deny());
    assertThat(admin.placementAsync().join()).contains("it is pinned");
  }
}
