package io.osier.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

final class OsierDBTest {
  private static Map<String, ByteIterator> record(String... fields) {
    Map<String, ByteIterator> record = new HashMap<>();
    for (int i = 0; i < fields.length; i += 2) {
      record.put(fields[i], new StringByteIterator(fields[i + 1]));
    }
    return record;
  }

  /**
   * Its outcome is unknown where the datacenter says nothing for two seconds; whatever is done
   * twice here is as if it was done once.
   */
  private static void isDone(Callable<Status> operation) {
    await().until(operation, Status.OK::equals);
  }

  @Test
  @SuppressWarnings("JdkObsolete") // YCSB wants a Vector
  void everyOperation() throws DBException {
    String config =
        "osier { dc = eu, store.dir = \"\", listen { client-port = 0, peer-port = 0 },"
            + " keyspaces { usertable { sla = 1s } } }";
    try (Datacenter datacenter = Datacenter.start(ConfigReader.read("test", config, Map.of()))) {
      await().until(datacenter::isReady);
      OsierDB db = new OsierDB();
      Properties properties = new Properties();
      properties.setProperty("osier.endpoints", "eu=127.0.0.1:" + datacenter.clientPort());
      db.setProperties(properties);
      db.init();
      for (int i = 0; i < 5; i++) {
        String key = "user" + i;
        Map<String, ByteIterator> inserted = record("a", "1", "b", "x" + i);
        isDone(() -> db.insert("usertable", key, inserted));
      }
      isDone(() -> db.update("usertable", "user1", record("a", "2")));
      Map<String, ByteIterator> found = new HashMap<>();
      assertThat(db.read("usertable", "user1", null, found)).isEqualTo(Status.OK);
      assertThat(found.get("a")).hasToString("2");
      assertThat(found.get("b")).hasToString("x1");
      found.clear();
      assertThat(db.read("usertable", "user1", Set.of("b"), found)).isEqualTo(Status.OK);
      assertThat(found).containsOnlyKeys("b");
      isDone(() -> db.delete("usertable", "user2"));
      assertThat(db.read("usertable", "user2", null, new HashMap<>())).isEqualTo(Status.NOT_FOUND);
      Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
      assertThat(db.scan("usertable", "user1", 3, Set.of("b"), rows)).isEqualTo(Status.OK);
      assertThat(rows.stream().map(r -> String.valueOf(r.get("b"))))
          .containsExactly("x1", "x3", "x4");
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      PrintStream before = System.err;
      System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
      try {
        for (int i = 0; i < 2; i++) {
          assertThat(db.read("nope", "user1", null, new HashMap<>())).isEqualTo(Status.NOT_FOUND);
        }
      } finally {
        System.setErr(before);
      }
      assertThat(said.toString(StandardCharsets.UTF_8))
          .as("why, once")
          .containsOnlyOnce("error UNKNOWN_KEYSPACE: ");
      db.cleanup();
    }
  }

  @Test
  void missingEndpoints_areNamed() {
    OsierDB db = new OsierDB();
    db.setProperties(new Properties());
    assertThatThrownBy(db::init)
        .isInstanceOf(DBException.class)
        .hasMessageContaining("NAME=HOST:PORT");
  }
}
