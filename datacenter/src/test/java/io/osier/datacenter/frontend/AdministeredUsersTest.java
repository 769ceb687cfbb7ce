package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.net.Ports;
import io.osier.core.scram.ScramCredential;
import io.osier.crdt.Query;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.LoggedLines;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.server.TestCluster;
import io.osier.datacenter.testing.Failed;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users that are changed while datacenters serve. */
final class AdministeredUsersTest {
  private static final Duration LONG = Patience.LIMIT;
  private static final String ADMIN =
      "admin { credential = \""
          + credential("secret").line()
          + "\", rights = [\"admin *\", \"read *\", \"write *\"] }";

  @AutoClose private final Opened open = new Opened();

  private static ScramCredential credential(String password) {
    return ScramCredential.of(password.toCharArray(), new byte[16], ScramCredential.ITERATIONS_MIN);
  }

  private Datacenter start(String dc, int peerPort, String peers, String users, String store) {
    return open.add(
        TestCluster.one(
            """
            osier {
              dc = %s, store.dir = "%s", shutdown-timeout = 0s
              keyspaces { shop { sla = 200ms } }
              listen { client-port = 0, peer-port = %d }
              peers { %s }
              users { %s }
            }
            """
                .formatted(dc, store, peerPort, peers, users)));
  }

  private Datacenter alone(String users) {
    return start("eu", 0, "", users, "");
  }

  /** What a datacenter answers to its operator; waits until it has started. */
  private static Reply administer(
      Datacenter at, String action, String user, Map<String, String> settings) {
    Reply[] last = new Reply[1];
    await()
        .until(
            () -> {
              CompletableFuture<Reply> reply = new CompletableFuture<>();
              at.inProcess()
                  .send(
                      new AdminRequest.Administer("user", action, user, new TreeMap<>(settings)),
                      reply::complete);
              last[0] = reply.get(Patience.SECONDS, TimeUnit.SECONDS);
              return !(last[0] instanceof Reply.Failure f && f.code() == ErrorCode.UNAVAILABLE);
            });
    return last[0];
  }

  private static String done(
      Datacenter at, String action, String user, Map<String, String> settings) {
    Reply reply = administer(at, action, user, settings);
    assertThat(reply).isInstanceOf(Reply.Report.class);
    return ((Reply.Report) reply).json();
  }

  private static String list(Datacenter at) {
    return done(at, "list", "", Map.of());
  }

  private OsierClient client(Datacenter of, String user, String password) {
    OsierClient.Builder builder = PatientClients.of(of.replica().dc(), of.clientPort());
    if (!user.isEmpty()) {
      builder.user(user, password.toCharArray());
    }
    return open.add(builder.build());
  }

  private static long read(OsierClient client) {
    client.awaitConnected(LONG);
    return client.session().keyspace("shop").counter("c").get();
  }

  private static void refused(ErrorCode code, OsierClient client) {
    assertThatThrownBy(() -> read(client)).is(Refused.with(code));
  }

  private static Map<String, String> made(String password, String rights) {
    return Map.of("credential", credential(password).line(), "rights", rights);
  }

  @Test
  void users_areChangedAtOneDatacenter_andHoldAtAll() throws Exception {
    int eu = Ports.free();
    int us = Ports.free();
    Datacenter here = start("eu", eu, "us = \"127.0.0.1:" + us + "\"", ADMIN, "");
    Datacenter there = start("us", us, "eu = \"127.0.0.1:" + eu + "\"", ADMIN, "");
    assertThat(list(there)).contains("\"name\":\"admin\"", "\"from\":\"file\"");
    done(here, "create", "cart", made("one", "read shop"));
    OsierClient cart = client(there, "cart", "one");
    await()
        .ignoreExceptionsInstanceOf(OsierException.class)
        .untilAsserted(() -> assertThat(read(cart)).isZero());
    assertThat(list(there))
        .contains("\"name\":\"cart\"", "\"rights\":[\"read shop\"]", "\"from\":\"command\"")
        .doesNotContain(credential("one").line().substring(40));
    assertThat(read(client(there, "admin", "secret"))).as("it came along").isZero();

    done(there, "revoke", "cart", Map.of("rights", "read shop"));
    await().untilAsserted(() -> refused(ErrorCode.FORBIDDEN, cart));
    done(there, "drop", "cart", Map.of());
    await().untilAsserted(() -> refused(ErrorCode.NOT_AUTHENTICATED, client(here, "cart", "one")));
  }

