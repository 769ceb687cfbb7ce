package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Value;
import io.osier.core.net.Framing;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import io.osier.proxy.SetHandle;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An object that each datacenter kept within the limits, and that is over them, and over a client's
 * frame, with what the others did at the same time.
 */
final class LargeObjectTest {
  /** All together are more than {@link Framing#CLIENT_FRAME_BYTES_MAX}, and little more. */
  private static final int ELEMENT_BYTES = 11 << 20;

  /** A slow machine takes a large frame for so long that connections are given up meanwhile. */
  private static final Duration LONG = Patience.LIMIT.multipliedBy(4);

  private static final int EACH = 3;

  private static Value element(String dc, int i) {
    byte[] bytes = new byte[ELEMENT_BYTES - 64];
    bytes[0] = (byte) dc.charAt(0);
    bytes[1] = (byte) i;
    return Value.of(bytes);
  }

  private static void add(SetHandle set, String dc) {
    for (int i = 0; i < EACH; i++) {
      set.add(List.of(element(dc, i)));
    }
  }

  @Test
  void objectOverTheLimits_replicates_isReadInPart_andCanBeShrunk(@TempDir Path dir) {
    String keyspaces =
        "shop { sla = 500ms, propagation = state, partitions = 1,"
            + " limits { key = 64B, value = 11MiB, object = 60MiB } }";
    try (TestCluster cluster =
            new TestCluster(
                keyspaces, "dir = \"" + dir + "/\"${osier.dc}", new String[] {"eu", "us"});
        OsierClient client = cluster.client("eu")) {
      SetHandle here = at(client, "eu");
      SetHandle there = at(client, "us");
      cluster.stop("us");
      add(here, "eu");
      cluster.stop("eu");
      cluster.start("us");
      cluster.awaitReady();
      add(there, "us"); // neither has heard of the other's
      cluster.start("eu");
      cluster.awaitReady();

      await().atMost(LONG).until(() -> here.size() == 2 * EACH);
      await().atMost(LONG).until(() -> there.size() == 2 * EACH);
      assertThat(here.contains(element("us", 1))).isTrue();
      refused(ErrorCode.VALUE_TOO_LARGE, () -> here.add(List.of(element("eu", 9))));

      refused(ErrorCode.VALUE_TOO_LARGE, here::get).hasMessageContaining("in part");

      List<Value> left = new ArrayList<>();
      for (int i = 0; i < EACH; i++) {
        here.remove(List.of(element("us", i)));
        left.add(element("eu", i));
      }
      assertThat(here.get()).containsExactlyInAnyOrderElementsOf(left);
      await().atMost(LONG).until(() -> there.size() == EACH);
    }
  }

  private static SetHandle at(OsierClient client, String dc) {
    Session session = client.session();
    session.pin(dc);
    return session.keyspace("shop").set("large");
  }
}
