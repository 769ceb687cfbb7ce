package io.osier.proxy.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.FakeServer;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** A client that logs in, and datacenters that are none of its own. */
final class ScramLoginTest {
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final String PASSWORD = "correct horse";
  private static final Reply.Welcome WELCOME =
      new Reply.Welcome(
          Request.PROTOCOL_VERSION,
          new ReplicaId("eu", 100),
          List.of(new Reply.KeyspaceInfo("shop", 500, 1, false)));

  private final List<String> heard = new CopyOnWriteArrayList<>();

  /** A datacenter that answers the messages of logins so; everything else with Welcome. */
  private FakeServer impostor(UnaryOperator<String> first, UnaryOperator<String> last)
      throws IOException {
    return new FakeServer(
        request ->
            switch (request) {
              case Greeting.Login l -> said(l.message(), first);
              case Greeting.Proof p -> said(p.message(), last);
              default -> WELCOME;
            });
  }

  private Reply said(String message, UnaryOperator<String> answer) {
    heard.add(message);
    String text = answer.apply(message);
    return text.isEmpty() ? WELCOME : new Reply.Challenge(text);
  }

  private static String challenge(String first, String nonce, int iterations) {
    return "r=" + first.replaceAll(".*,r=", "") + nonce + ",s=c2FsdHNhbHQ=,i=" + iterations;
  }

  private static void assertRefused(FakeServer by, ErrorCode code, String why) {
    try (OsierClient client =
        OsierClient.builder()
            .endpoint("eu", by.address())
            .user("cart", PASSWORD.toCharArray())
            .build()) {
      await()
          .atMost(LONG)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> client.awaitConnected(Duration.ofMillis(1)))
                      .isInstanceOfSatisfying(
                          OsierException.class,
                          e -> {
                            assertThat(e.code()).isEqualTo(code);
                            assertThat(e).hasMessageContaining(why);
                          }));
      assertThat(client.nearest()).isEmpty();
    }
    assertThat(by.requests).isEmpty();
  }

  /** What a datacenter says that speaks versions 2 and 3. */
  @Test
  void datacenter_thatIsTooOld_isCalledSo() throws IOException {
    String words = "client protocol 4 is not one of 2 to 3, which this datacenter speaks";
    try (FakeServer eu =
        new FakeServer(request -> new Reply.Failure(ErrorCode.VERSION_MISMATCH, words))) {
      assertRefused(eu, ErrorCode.VERSION_MISMATCH, "the datacenter is too old for this client");
      assertRefused(eu, ErrorCode.VERSION_MISMATCH, words);
    }
  }

  @Test
  void datacenter_thatWantsNoProof_isNotTrusted() throws IOException {
    try (FakeServer eu = impostor(first -> "", last -> "")) {
      assertRefused(eu, ErrorCode.NOT_AUTHENTICATED, "skipped the proof");
    }
    try (FakeServer eu = impostor(first -> challenge(first, "n", 4_096), last -> "")) {
      assertRefused(eu, ErrorCode.NOT_AUTHENTICATED, "skipped the proof");
    }
  }

  @Test
  void datacenter_thatDoesNotKnowThePassword_isNotTrusted_andDoesNotLearnIt() throws IOException {
    try (FakeServer eu =
        impostor(
            first -> challenge(first, "n", 4_096),
            last -> "v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")) {
      assertRefused(eu, ErrorCode.NOT_AUTHENTICATED, "could not prove that it knows this user");
    }
    assertThat(heard).isNotEmpty().noneMatch(m -> m.contains(PASSWORD));
  }

  @Test
  void challenge_thatTakesFarTooLong_orIsOfAnotherLogin_isNotAnswered() throws IOException {
    try (FakeServer eu = impostor(first -> challenge(first, "n", 1_000_000_000), last -> "")) {
      assertRefused(eu, ErrorCode.MALFORMED, "iterations of the password hash");
    }
    try (FakeServer eu = impostor(first -> challenge(first, "n", 1), last -> "")) {
      assertRefused(eu, ErrorCode.MALFORMED, "iterations of the password hash");
    }
    try (FakeServer eu =
        impostor(first -> challenge("n,,n=cart,r=another", "n", 4_096), last -> "")) {
      assertRefused(eu, ErrorCode.MALFORMED, "malformed login message");
    }
    assertThat(heard).noneMatch(m -> m.contains("p="));
  }

  @Test
  void pauses_afterRefusedLogins_grow_andEnd() {
    long before = 0;
    int refusals = 1;
    while (RemoteConnection.loginPauseMillis(refusals).isPresent()) {
      long pause = RemoteConnection.loginPauseMillis(refusals++).getAsLong();
      assertThat(pause).isBetween(Math.max(1, before), 60_000L);
      before = pause;
      assertThat(refusals).isLessThan(100);
    }
    assertThat(before).isEqualTo(60_000);
  }

  @Test
  void password_isOverwritten_onceItWasUsed() {
    char[] given = PASSWORD.toCharArray();
    ScramLogin login = new ScramLogin(new ScramLogin.User("cart", () -> given), "nonce");
    assertThat(login.first()).startsWith("n,,n=cart,r=");
    assertThat(given).containsOnly('\0');
    assertThat(new ScramLogin.User("cart", () -> given)).hasToString("cart");
  }

  @Test
  void wrongNameOrPassword_isRefusedAtOnce_andNotShown() {
    assertThatThrownBy(() -> OsierClient.builder().user("cart", new char[0]))
        .isInstanceOf(OsierException.class);
    assertThatThrownBy(() -> OsierClient.builder().user("cart", "be\u0007ll".toCharArray()))
        .isInstanceOf(OsierException.class)
        .hasMessageNotContaining("be\u0007ll");
    char[] own = PASSWORD.toCharArray();
    OsierClient.Builder builder = OsierClient.builder().user("cart", own);
    Arrays.fill(own, 'x'); // the builder has a copy
    assertThat(builder).isNotNull();
    assertThatThrownBy(
            () -> new ScramLogin(new ScramLogin.User("", PASSWORD::toCharArray), "nonce").first())
        .isInstanceOf(OsierException.class);
  }
}
