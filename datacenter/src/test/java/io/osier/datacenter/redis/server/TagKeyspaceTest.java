package io.osier.datacenter.redis.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Partitioning;
import io.osier.core.net.Ports;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.server.TestCluster;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Program;
import io.osier.proxy.Transaction;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A keyspace whose keys are hashed by tag, at one that holds it and at one that does not. */
final class TagKeyspaceTest {
  private static final List<String> NAMES = List.of("eu", "us");

  private final Map<String, Integer> ports = new LinkedHashMap<>();
  private final Map<String, Datacenter> running = new LinkedHashMap<>();
  @AutoClose private final Opened open = new Opened();

  @BeforeEach
  void start() {
    NAMES.forEach(name -> ports.put(name, Ports.free()));
    NAMES.forEach(name -> running.put(name, start(name)));
    await()
        .atMost(Patience.LIMIT)
        .until(() -> running.values().stream().allMatch(Datacenter::isReady));
  }

  private Datacenter start(String name) {
    String other = name.equals("eu") ? "us" : "eu";
    String config =
        """
        osier {
          dc = %s, store.dir = ""
          keyspaces.tags { sla = 100ms, replicas = [eu], partitions = 4, hash = tag }
          keyspaces.keys { sla = 100ms, replicas = [eu], partitions = 4 }
          keyspaces.bank { sla = 100ms, consistency = causal, hash = tag }
          redis.databases { 0 = tags, 1 = keys }
          listen { client-port = 0, peer-port = %d, redis-port = 0 }
          peers { %s = "127.0.0.1:%d" }
        }
        """
            .formatted(name, ports.get(name), other, ports.get(other));
    return TestCluster.one(config);
  }

  @AfterEach
  void stop() {
    running.values().forEach(dc -> TestCluster.inAHurry(dc::close));
  }

  private Datacenter at(String name) {
    return requireNonNull(running.get(name));
  }

  private RawRedis redis(String name) throws Exception {
    RawRedis redis = open.add(new RawRedis(at(name).redisPort().orElseThrow()));
    await().atMost(Patience.LIMIT).until(() -> redis.ask("GET nothing").equals("null"));
    return redis;
  }

  private OsierClient client(String name) {
    OsierClient client = open.add(PatientClients.of(name, at(name).clientPort()).build());
    client.awaitConnected(Patience.LIMIT);
    return client;
  }

  private static String name(int cart, int item) {
    return "{cart" + cart + "}" + item;
  }

  @Test
  void commandsOfSeveralKeys_areDoneWhereTheseHaveOneTag() throws Exception {
    for (String dc : List.of("eu", "us")) {
      RawRedis redis = redis(dc);
      for (int i = 0; i < 8; i++) {
        String a = name(i, 1);
        String b = name(i, 2);
        assertThat(redis.ask("MSET " + a + " 1 " + b + " 2")).isEqualTo("+OK");
        assertThat(redis.ask("MSETNX " + name(i, 3) + " 3 " + a + " 9")).isEqualTo(":0");
        assertThat(redis.ask("RENAME " + b + " " + name(i, 4))).isEqualTo("+OK");
        assertThat(redis.ask("MGET " + a + " " + b + " " + name(i, 3) + " " + name(i, 4)))
            .isEqualTo("[1, null, null, 2]");
      }
      assertThat(redis.ask("RENAME {cart1}1 {cart2}1")).isEqualTo("-" + otherSlot());
      assertThat(redis.ask("RENAME cart1:1 cart1:2")).isEqualTo("-" + otherSlot());
      redis.ask("SELECT 1");
      assertThat(redis.ask("RENAME {cart1}1 {cart1}2")).as("by key").isEqualTo("-" + otherSlot());
    }
  }

  private static String otherSlot() {
    return "CROSSSLOT Keys in request don't hash to the same slot";
  }

