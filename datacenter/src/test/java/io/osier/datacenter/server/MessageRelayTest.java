package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.redis.pubsub.PublishNote;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class MessageRelayTest {
  private final Map<String, List<KeyspacePolicy>> policies = new TreeMap<>();
  private final Set<String> others = new TreeSet<>();
  private final Set<String> connected = new TreeSet<>();
  private final Map<String, Integer> sent = new TreeMap<>();
  private final MessageRelay relay =
      new MessageRelay(
          () -> others,
          keyspace -> policies.getOrDefault(keyspace, List.of()),
          (dc, note) -> {
            assertThat(PublishNote.isOne(note)).isTrue();
            boolean there = connected.contains(dc);
            if (there) {
              sent.merge(dc, 1, Integer::sum);
            }
            return there;
          });

  private int send(String keyspace) {
    return relay.send(new PublishNote(keyspace, new byte[] {'c'}, new byte[] {'m'}));
  }

  @Test
  void message_goesToWhoHoldsItsKeyspace_andTheOthersAreCounted() {
    KeyspacePolicy shop = KeyspacePolicy.session("shop", Duration.ofMillis(100));
    policies.put("shop", List.of(shop));
    policies.put(
        "own",
        List.of(
            KeyspacePolicy.session("own", Duration.ofMillis(100))
                .withReplicas(List.of("eu", "us"))));
    assertThat(send("shop")).as("there are no others").isZero();
    others.addAll(Set.of("us", "ap"));
    assertThat(send("shop")).isEqualTo(2);
    connected.addAll(Set.of("us", "ap"));
    assertThat(send("shop")).isZero();
    assertThat(sent).isEqualTo(Map.of("us", 1, "ap", 1));
    assertThat(send("own")).isZero();
    assertThat(sent).isEqualTo(Map.of("us", 2, "ap", 1));
    connected.remove("us");
    assertThat(send("own")).isOne();
    assertThat(send("unknown")).isZero();
  }
}
