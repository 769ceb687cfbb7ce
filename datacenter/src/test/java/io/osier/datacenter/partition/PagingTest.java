package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a datacenter asks another for comes in pages, one after the other. */
final class PagingTest {
  private static final int OBJECTS = 60;
  private static final int VALUE_BYTES = 20_000;
  private static final int FRAME_BYTES = 64 << 10;

  private static Cluster three() {
    KeyspacePolicy policy =
        KeyspacePolicy.session("k", Duration.ofSeconds(1)).with(KeyspacePolicy.Propagation.OP);
    StreamSettings streams = new StreamSettings(8 << 20, FRAME_BYTES, 1_000, 200, 1_000, 10_000);
    return new Cluster(policy, streams, "eu", "us", "ap");
  }

  private static void addToAll(Cluster cluster, String dc, String element) {
    for (int i = 0; i < OBJECTS; i++) {
      Operation add = new Operation.Add(Value.of(element.repeat(VALUE_BYTES)));
      cluster.dc(dc).write("set" + i, CrdtType.AW_SET, add);
    }
  }

  /** All states that were fetched at one time came in one frame, however large. */
  @Test
  void fetch_ofManyLargeObjects_isAnsweredInPages() {
    Cluster cluster = three();
    cluster.loss = (link, frame) -> link.equals("us>ap") && frame instanceof Frame.Updates;
    addToAll(cluster, "us", "a");
    cluster.run(200);
    addToAll(cluster, "eu", "b"); // builds on what ap does not have
    cluster.largestFrame = 0;
    int[] fetched = {0};
    cluster.loss =
        (link, frame) -> {
          if (link.equals("ap>eu") && frame instanceof Frame.Fetch f) {
            fetched[0] += f.objects().size();
          }
          return link.equals("us>ap") && frame instanceof Frame.Updates;
        };
    cluster.run(6_000);

    assertThat(fetched[0]).isGreaterThanOrEqualTo(OBJECTS);
    assertThat(cluster.dc("ap").store.size()).isEqualTo(OBJECTS);
    assertThat(cluster.contents().get("ap")).isEqualTo(cluster.contents().get("eu"));
    assertThat(cluster.largestFrame).isLessThan(FRAME_BYTES + 3 * VALUE_BYTES);
  }

  /** Each repeated request began another chain of pages beside the one under way. */
  @Test
  void heal_overASlowLink_isOneChainOfPages() {
    Cluster cluster = three();
    addToAll(cluster, "us", "a");
    cluster.run(1_000);
    cluster.cut("us", "ap");
    cluster.run(3_000);
    cluster.delayMillis = 2_500;
    addToAll(cluster, "us", "b");
    int[] healed = {0};
    cluster.loss =
        (link, frame) -> {
          if (link.equals("eu>ap") && frame instanceof Frame.States s) {
            healed[0] += s.shipments().size();
          }
          return false;
        };
    cluster.run(240_000);

    assertThat(Objects.equals(cluster.contents().get("ap"), cluster.contents().get("us")))
        .isTrue(); // else it prints all
    // The first page is asked for again and again until it is known how long an answer takes.
    assertThat(healed[0]).isBetween(OBJECTS, OBJECTS * 3 / 2);
  }
}
