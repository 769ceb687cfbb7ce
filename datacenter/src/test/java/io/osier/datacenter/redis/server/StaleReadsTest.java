package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.server.RawClient;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Aged;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads of a copy whose holders have gone, by clients of all kinds. */
final class StaleReadsTest {
  private static final Duration ALLOWED = Duration.ofMinutes(5);

  @TempDir private Path dir;
  @AutoClose private final Opened open = new Opened();

  private RawClient raw(ThreeRedis all, int version) throws IOException {
    RawClient raw = open.add(new RawClient(all.dc("ap").clientPort()));
    raw.send(RawClient.frame(0, new Greeting.Hello(version, "raw")));
    raw.reply();
    return raw;
  }

  private static Reply read(RawClient by, VersionVector after) throws IOException {
    Request.Read read =
        new Request.Read("shop", Key.of("n"), Optional.empty(), new Query.Whole(), after, false, 0);
    return by.send(RawClient.frame(1, read)).reply().message();
  }

  @Test
  void whileNoHolderCanBeReached_theCopyAnswers_whoMayKnowItsAge() throws IOException {
    ThreeRedis all =
        open.add(
            new ThreeRedis(
                dir,
                """
                keyspaces.shop { sla = 300ms, replicas = [eu, us], stale-reads = 5m }
                redis.databases { 0 = shop }
                """));
    all.awaitForwarding("ap");
    RawRedis ap = open.add(all.connect("ap"));
    RawRedis us = open.add(all.connect("us"));
    assertThat(us.askAll("INCR n", "WAIT 1 0")).as("eu has it, too").containsExactly(":1", ":1");
    all.awaitCopy(ap);
    OsierClient client = open.add(PatientClients.of("ap", all.dc("ap").clientPort()).build());
    Keyspace shop = client.session().keyspace("shop");
    assertThat(shop.aged(space -> space.string("n").get()).isCurrent()).isTrue();
    assertThat(read(raw(all, Request.PROTOCOL_VERSION), VersionVector.EMPTY))
        .isInstanceOfSatisfying(Reply.Answer.class, a -> assertThat(a.age()).isEmpty());

    List.of("eu", "us").forEach(all::kill);
    await().atMost(Patience.LIMIT).until(() -> all.copies().staleObjects() == 1);
    // The loss of the other holder may be noticed later: until then it is asked.
    await()
        .atMost(Patience.LIMIT)
        .until(() -> ap.ask("GET n").equals("1") && all.copies().staleReads() > 0);
    assertThat(ap.ask("MGET n m")).as("several").startsWith("-");
    assertThat(ap.ask("INCR n")).startsWith("-");

    Aged<Optional<String>> old = shop.aged(space -> space.string("n").get().map(Object::toString));
    assertThat(old.age().orElseThrow()).isBetween(Duration.ZERO, ALLOWED);
    assertThat(shop.string("n").get()).isPresent();
    Keyspace caching =
        open.add(
                PatientClients.of("ap", all.dc("ap").clientPort())
                    .cache(Duration.ofHours(1), 100)
                    .build())
            .session()
            .keyspace("shop");
    assertThat(caching.string("n").get().map(Object::toString)).contains("1");
    Keyspace.Found found = shop.read(Key.of("n"), Optional.empty(), new Query.Whole());
    assertThat(found.age()).isPresent();

    Reply.Answer told = (Reply.Answer) read(raw(all, Request.AGES_VERSION), VersionVector.EMPTY);
    assertThat(told.age()).isPresent();
    assertThat(told.reading()).isPresent().get().isInstanceOf(Reading.Single.class);
    assertThat(read(raw(all, Request.AGES_VERSION - 1), VersionVector.EMPTY))
        .as("it does not know ages")
        .isInstanceOfSatisfying(
            Reply.Failure.class,
            f -> {
              assertThat(f.code()).isEqualTo(ErrorCode.UNAVAILABLE);
              assertThat(f.message()).contains("upgrade the client");
            });
    VersionVector more = VersionVector.of(new ReplicaId("us", 1L << 62), 1_000);
    assertThat(read(raw(all, Request.AGES_VERSION), more))
        .as("it has seen more")
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.UNAVAILABLE));
    assertThat(all.copies().staleReads()).isPositive();

    List.of("eu", "us").forEach(all::start);
    await().atMost(Patience.LIMIT).until(() -> ap.ask("INCR n").equals(":2"));
    assertThat(ap.ask("GET n")).isEqualTo("2");
    await()
        .untilAsserted(() -> assertThat(shop.aged(s -> s.string("n").get()).isCurrent()).isTrue());
    assertThat(shop.string("n").get().map(Object::toString)).contains("2");
    assertThat(caching.string("n").get().map(Object::toString)).as("none was kept").contains("2");
  }
}
