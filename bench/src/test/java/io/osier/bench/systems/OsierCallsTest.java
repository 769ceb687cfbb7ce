package io.osier.bench.systems;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.Keyspace;
import io.osier.testing.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the scenarios' operations do at a datacenter. */
@Timeout(Patience.SECONDS)
final class OsierCallsTest {
  private static final Config LOAD =
      ConfigFactory.parseString(
          "sessions = 1, keyspace = k, keys = 20, elements = 10, bytes = 10, objects = 3, homes ="
              + " []");

  @Test
  void programsAndStrings_changeWhatTheyName() {
    try (EmbeddedDatacenter dc =
            EmbeddedDatacenter.start(
                """
                osier {
                  dc = eu, cluster = calls, store.dir = ""
                  listen { client-port = 0, peer-port = 0 }
                  keyspaces.k.partitions = 1
                }
                """);
        OsierCalls calls = new OsierCalls("eu", dc::client, LOAD)) {
      make(calls, "program", 18);
      assertThat(calls.count(17)).isZero();
      assertThat(calls.count(18)).isEqualTo(1);
      assertThat(calls.count(19)).isEqualTo(1);
      assertThat(calls.count(0)).as("as many objects as load.objects says").isEqualTo(1);
      make(calls, "program-same", 7);
      assertThat(calls.count(7)).isEqualTo(3);
      make(calls, "string-increment", 4);
      make(calls, "string-increment-get", 4);
      make(calls, "string-assign", 5);
      Keyspace k = dc.session().keyspace("k");
      assertThat(k.string("n4").get()).hasValue("2");
      assertThat(k.string("n5").length()).isEqualTo(10);
    }
  }

  private static void make(Calls calls, String operation, int key) {
    calls.call(operation).make(key, 0).toCompletableFuture().join();
  }
}
