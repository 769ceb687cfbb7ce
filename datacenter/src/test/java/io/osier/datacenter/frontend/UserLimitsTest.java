package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.server.TestCluster;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Envelope;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A user who floods the port has what one may have, and the others have theirs. */
final class UserLimitsTest extends UserLimitsFixture {
  private static final Duration LONG = Patience.LIMIT;

  /** Connects without a login, and says what comes of it. */
  private Reply greeting(ClientServer to) throws IOException {
    return connect(to)
        .send(RawClient.frame(0, new Greeting.Hello(Request.PROTOCOL_VERSION, "raw")))
        .reply()
        .message();
  }

  @Test
  void connectionTooManyForThePort_isCounted() throws Exception {
    ClientServer server = server(limits(MANY, MANY, MANY));
    for (int i = 0; i < PortLimits.DEFAULT.connectionsMax(); i++) {
      assertThat(greeting(server)).isInstanceOf(Reply.Welcome.class);
    }
    assertThat(server.figures().limited()).doesNotContainKey("port");
    assertThat(connect(server).reply().message()).isInstanceOf(Reply.Failure.class);
    assertThat(server.figures().limited()).containsEntry("port", 1L);
  }

  @Test
  void connections_ofAUser_areCounted_andThoseOfOthersAreTheirs() throws Exception {
    ClientServer server = server(limits(3, MANY, MANY));
    List<RawClient> three = List.of(cart(server), cart(server), cart(server));
    RawClient fourth = connect(server);
    refused(
        fourth.login("cart", PASSWORD),
        ErrorCode.OVERLOADED,
        "user 'cart' has 3 connections",
        "osier.user-limits.connections");
    assertThat(fourth.isEnded()).isTrue();
    // Who does not log in is one user, whoever it is.
    for (int i = 0; i < 3; i++) {
      assertThat(greeting(server)).isInstanceOf(Reply.Welcome.class);
    }
    refused(greeting(server), ErrorCode.OVERLOADED, "user 'default' has 3 connections");
    assertThat(server.figures().limited()).containsEntry("connections", 2L);
    assertServed(three.get(1));
    three.get(0).close();
    await()
        .untilAsserted(
            () ->
                assertThat(connect(server).login("cart", PASSWORD))
                    .isInstanceOf(Reply.Welcome.class));
  }

  @Test
  void requestsUnderWay_ofAllConnectionsOfAUser_areCountedTogether() throws Exception {
    ClientServer server = server(limits(MANY, 10, MANY));
    RawClient first = connect(server).greet();
    RawClient second = connect(server).greet();
    RawClient cart = cart(server);
    for (int id = 1; id <= 6; id++) {
      first.send(write(id, 1));
    }
    await().until(() -> waiting.size() == 6);
    for (int id = 1; id <= 6; id++) {
      second.send(write(id, 1));
    }
    for (int id = 5; id <= 6; id++) {
      Envelope<Reply> answer = second.reply();
      assertThat(answer.id()).isEqualTo(id);
      refused(
          answer.message(),
          ErrorCode.OVERLOADED,
          "nothing was done",
          "user 'default' has 10 requests under way",
          "osier.user-limits.requests");
    }
    assertServed(cart);
    assertThat(server.figures().limited()).containsEntry("requests", 2L);
    Snapshot.UserLoad most = server.figures().users().getFirst();
    assertThat(most.user()).isEqualTo("default");
    assertThat(most.connections()).isEqualTo(2);
    assertThat(most.requests()).isEqualTo(10);
    waiting.poll().accept(new Reply.Pong());
    assertThat(first.reply().message()).isEqualTo(new Reply.Pong());
    assertServed(second);
  }

  /** As of what else all may have: the partition takes 10,000 of all together. */
  @Test
  void openTransactions_ofOneUser_leaveSomeOfAKeyspaceForTheOthers() throws Exception {
    ClientServer server = server(limits(MANY, MANY, 100_000_000));
    RawClient client = connect(server).greet();
    int most = 7_500;
    for (int i = 0; i < most; i++) {
      client.send(begin(i + 1, 1));
    }
    await().until(() -> waiting.size() == most);
    client.send(begin(most + 1, 1));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "has 7500 open transactions in 'shop'");
    assertThat(access.transactionsKept()).isEqualTo(most);
  }

  /** Who leaves and comes again has what it had sent still under way. */
  @Test
  void requestsOutliveTheirConnection_andNothingIsKeptOfWhoIsGone() throws Exception {
    ClientServer server = server(limits(MANY, 2, MANY));
    try (RawClient gone = connect(server).greet()) {
      gone.send(write(1, 1)).send(write(2, 1));
      await().until(() -> waiting.size() == 2);
    }
    await().until(() -> server.figures().users().getFirst().connections() == 0);
    try (RawClient again = connect(server).greet()) {
      again.send(write(1, 1));
      refused(again.reply().message(), ErrorCode.OVERLOADED, "2 requests under way");
    }
    waiting.forEach(reply -> reply.accept(new Reply.Pong()));
    await().until(() -> server.figures().users().isEmpty());
  }

  @Test
  void limitsThatNobodySet_holdAsSoonAsSomebodyIsNamed() throws Exception {
    users = Users.OPEN;
    ClientServer server =
        server(
            new UserLimits(
                new UserLimits.Limit(2, false),
                new UserLimits.Limit(2, false),
                new UserLimits.Limit(100_000, false)));
    for (int i = 0; i < 3; i++) {
      assertThat(greeting(server)).isInstanceOf(Reply.Welcome.class);
    }
    RawClient client = connect(server).greet();
    client.send(write(1, 200_000)).send(write(2, 1)).send(write(3, 1));
    await().until(() -> waiting.size() == 3);
    users = USERS;
    refused(greeting(server), ErrorCode.OVERLOADED, "user 'default' has 2 connections");
    client.send(write(4, 1));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.requests");
    waiting.forEach(reply -> reply.accept(new Reply.Pong()));
    for (int i = 0; i < 3; i++) {
      client.reply();
    }
    answering = true; // until the limit is in force large ones are still taken
    await()
        .untilAsserted(
            () -> {
              client.send(write(5, 200_000));
              refused(client.reply().message(), ErrorCode.VALUE_TOO_LARGE, "100000 bytes");
            });
  }

  @Test
  void limit_isToldToTheApplication_andShownInStat() {
    Datacenter eu =
        open.add(
            TestCluster.one(
                """
                osier {
                  dc = eu, store.dir = "", shutdown-timeout = 0s, keyspaces { shop {} }
                  listen { client-port = 0, peer-port = 0 }
                  user-limits { connections = 1 }
                }
                """));
    OsierClient first = client(eu);
    first.awaitConnected(LONG);
    OsierClient second = client(eu);
    await().until(() -> second.status().getFirst().trouble().isPresent());
    assertThatThrownBy(() -> second.awaitConnected(Duration.ofMillis(1)))
        .hasMessageContaining("user 'default' has 1 connections")
        .hasMessageContaining("osier.user-limits.connections");
    assertThat(first.inspectAsync("eu", Request.Topic.STAT, Optional.empty(), 0).join())
        .containsPattern("\"limited\":\\{\"bytes\":0,\"connections\":[1-9][0-9]*,\"requests\":0}")
        .containsPattern(
            "\"users\":\\{\"default\":\\{\"connections\":1,\"requests\":1,\"bytes\":[0-9]+}}");
  }
}