  @Test
  void transactionOfRedis_isOfOneTag() throws Exception {
    RawRedis redis = redis("eu");
    assertThat(redis.ask("WATCH {a}1 {a}2")).isEqualTo("+OK");
    assertThat(redis.ask("MULTI")).isEqualTo("+OK");
    for (int i = 1; i <= 8; i++) {
      assertThat(redis.ask("INCRBY {a}" + i + " " + i)).isEqualTo("+QUEUED");
    }
    assertThat(redis.ask("EXEC")).isEqualTo("[:1, :2, :3, :4, :5, :6, :7, :8]");
    assertThat(redis.ask("MULTI")).isEqualTo("+OK");
    assertThat(redis.ask("INCR {a}1")).isEqualTo("+QUEUED");
    assertThat(redis.ask("INCR {b}1")).isEqualTo("-" + otherSlot());
    assertThat(redis.ask("EXEC")).startsWith("-EXECABORT");
    assertThat(redis.ask("GET {a}1")).isEqualTo("1");
  }

  @Test
  void clientsPrograms_batchesAndTransactions_findTheirKeys() {
    for (String dc : NAMES) {
      OsierClient client = client(dc);
      Keyspace tags = client.session().keyspace("tags");
      for (int i = 0; i < 8; i++) {
        int cart = i;
        Program.Result done =
            tags.program()
                .update(
                    batch -> {
                      for (int item = 0; item < 8; item++) {
                        batch.counter(name(cart, item)).increment();
                      }
                    })
                .run();
        assertThat(done.held()).isTrue();
        assertThat(tags.counter(name(cart, 7)).get()).as("read your writes").isPositive();
      }
      tags.updateAll(
          batch -> {
            for (int i = 0; i < 32; i++) {
              batch.counter(name(i, 9)).increment();
            }
          });
      assertThat(tags.counter(name(31, 9)).get()).isPositive();
      assertThatThrownBy(
              () ->
                  tags.program()
                      .update(
                          p -> {
                            for (int i = 0; i < 32; i++) {
                              p.counter(name(i, 9)).increment();
                            }
                          })
                      .run())
          .is(Refused.with(ErrorCode.INVALID_ARGUMENT))
          .hasMessageContaining("one partition");
      Keyspace bank = client.session().keyspace("bank");
      try (Transaction transaction = bank.begin()) {
        transaction.counter("{" + dc + "}a").increment(-5);
        transaction.counter("{" + dc + "}b").increment(5);
        transaction.commit();
      }
      assertThat(bank.counter("{" + dc + "}b").get()).isEqualTo(5);
    }
  }

  @Test
  void clientThatKnowsNoTags_isRefusedByName_andMayUseTheRest() throws Exception {
    RawRedis settled = redis("us"); // it knows by then who holds what
    assertThat(settled.ask("PING")).isEqualTo("+PONG");
    for (String dc : NAMES) {
      RawClient old = open.add(new RawClient(at(dc).clientPort()));
      int version = Request.BY_TAG_VERSION - 1;
      Reply.Welcome welcome =
          (Reply.Welcome)
              old.send(RawClient.frame(0, new Greeting.Hello(version, "raw"))).reply().message();
      assertThat(Reply.Elsewhere.all(welcome.keyspaces(), welcome.elsewhere()))
          .extracting(Reply.KeyspaceInfo::partitioning)
          .contains(Partitioning.byKey(4))
          .noneMatch(Partitioning::isByTag);
      old.send(RawClient.frame(1, new ProgressRequest.Through("tags", 0)));
      assertThat(old.reply().message())
          .isInstanceOfSatisfying(
              Reply.Failure.class,
              f -> {
                assertThat(f.code()).isEqualTo(ErrorCode.VERSION_MISMATCH);
                assertThat(f.message()).contains("'tags' has hash = tag", "upgrade");
              });
      old.send(RawClient.frame(2, new ProgressRequest.Through("keys", 0)));
      assertThat(old.reply().message()).isInstanceOf(Reply.Through.class);
    }
  }
}
