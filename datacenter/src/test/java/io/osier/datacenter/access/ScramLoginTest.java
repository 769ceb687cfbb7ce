package io.osier.datacenter.access;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ongres.scram.client.ScramClient;
import com.ongres.scram.common.exception.ScramInvalidServerSignatureException;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.testing.Refused;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ScramLoginTest {
  private static final DecoyCredentials DECOYS =
      new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]);
  private static final int ITERATIONS = ScramCredential.ITERATIONS_MIN;
  private static final Users USERS = new Users(List.of(user("cart", "pencil")));

  private static User user(String name, String password) {
    return new User(
        name,
        Optional.of(
            ScramCredential.of(
                password.toCharArray(),
                "salt of cart 123".getBytes(StandardCharsets.US_ASCII),
                ITERATIONS)),
        List.of(Grant.on(Grant.Right.READ, "shop")));
  }

  private static ScramClient client(String user, String password) {
    return ScramClient.builder()
        .advertisedMechanisms(List.of(ScramCredential.MECHANISM))
        .username(user)
        .password(password.toCharArray())
        .build();
  }

  private static ScramLogin login(String nonce) {
    return new ScramLogin(USERS, DECOYS, nonce);
  }

  private static String proof(ScramClient client, ScramLogin login) throws Exception {
    client.serverFirstMessage(login.challenge(client.clientFirstMessage().toString()));
    return client.clientFinalMessage().toString();
  }

  @Test
  void rightPassword_isAccepted_andTheClientLearnsThatItWasKnown() throws Exception {
    ScramClient client = client("cart", "pencil");
    ScramLogin login = login("n1");
    ScramLogin.Verdict verdict = login.verdict(proof(client, login));
    assertThat(verdict)
        .isInstanceOfSatisfying(
            ScramLogin.Verdict.Accepted.class,
            a -> {
              assertThat(a.identity().user()).isEqualTo("cart");
              assertThat(a.identity().in(USERS)).isPresent();
            });
    client.serverFinalMessage(((ScramLogin.Verdict.Accepted) verdict).proof());
  }

  @Test
  void serverThatDoesNotKnowThePassword_isSeenThrough() throws Exception {
    ScramClient client = client("cart", "pencil");
    proof(client, login("n1"));
    assertThatThrownBy(
            () ->
                client.serverFinalMessage("v=" + Base64.getEncoder().encodeToString(new byte[32])))
        .isInstanceOf(ScramInvalidServerSignatureException.class);
  }

  @Test
  void challengeOfAnUnknownUser_looksLikeThatOfAKnownOne_andIsTheSameEachTime() {
    String known = login("n1").challenge("n,,n=cart,r=abc");
    String unknown = login("n1").challenge("n,,n=nobody,r=abc");
    assertThat(known).matches("r=abcn1,s=[A-Za-z0-9+/]{22}==,i=4096");
    assertThat(unknown).matches("r=abcn1,s=[A-Za-z0-9+/]{22}==,i=4096");
    assertThat(login("n1").challenge("n,,n=nobody,r=abc")).isEqualTo(unknown);
    assertThat(login("n1").challenge("n,,n=nobody2,r=abc")).isNotEqualTo(unknown);
    // Who has the code and not the secret cannot tell what the salt should be.
    DecoyCredentials others =
        new DecoyCredentials(
            new byte[] {
              1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5,
              6, 7, 8
            });
    assertThat(new ScramLogin(USERS, others, "n1").challenge("n,,n=nobody,r=abc"))
        .isNotEqualTo(unknown);
  }

  /** What a login takes says nothing of the user: the same hashes are made, of as many bytes. */
  @Test
  void refusals_takeTheSameWork_whoeverTheUserIs() throws Exception {
    Users dropped = new Users(List.of(user("else", "pencil")));
    Users withoutPassword =
        new Users(List.of(user("else", "pencil"), new User("cart", Optional.empty(), List.of())));
    List<CountedHashes.Work> refused =
        List.of(
            work(USERS, "cart", "wrong", false), // a wrong password
            work(USERS, "card", "wrong", false), // an unknown user
            work(dropped, "cart", "pencil", false), // one who was dropped
            work(withoutPassword, "cart", "wrong", false)); // one who has none
    CountedHashes.Work accepted = work(USERS, "cart", "pencil", true);
    assertThat(refused).containsOnly(accepted);
    assertThat(accepted.macs()).as("it is counted").isGreaterThan(2);
    assertThat(accepted.digests()).isPositive();
  }

  /** What the datacenter's side of a login takes, the client's left out. */
  private static CountedHashes.Work work(Users users, String name, String password, boolean right)
      throws Exception {
    ScramLogin login = new ScramLogin(users, DECOYS, "n1");
    ScramClient client = client(name, password);
    String first = client.clientFirstMessage().toString();
    String[] challenge = new String[1];
    CountedHashes.Work asking = CountedHashes.of(() -> challenge[0] = login.challenge(first));
    client.serverFirstMessage(challenge[0]);
    String last = client.clientFinalMessage().toString();
    ScramLogin.Verdict[] verdict = new ScramLogin.Verdict[1];
    CountedHashes.Work judging = CountedHashes.of(() -> verdict[0] = login.verdict(last));
    assertThat(verdict[0] instanceof ScramLogin.Verdict.Accepted).isEqualTo(right);
    return asking.and(judging);
  }

  @Test
  void userWithoutAPassword_isNotLoggedInByOne() throws Exception {
    Users users =
        new Users(
            List.of(
                new User("bot", Optional.empty(), List.of()),
                new User(Users.DEFAULT, Optional.empty(), List.of())));
    for (String name : List.of("bot", Users.DEFAULT)) {
      ScramLogin login = new ScramLogin(users, DECOYS, "n1");
      assertThat(login.verdict(proof(client(name, "x"), login)))
          .isEqualTo(new ScramLogin.Verdict.Refused());
    }
  }

  @Test
  void replayedProof_ofAnotherLogin_isRefused() throws Exception {
    ScramClient client = client("cart", "pencil");
    ScramLogin first = login("n1");
    String clientFirst = client.clientFirstMessage().toString();
    client.serverFirstMessage(first.challenge(clientFirst));
    String clientFinal = client.clientFinalMessage().toString();
    assertThat(first.verdict(clientFinal)).isInstanceOf(ScramLogin.Verdict.Accepted.class);

    ScramLogin second = login("n2");
    second.challenge(clientFirst);
    assertThatThrownBy(() -> second.verdict(clientFinal)).isInstanceOf(OsierException.class);
    // The nonce as it should be, the proof of the other one.
    ScramLogin third = login("n3");
    third.challenge(clientFirst);
    assertThat(third.verdict(clientFinal.replace("n1,p=", "n3,p=")))
        .isEqualTo(new ScramLogin.Verdict.Refused());
    // And the same login judges once.
    assertThatThrownBy(() -> first.verdict(clientFinal)).isInstanceOf(OsierException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "n",
        "n,,",
        "n,,n=cart",
        "n,,r=abc",
        "p=tls-unique,,n=cart,r=abc",
        "n,a=admin,n=cart,r=abc",
        "n,,n=,r=abc",
        "n,,n=c\u00e4rt,r=abc",
        "n,,n=a=2Cb,r=abc",
        "n,,m=ext,n=cart,r=abc"
      })
  void firstMessage_thatIsNone_isMalformed(String message) {
    refused(ErrorCode.MALFORMED, () -> login("n1").challenge(message));
  }

  @Test
  void lastMessage_thatIsNone_isMalformed() throws Exception {
    String right = proof(client("cart", "pencil"), login("n1"));
    for (String wrong :
        List.of(
            "",
            right.substring(0, right.length() - 1),
            right + ",x=1",
            right.replace("c=biws", "c=eSws"),
            right.replace("r=", "r=x"),
            "c=biws,r=abcn1",
            "e=other-error")) {
      ScramLogin login = login("n1");
      login.challenge("n,,n=cart,r=abc");
      assertThatThrownBy(() -> login.verdict(wrong))
          .as(wrong)
          .is(Refused.with(ErrorCode.MALFORMED));
    }
    assertThatThrownBy(() -> login("n1").verdict(right)).isInstanceOf(OsierException.class);
  }
}
