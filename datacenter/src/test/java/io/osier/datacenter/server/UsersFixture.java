package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ongres.scram.client.ScramClient;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;

/** Datacenters with users, and clients that log in. */
abstract class UsersFixture {
  static final Duration LONG = Patience.LIMIT;
  static final String PASSWORD = "correct horse";
  static final ScramCredential CREDENTIAL =
      ScramCredential.of(PASSWORD.toCharArray(), new byte[16], ScramCredential.ITERATIONS_MIN);
  static final String EVERYTHING = "\"read *\", \"write *\", \"admin *\"";

  @AutoClose final Opened open = new Opened();

  Datacenter start(String users, String more) {
    return open.add(
        TestCluster.one(
            """
            osier {
              dc = eu, store.dir = "", shutdown-timeout = 0s
              keyspaces { shop {}, bank { consistency = causal } }
              listen { client-port = 0, peer-port = 0 }
              users { %s }
              %s
            }
            """
                .formatted(users, more)));
  }

  Datacenter withCart(String rights) {
    return start(cart(rights), "");
  }

  static String cart(String rights) {
    return "cart { credential = \"" + CREDENTIAL.line() + "\", rights = [" + rights + "] }";
  }

  static Users only(String name, String... rights) {
    return new Users(
        List.of(
            new User(
                name,
                name.equals(Users.DEFAULT) ? Optional.empty() : Optional.of(CREDENTIAL),
                Arrays.stream(rights).map(Grant::parse).toList())));
  }

  OsierClient.Builder builder(Datacenter of) {
    return PatientClients.of("eu", of.clientPort());
  }

  OsierClient build(OsierClient.Builder builder) {
    return open.add(builder.build());
  }

  OsierClient asCart(Datacenter of) {
    OsierClient client = build(builder(of).user("cart", PASSWORD.toCharArray()));
    client.awaitConnected(LONG);
    return client;
  }

  static OsierException failure(ErrorCode code, ThrowingCallable call) {
    OsierException[] thrown = new OsierException[1];
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            OsierException.class,
            e -> {
              assertThat(e.code()).as("%s", e).isEqualTo(code);
              thrown[0] = e;
            });
    return thrown[0];
  }

  static void forbidden(String right, ThrowingCallable call) {
    assertThat(failure(ErrorCode.FORBIDDEN, call))
        .hasMessageEndingWith("a right is missing: " + right);
  }

  static ScramClient scram(String user, String password) {
    return ScramClient.builder()
        .advertisedMechanisms(List.of(ScramCredential.MECHANISM))
        .username(user)
        .password(password.toCharArray())
        .build();
  }

  static byte[] login(String message) {
    return RawClient.frame(0, new Greeting.Login(Request.PROTOCOL_VERSION, "raw", message));
  }

  static byte[] proof(String message) {
    return RawClient.frame(0, new Greeting.Proof(message));
  }

  RawClient raw(Datacenter to, String from) throws IOException {
    return open.add(new RawClient(to.clientPort(), from));
  }

  static String challenge(RawClient client, String first) throws IOException {
    Reply reply = client.send(login(first)).reply().message();
    assertThat(reply).isInstanceOf(Reply.Challenge.class);
    return ((Reply.Challenge) reply).message();
  }

  /** What becomes of a login with a password; INTERNAL if it is let in. */
  ErrorCode tryPassword(Datacenter at, String from, String user, String password) throws Exception {
    try (RawClient client = new RawClient(at.clientPort(), from)) {
      ScramClient scram = scram(user, password);
      Reply reply = client.send(login(scram.clientFirstMessage().toString())).reply().message();
      if (reply instanceof Reply.Challenge challenge) {
        scram.serverFirstMessage(challenge.message());
        client.send(proof(scram.clientFinalMessage().toString()));
        reply = client.reply().message();
      }
      return reply instanceof Reply.Failure f ? f.code() : ErrorCode.INTERNAL;
    }
  }
}
