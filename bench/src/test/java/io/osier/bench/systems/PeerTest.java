package io.osier.bench.systems;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.osier.testing.Patience;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every system under a small load: real nodes, real sockets. */
@Timeout(Patience.SECONDS)
final class PeerTest {
  private static final int CALLS = 500;
  private static final int KEYS = 20;

  @ParameterizedTest
  @ValueSource(strings = {"osier-embedded", "pekko", "hazelcast"})
  void calls_areSeenAtEveryNode(String system) throws Exception {
    Config load = ConfigFactory.parseString("elements = 10");
    try (Target target =
        Targets.start(ConfigFactory.parseString("target = " + system + ", keyspaces {}"))) {
      long before = target.linkBytes();
      try (Calls calls = target.calls(0, load)) {
        Calls.Call increment = calls.call("increment");
        for (int i = 0; i < CALLS; i++) {
          increment.make(i % KEYS, i).toCompletableFuture().join();
        }
        if (system.equals("hazelcast")) {
          assertThatThrownBy(() -> calls.call("add").make(0, 0))
              .isInstanceOf(ScenarioException.class);
        } else {
          calls.call("add").make(0, 7).toCompletableFuture().join();
        }
      }
      for (int node = 0; node < target.nodes(); node++) {
        try (Calls calls = target.calls(node, load)) {
          for (int i = 0; i < KEYS; i++) {
            int key = i;
            await().until(() -> calls.count(key) >= CALLS / KEYS);
            assertThat(calls.count(key)).isEqualTo(CALLS / KEYS);
          }
          if (!system.equals("hazelcast")) {
            await().until(() -> calls.has(0, OsierCalls.elementOf(7, 10)));
          }
        }
      }
      assertThat(target.linkBytes()).as("all passes the forwarders").isGreaterThan(before);
    }
  }
}
