package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.ongres.scram.client.ScramClient;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.tls.TlsName;
import io.osier.crdt.Query;
import io.osier.datacenter.cli.command.CertificateMaker;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logins over real connections, and those who try to get in. */
final class LoginsTest extends UsersFixture {
  // ---------------------------------------------------------------- logins

  @Test
  void passwordFile_isAPasswordToo(@TempDir Path dir) throws IOException {
    Path file = Files.writeString(dir.resolve("cart.password"), PASSWORD + "\nsecond line\n");
    Datacenter eu =
        start("cart { password-file = \"" + file + "\", rights = [" + EVERYTHING + "] }", "");
    assertThat(asCart(eu).session().keyspace("shop").counter("c").get()).isZero();
  }

  @Test
  void noLogin_isRefused_andSaidAtOnce() {
    OsierClient client = build(builder(withCart(EVERYTHING)));
    OsierException e = failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG));
    assertThat(e).hasMessageContaining("must log in");
    failure(
        ErrorCode.NOT_AUTHENTICATED, () -> client.session().keyspace("shop").counter("c").get());
  }

  @Test
  void wrongPassword_andUnknownUser_areRefusedAlike() {
    List<String> said = new ArrayList<>();
    for (String[] login :
        List.of(new String[] {"cart", "guess"}, new String[] {"card", PASSWORD})) {
      // Each at a datacenter of its own: both try again and again, and would be slowed down soon.
      OsierClient client =
          build(builder(withCart(EVERYTHING)).user(login[0], login[1].toCharArray()));
      said.add(
          failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG)).getMessage());
      failure(
          ErrorCode.NOT_AUTHENTICATED, () -> client.session().keyspace("shop").counter("c").get());
      client.close();
    }
    assertThat(said.getFirst()).contains("the user is unknown, or the password is wrong");
    assertThat(said.getLast()).isEqualTo(said.getFirst());
  }

  @Test
  void userWhoIsCreatedLater_getsInByItself() {
    Datacenter eu = start("other {}", "");
    OsierClient client = build(builder(eu).user("cart", PASSWORD.toCharArray()));
    failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG));
    eu.setUsers(only("cart", "read shop"));
    await()
        .ignoreExceptionsInstanceOf(OsierException.class)
        .untilAsserted(
            () -> assertThat(client.session().keyspace("shop").counter("c").get()).isZero());
  }

  @Test
  void passwordSupplier_isAskedForEachConnection_andItsTroubleIsNotShown() {
    Datacenter eu = withCart(EVERYTHING);
    OsierClient client =
        build(
            builder(eu)
                .user(
                    "cart",
                    () -> {
                      throw new IllegalStateException("the secret is " + PASSWORD);
                    }));
    OsierException e = failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG));
    assertThat(e).hasMessageContaining("IllegalStateException");
    assertThat(e.getMessage()).doesNotContain(PASSWORD);
  }

  @Test
  void defaultUser_isWhoDoesNotLogIn_andCanBeSwitchedOff() {
    Datacenter eu = start(cart(EVERYTHING) + ", default { rights = [\"read shop public:\"] }", "");
    OsierClient anybody = build(builder(eu));
    anybody.awaitConnected(LONG);
    Keyspace shop = anybody.session().keyspace("shop");
    assertThat(shop.counter("public:c").get()).isZero();
    forbidden("write shop public:c", () -> shop.counter("public:c").increment(1));
    forbidden("read shop c", () -> shop.counter("c").get());
    eu.setUsers(only("cart", "read *"));
    await()
        .untilAsserted(
            () ->
                failure(
                    ErrorCode.NOT_AUTHENTICATED,
                    () -> anybody.awaitConnected(Duration.ofMillis(1))));
  }

  private static ErrorCode refusal(RawClient client) throws IOException {
    Reply reply = client.reply().message();
    assertThat(reply).isInstanceOf(Reply.Failure.class);
    assertThat(client.isEnded()).isTrue();
    return ((Reply.Failure) reply).code();
  }

  @Test
  void nothingIsDone_beforeTheLoginIsThrough() throws Exception {
    Datacenter eu = withCart(EVERYTHING);
    Request read = Requests.read("shop", Key.of("c"), Optional.empty(), new Query.Whole());
    assertThat(refusal(raw(eu, "127.0.0.1").send(RawClient.frame(1, read))))
        .isEqualTo(ErrorCode.MALFORMED);
    assertThat(refusal(raw(eu, "127.0.0.1").send(proof("c=biws,r=x,p=y"))))
        .isEqualTo(ErrorCode.MALFORMED);
    for (byte[] instead :
        List.of(
            RawClient.frame(1, read),
            login("n,,n=cart,r=abc"),
            RawClient.frame(0, new Greeting.Hello(Request.PROTOCOL_VERSION, "raw")))) {
      RawClient client = raw(eu, "127.0.0.1");
      challenge(client, "n,,n=cart,r=abc");
      assertThat(refusal(client.send(instead))).isEqualTo(ErrorCode.MALFORMED);
    }
  }

  @Test
  void largeMessagesOfALogin_areRefused() throws Exception {
    Datacenter eu = withCart(EVERYTHING);
    String large = "n,,n=cart,r=" + "x".repeat(Request.LOGIN_BYTES_MAX);
    assertThat(refusal(raw(eu, "127.0.0.1").send(login(large)))).isEqualTo(ErrorCode.MALFORMED);
    RawClient larger = raw(eu, "127.0.0.1").send(login("x".repeat(1 << 10)));
    assertThat(larger.isEnded()).isTrue();
    RawClient after = raw(eu, "127.0.0.1");
    challenge(after, "n,,n=cart,r=abc");
    assertThat(after.send(proof("x".repeat(1 << 10))).isEnded()).isTrue();
  }

  @Test
  void recordedLogin_isOfNoUseToAnother() throws Exception {
    Datacenter eu = withCart(EVERYTHING);
    ScramClient scram = scram("cart", PASSWORD);
    String first = scram.clientFirstMessage().toString();
    RawClient honest = raw(eu, "127.0.0.1");
    scram.serverFirstMessage(challenge(honest, first));
    String last = scram.clientFinalMessage().toString();
    assertThat(honest.send(proof(last)).reply().message()).isInstanceOf(Reply.Challenge.class);
    assertThat(honest.reply().message()).isInstanceOf(Reply.Welcome.class);

    RawClient thief = raw(eu, "127.0.0.1");
    String asked = challenge(thief, first);
    assertThat(refusal(thief.send(proof(last)))).isEqualTo(ErrorCode.MALFORMED);
    // With the nonce that is asked for now it is the wrong proof.
    RawClient again = raw(eu, "127.0.0.1");
    String nonce = challenge(again, first).replaceAll("r=([^,]*),.*", "$1");
    assertThat(refusal(again.send(proof("c=biws,r=" + nonce + last.replaceAll(".*(,p=)", "$1")))))
        .isEqualTo(ErrorCode.NOT_AUTHENTICATED);
    assertThat(asked).doesNotContain(nonce);
  }

  @Test
  void halfALogin_isClosedInTime_andNobodyWaitsForIt() throws Exception {
    Datacenter eu = start(cart(EVERYTHING), "listen.greeting-timeout = 5s");
    List<RawClient> idle = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      RawClient one = raw(eu, "127.0.0.1");
      challenge(one, "n,,n=cart,r=abc" + i);
      idle.add(one);
    }
    asCart(eu).session().keyspace("shop").counter("c").increment(1);
    for (RawClient one : idle) {
      assertThat(one.isEnded()).isTrue();
    }
  }

  @Test
  void unknownUsers_areAskedAsKnownOnesAre_afterARestart_too(@TempDir Path dir) throws Exception {
    String store = "store.dir = \"" + dir + "\"";
    Datacenter eu = start(cart(EVERYTHING), store);
    String known = challenge(raw(eu, "127.0.0.1"), "n,,n=cart,r=abc");
    String unknown = challenge(raw(eu, "127.0.0.1"), "n,,n=card,r=abc");
    String form = "r=abc[!-~&&[^,]]{24},s=[A-Za-z0-9+/]{22}==,i=4096";
    assertThat(known).matches(form);
    assertThat(unknown).matches(form);
    eu.close();
    Datacenter again = start(cart(EVERYTHING), store);
    assertThat(salt(challenge(raw(again, "127.0.0.1"), "n,,n=card,r=abc")))
        .isEqualTo(salt(unknown));
    assertThat(salt(challenge(raw(again, "127.0.0.1"), "n,,n=cart,r=abc"))).isEqualTo(salt(known));
  }

  private static String salt(String challenge) {
    return challenge.replaceAll(".*,s=([^,]*),.*", "$1");
  }

  /**
   * Guesses from an address. The fifth wrong password is followed by a pause of a second, and each
   * more by one that is twice as long: not even the right one is looked at then, nor another
   * user's.
   *
   * @return false if the last pause was over before that could be seen
   */
  private boolean isSlowedDown(Datacenter eu, String from) throws Exception {
    int wrong = 0;
    long lastNanos = 0;
    for (int i = 0; i < 40; i++) {
      long now = System.nanoTime();
      ErrorCode code = tryPassword(eu, from, "cart", "guess" + i);
      assertThat(code).isIn(ErrorCode.NOT_AUTHENTICATED, ErrorCode.OVERLOADED);
      if (code == ErrorCode.NOT_AUTHENTICATED) {
        wrong++;
        lastNanos = now;
      }
    }
    assertThat(wrong).isBetween(5, 20);
    ErrorCode right = tryPassword(eu, from, "cart", PASSWORD);
    ErrorCode other = tryPassword(eu, from, "bank", PASSWORD);
    if (System.nanoTime() - lastNanos >= 1_000_000_000L << (wrong - 5)) {
      return false;
    }
    assertThat(List.of(right, other)).containsOnly(ErrorCode.OVERLOADED);
    return true;
  }

  @Test
  void floodOfBadPasswords_isSlowedDown_andOthersWorkOn() throws Exception {
    Datacenter eu;
    OsierClient working;
    do {
      eu = start(cart(EVERYTHING) + ", " + cart(EVERYTHING).replace("cart {", "bank {"), "");
      working = asCart(eu); // known from 127.0.0.1 from now on
    } while (!isSlowedDown(eu, "127.0.0.66"));
    // The user whose password is guessed is let in from where it has been before; others anywhere.
    working.session().keyspace("shop").counter("c").increment(1);
    asCart(eu).session().keyspace("shop").counter("c").increment(1);
    OsierClient bank = build(builder(eu).user("bank", PASSWORD.toCharArray()));
    bank.awaitConnected(LONG);
    assertThat(bank.session().keyspace("shop").counter("c").get()).isEqualTo(2);
  }

  // ---------------------------------------------------------------- certificates

  @Test
  void usersCertificate_logsIn_withoutAPassword(@TempDir Path certs) {
    CertificateMaker.authority(certs, "osier", 10);
    CertificateMaker.signed(
        certs, "eu", TlsName.ofDatacenter("osier", "eu"), List.of("localhost", "127.0.0.1"), 10);
    CertificateMaker.signed(certs, "cart", TlsName.ofUser("osier", "cart"), List.of(), 10);
    CertificateMaker.signed(certs, "card", TlsName.ofUser("osier", "card"), List.of(), 10);
    CertificateMaker.signed(certs, "far", TlsName.ofUser("other", "cart"), List.of(), 10);
    Datacenter eu =
        start(
            "cart { rights = [\"read shop\"] }",
            """
            tls {
              certificate = "%1$s/eu.pem", key = "%1$s/eu.key", authorities = "%1$s/authority.pem"
              client-certificates = optional
            }
            """
                .formatted(certs));
    TlsOptions tls = TlsOptions.DEFAULT.authorities(certs.resolve("authority.pem"));
    OsierClient cart =
        build(
            builder(eu).tls(tls.certificate(certs.resolve("cart.pem"), certs.resolve("cart.key"))));
    cart.awaitConnected(LONG);
    assertThat(cart.session().keyspace("shop").counter("c").get()).isZero();
    forbidden("write shop c", () -> cart.session().keyspace("shop").counter("c").increment(1));
    for (String other : List.of("card", "far")) {
      OsierClient client =
          build(
              builder(eu)
                  .tls(
                      tls.certificate(
                          certs.resolve(other + ".pem"), certs.resolve(other + ".key"))));
      failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG));
    }
    OsierClient without = build(builder(eu).tls(tls));
    failure(ErrorCode.NOT_AUTHENTICATED, () -> without.awaitConnected(LONG));
  }
}
