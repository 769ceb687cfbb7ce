package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Keyspaces that are created and dropped while datacenters talk, or are removed. */
final class KeyspaceChangesTest extends PeersFixture {
  @Test
  void keyspacesThatChangeWhileAPeerIsRemoved_areNotHeardOf() {
    PeerTransport eu = dialling(EU, "us");
    dialling(US, "eu");
    world.run(LONG_MILLIS);
    heardAt(EU).all();
    heardAt(EU).differing.clear();
    policies.put("eu", List.of("shop{partitions=4}"));
    eu.keyspacesChanged(); // soon, in the loops of its connections
    eu.setPeers(NOBODY);
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("down us");
    assertThat(heardAt(EU).differing).isEmpty();
  }

  /** The numbers by which frames name their keyspaces are agreed on again. */
  @Test
  void peerThatIsAddedAgain_isNotSentByFormerKeyspaces() {
    PeerTransport eu = dialling(EU, "us");
    dialling(US, "eu");
    world.run(LONG_MILLIS);
    eu.send(US, "shop", 0, ack(1));
    world.run(10);
    assertThat(heardAt(US).all()).endsWith("shop/0 1");
    eu.setPeers(NOBODY);
    world.run(LONG_MILLIS);
    policies.put("eu", List.of("more{partitions=2}", "shop{partitions=2}"));
    policies.put("us", List.of("more{partitions=2}", "shop{partitions=2}"));
    eu.setPeers(peers("us"));
    world.run(LONG_MILLIS);
    eu.send(US, "shop", 0, ack(2));
    world.run(10);
    assertThat(heardAt(US).all()).endsWith("shop/0 2");
  }

  /** A number belongs to another keyspace as soon as the next list is sent. */
  @Test
  void keyspacesThatComeAndGo_areNotTakenForEachOther() {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    List<String> names = List.of("a", "b", "c", "d");
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    int arrived = 0;
    for (int i = 0; i < 2_000; i++) {
      for (String dc : List.of("eu", "us")) {
        if (random.nextInt(4) == 0) {
          List<String> some = new ArrayList<>();
          names.stream()
              .filter(n -> random.nextInt(3) > 0)
              .forEach(n -> some.add(random.nextInt(some.size() + 1), n + "{partitions=1}"));
          policies.put(dc, some);
          (dc.equals("eu") ? eu : us).keyspacesChanged();
        }
      }
      int which = random.nextInt(names.size());
      eu.send(US, names.get(which), 0, ack(10 * i + which));
      world.run(random.nextInt(3));
      for (String event : heardAt(US).all()) {
        int at = event.indexOf("/0 ");
        if (at >= 0) {
          int sent = Integer.parseInt(event.substring(at + 3)) % 10;
          assertThat(event).as("seed %d", seed).startsWith(names.get(sent) + "/0 ");
          arrived++;
        } else {
          assertThat(event).as("seed %d", seed).containsAnyOf("up ", "parted ");
        }
      }
    }
    assertThat(arrived).as("seed %d", seed).isGreaterThan(100);
  }
}
