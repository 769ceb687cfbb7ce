package io.osier.propagation.net;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Datacenters whose programs speak different versions, and are upgraded. */
final class PeerVersionsTest extends PeersFixture {
  /** Programs of different versions also send each other keyspaces. */
  @Test
  void formerVersion_isSpokenWithWhoRefusesTheNewest_andTheNewestOnceItIsUpgraded() {
    PeerTransport eu = dialling(EU, "us");
    PeerTransport former = former(US, "eu");
    world.run(4 * Dialler.DOUBT_MILLIS);
    assertThat(heardAt(EU).all()).as("it is up all the time").containsExactly("up us/200");
    assertThat(heardAt(US).all()).containsExactly("up eu/100");
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.OLDEST));
    assertThat(eu.version("us")).isEqualTo(PeerVersions.OLDEST);
    policies.put("eu", List.of("shop{partitions=2}", "more{partitions=1}"));
    policies.put("us", List.of("shop{partitions=2}", "more{partitions=1}"));
    eu.keyspacesChanged();
    former.keyspacesChanged();
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up us/200 [more]");
    assertThat(heardAt(US).all()).containsExactly("up eu/100 [more]");
    former.close();
    world.run(LONG_MILLIS);
    assertThat(eu.spoken()).isEmpty();
    heardAt(EU).all();
    dialling(US, "eu");
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up us/200 [shop, more]");
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
    assertThat(eu.version("us")).isEqualTo(PeerVersions.NEWEST);
  }

  @Test
  void whatIsSaid_isCompressed_whereBothAreNew_andUnlessNoneIsToBe() {
    PeerTransport eu = dialling(EU, "us", "ap");
    former(US, "eu");
    PeerTransport ap = dialling(AP, "eu");
    world.run(LONG_MILLIS);
    assertThat(savedBySaying(eu, US)).isZero();
    assertThat(savedBySaying(eu, AP)).isPositive();
    eu.compress(0);
    ap.close();
    world.run(LONG_MILLIS);
    dialling(AP, "eu");
    world.run(LONG_MILLIS);
    assertThat(savedBySaying(eu, AP)).isZero();
  }

  private long savedBySaying(PeerTransport from, ReplicaId to) {
    LinkTraffic traffic = requireNonNull(from.traffic().get(to.dc()));
    long before = traffic.savedBytes();
    heardAt(to).all();
    for (int i = 1; i <= 100; i++) {
      // larger than blocks that are not compressed
      from.send(to, "shop", 0, new Frame.Ack(1L << 60, i));
    }
    world.run(LONG_MILLIS);
    assertThat(heardAt(to).all())
        .isEqualTo(IntStream.rangeClosed(1, 100).mapToObj(i -> "shop/0 " + i).toList());
    return traffic.savedBytes() - before;
  }

  /** Former programs do not know clients' messages. */
  @Test
  void message_isSentOnceBothAreNew_andNotToAFormerProgram() {
    PeerTransport eu = dialling(EU, "us");
    assertThat(eu.message("us", new byte[8])).as("nobody is there").isFalse();
    PeerTransport former = former(US, "eu");
    world.run(LONG_MILLIS);
    heardAt(US).all();
    heardAt(EU).all();
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.OLDEST));
    assertThat(eu.message("us", new byte[8])).isFalse();
    assertThat(former.message("eu", new byte[8])).as("it would not know it either").isFalse();
    eu.note("us", new byte[7]);
    world.run(LONG_MILLIS);
    assertThat(heardAt(US).all()).containsExactly("note of eu/100: 7 bytes");
    assertThat(heardAt(EU).all()).isEmpty();
    former.close();
    world.run(LONG_MILLIS);
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    heardAt(US).all();
    heardAt(EU).all();
    assertThat(eu.message("us", new byte[8])).isTrue();
    assertThat(us.message("eu", new byte[9])).isTrue();
    assertThat(eu.message("nobody", new byte[9])).isFalse();
    world.run(LONG_MILLIS);
    assertThat(heardAt(US).all()).containsExactly("note of eu/100: 8 bytes");
    assertThat(heardAt(EU).all()).containsExactly("note of us/200: 9 bytes");
  }

  /** A forwarder led to the former program at the first dial, and to the new one at the next. */
  @Test
  void formerVersion_isLeftAgain_whereWhoHasRefusedTheNewestWasExchangedUnseen() {
    for (long away = 0; away < 200; away++) {
      PeerTransport former = former(US);
      PeerTransport eu = dialling(EU, "us");
      world.run(away);
      former.close();
      PeerTransport us = dialling(US, "eu");
      world.run(LONG_MILLIS + Dialler.DOUBT_MILLIS);
      assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
      assertThat(heardAt(EU).all()).as("away for %s ms", away).last().isEqualTo("up us/200");
      policies.put("eu", List.of("shop{partitions=2}", "more{partitions=1}"));
      policies.put("us", List.of("shop{partitions=2}", "more{partitions=1}"));
      eu.keyspacesChanged();
      us.keyspacesChanged();
      world.run(LONG_MILLIS);
      assertThat(heardAt(EU).all()).containsExactly("up us/200 [more]");
      eu.close();
      us.close();
      policies.clear();
      heardAt(US).all();
    }
  }

  /** The datacenter waits for the one that cannot read its name; both give the reason in words. */
  @Test
  void longName_joinsOnceTheLastOneIsUpgraded() {
    ReplicaId named = new ReplicaId("northamerica-northeast1", 400);
    PeerTransport eu = dialling(EU, "us", named.dc());
    PeerTransport former = former(US, "eu", "northamerica");
    PeerTransport it = dialling(named, "eu", "us");
    world.run(LONG_MILLIS);
    assertThat(heardAt(named).all())
        .anySatisfy(e -> assertThat(e).contains("UNAVAILABLE eu", "'us' speaks version 9"))
        .anySatisfy(e -> assertThat(e).contains("VERSION_MISMATCH us", "upgrade us first"))
        .noneSatisfy(e -> assertThat(e).startsWith("up"));
    former.close();
    PeerTransport us = dialling(US, "eu", named.dc());
    world.run(2 * LONG_MILLIS);
    assertThat(it.spoken()).containsOnlyKeys("eu", "us");
    assertThat(us.spoken()).containsOnlyKeys("eu", named.dc());
    assertThat(eu.spoken()).containsOnlyKeys("us", named.dc());
  }

  /**
   * Otherwise replication was cut whenever a connection was lost, for as long as the newcomer was
   * away.
   */
  @Test
  void besideALongName_newcomerThatIsAway_isNotInTheWay_andIsRefusedIfItIsTooOld() {
    ReplicaId named = new ReplicaId("northamerica-northeast1", 400);
    PeerTransport eu = dialling(EU, named.dc(), "ap");
    PeerTransport it = dialling(named, "eu", "ap");
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up " + named);
    assertThat(heardAt(named).all()).containsExactly("up eu/100");
    it.close();
    world.run(LONG_MILLIS);
    it = dialling(named, "eu", "ap");
    PeerTransport former = former(AP, "eu");
    world.run(4 * LONG_MILLIS);
    assertThat(heardAt(EU).all())
        .contains("down " + named.dc(), "up " + named)
        .noneMatch(e -> e.startsWith("up ap"));
    assertThat(it.spoken()).containsOnlyKeys("eu");
    assertThat(eu.spoken()).containsOnlyKeys(named.dc());
    assertThat(heardAt(AP).all())
        .isNotEmpty()
        .allSatisfy(e -> assertThat(e).startsWith("VERSION_MISMATCH").contains(named.dc()));
    former.close();
    dialling(AP, "eu", named.dc());
    world.run(2 * LONG_MILLIS);
    assertThat(eu.spoken()).containsOnlyKeys("ap", named.dc());
    assertThat(it.spoken()).containsOnlyKeys("ap", "eu");
  }

  /**
   * A peer that is down agrees on nothing: it must be down before it agrees on the new connection.
   */
  @Test
  void connectionThatTakesThePlaceOfAnother_isDownBeforeTheKeyspacesAreCompared() {
    HeardFrames inOrder =
        new HeardFrames() {
          @Override
          public void compared(String dc, Map<String, String> differences) {
            events.add("compared " + dc);
          }
        };
    heard.put("eu", inOrder);
    int version = PeerVersions.OLDEST;
    transport(new ProcessIdentity(US, "test", START, List.of(), version), at("us"), peers("eu"));
    PeerTransport eu = dialling(EU, "us");
    world.run(LONG_MILLIS);
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.OLDEST));
    transport(US, peers("eu")); // behind the same address, while the first connection lasts
    world.run(2 * Dialler.DOUBT_MILLIS);
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
    assertThat(inOrder.all())
        .containsExactly("compared us", "up us/200", "down us", "compared us", "up us/200");
  }

  /** It was greeted in a former version, and got no keyspace that was created. */
  @Test
  void keyspaces_areToldToWhoWasBehindAForwarder_andAwayAtFirst() {
    for (long away = 0; away < 3_000; away += 20) {
      policies.clear();
      world.closesWhatComes(at("us"));
      PeerTransport eu = dialling(EU, "us");
      world.run(away);
      PeerTransport us = transport(US, peers("eu"));
      world.run(LONG_MILLIS);
      assertThat(heardAt(EU).all()).containsExactly("up us/200");
      policies.put("eu", List.of("shop{partitions=2}", "more{partitions=1}"));
      policies.put("us", List.of("shop{partitions=2}", "more{partitions=1}"));
      eu.keyspacesChanged();
      us.keyspacesChanged();
      world.run(LONG_MILLIS);
      assertThat(heardAt(EU).all()).as("away for %s ms", away).containsExactly("up us/200 [more]");
      eu.close();
      us.close();
      heardAt(EU).all();
      heardAt(US).all();
    }
  }
}