  @Test
  void users_areThereAfterARestart_andTheFileCountsNoMore(@TempDir Path dir) throws Exception {
    Datacenter eu = start("eu", 0, "", ADMIN, dir.toString());
    done(eu, "passwd", "admin", Map.of("credential", credential("new").line()));
    done(eu, "create", "cart", made("one", "read shop"));
    assertThat(read(client(eu, "cart", "one"))).isZero();
    eu.close();
    Datacenter again = start("eu", 0, "", ADMIN, dir.toString());
    refused(ErrorCode.NOT_AUTHENTICATED, client(again, "admin", "secret"));
    assertThat(read(client(again, "admin", "new"))).isZero();
    assertThat(read(client(again, "cart", "one"))).isZero();
  }

  @Test
  void firstUser_locksNobodyOut_untilTheDefaultOneIsDropped() {
    Datacenter eu = alone("");
    OsierClient anybody = client(eu, "", "");
    assertThat(read(anybody)).isZero();
    done(eu, "create", "admin", made("secret", "admin *\nread *"));
    assertThat(read(anybody)).isZero();
    assertThat(read(client(eu, "admin", "secret"))).isZero();
    done(eu, "drop", "default", Map.of());
    await().untilAsserted(() -> refused(ErrorCode.NOT_AUTHENTICATED, anybody));
    assertThat(administer(eu, "drop", "admin", Map.of()))
        .is(Failed.with(ErrorCode.INVALID_ARGUMENT, "nobody would be left"));
  }

  @Test
  void controlKeyspace_isNobodysToRead_andUsersAreForAdministrators() throws Exception {
    Datacenter eu =
        alone(ADMIN + ", " + ADMIN.replace("admin {", "cart {").replace("\"admin *\", ", ""));
    OsierClient cart = client(eu, "cart", "secret");
    cart.awaitConnected(LONG);
    assertThat(cart.keyspaces()).containsExactly("shop");
    assertThatThrownBy(() -> cart.session().keyspace("_osier").counter("changes").get())
        .is(Refused.with(ErrorCode.UNKNOWN_KEYSPACE));
    try (LoggedLines audit = new LoggedLines(AuditLog.LOGGER);
        RawUser raw = new RawUser(eu.clientPort(), "cart", "secret");
        RawUser admin = new RawUser(eu.clientPort(), "admin", "secret")) {
      AdminRequest.Administer grant =
          new AdminRequest.Administer(
              "user", "grant", "cart", new TreeMap<>(Map.of("rights", "admin *")));
      assertThat(raw.ask(grant)).is(Failed.with(ErrorCode.FORBIDDEN));
      Request.Read read =
          new Request.Read(
              "_osier",
              Key.of("users"),
              Optional.empty(),
              new Query.Whole(),
              VersionVector.EMPTY,
              false,
              0);
      assertThat(admin.ask(read)).is(Failed.with(ErrorCode.UNKNOWN_KEYSPACE));
      await().until(() -> admin.ask(grant) instanceof Reply.Report);
      assertThat(audit.all())
          .anySatisfy(
              l ->
                  assertThat(l)
                      .contains(
                          "\"event\":\"admin\"",
                          "\"user\":\"admin\"",
                          "user grant cart [rights]: admin *"));
      admin.ask(new AdminRequest.Backup(Optional.of("monday")));
      assertThat(audit.all())
          .anyMatch(l -> l.contains("\"user\":\"admin\"") && l.contains("backup monday"));
      assertThat(raw.ask(new AdminRequest.Administer("user", "list", "", new TreeMap<>())))
          .as("at once")
          .isInstanceOf(Reply.Report.class);
    }
  }

  /** A connection that has logged in, and sends what no client does. */
  private static final class RawUser implements AutoCloseable {
    private final RawClient raw;
    private long ids;

    RawUser(int port, String user, String password) throws Exception {
      raw = new RawClient(port);
      assertThat(raw.login(user, password)).isInstanceOf(Reply.Welcome.class);
    }

    Reply ask(Request request) throws IOException {
      raw.send(RawClient.frame(++ids, request));
      return raw.reply().message();
    }

    @Override
    public void close() throws IOException {
      raw.close();
    }
  }
}
