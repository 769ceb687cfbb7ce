package io.osier.proxy.connection;

import static io.osier.core.Present.present;

import com.ongres.scram.client.ScramClient;
import com.ongres.scram.common.ServerFirstMessage;
import com.ongres.scram.common.StringPreparation;
import com.ongres.scram.common.exception.ScramException;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One login of a client by SCRAM: the client's first message, its proof, and the datacenter's own
 * proof. Each connection uses a new one. Hashing takes some ten milliseconds, so {@link #first} and
 * {@link #answer} must not run in an event loop. {@link #toString} shows no secret. Thread-safe.
 */
public final class ScramLogin {
  /**
   * The user that logs in.
   *
   * @param password called at each login; the array is overwritten after use
   */
  public record User(String name, Supplier<char[]> password) {
    public User {
      present(name, "a user's name");
      present(password, "a password");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private final User user;
  private final String nonce;
  private @Nullable ScramClient client;
  private boolean answered;
  private boolean proven;

  /**
   * Makes a login.
   *
   * @param nonce a random text for this login alone, of printable characters without commas
   */
  ScramLogin(User user, String nonce) {
    this.user = user;
    this.nonce = nonce;
  }

  /**
   * Asks for the password, and returns the first message.
   *
   * @throws OsierException INVALID_ARGUMENT if the name or the password is invalid
   */
  synchronized String first() {
    char[] password = present(user.password().get(), "a password");
    try {
      client =
          ScramClient.builder()
              .advertisedMechanisms(List.of(ScramCredential.MECHANISM))
              .username(user.name())
              .password(ScramCredential.checked(password).clone())
              .stringPreparation(StringPreparation.SASL_PREPARATION)
              .nonceSupplier(() -> nonce)
              .build();
      return client.clientFirstMessage().toString();
    } catch (IllegalArgumentException e) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "'" + user.name() + "' cannot be a user's name");
    } finally {
      Arrays.fill(password, '\0');
    }
  }

  /**
   * Returns whether the datacenter's next message is a challenge to answer; otherwise it is its
   * proof.
   */
  synchronized boolean isToAnswer() {
    return !answered;
  }

  /**
   * Returns the client's proof for a challenge.
   *
   * @throws OsierException MALFORMED if the text is no challenge, or its number of iterations is
   *     out of range
   */
  synchronized String answer(String challenge) {
    ScramClient of = begun();
    answered = true;
    try {
      ServerFirstMessage asked = of.serverFirstMessage(challenge);
      if (asked.getIterationCount() > ScramCredential.ITERATIONS_MAX
          || asked.getIterationCount() < ScramCredential.ITERATIONS_MIN) {
        throw OsierException.of(
            ErrorCode.MALFORMED,
            "the datacenter asks for "
                + asked.getIterationCount()
                + " iterations of the password hash; this client accepts "
                + ScramCredential.ITERATIONS_MIN
                + " to "
                + ScramCredential.ITERATIONS_MAX);
      }
      return of.clientFinalMessage().toString();
    } catch (ScramException | IllegalArgumentException e) {
      throw malformed();
    }
  }

  /**
   * Verifies the datacenter's proof that it knows the user.
   *
   * @throws OsierException NOT_AUTHENTICATED if the proof is wrong
   */
  synchronized void verify(String proof) {
    try {
      begun().serverFinalMessage(proof);
    } catch (ScramException | IllegalArgumentException | IllegalStateException e) {
      throw OsierException.of(
          ErrorCode.NOT_AUTHENTICATED,
          "the other end could not prove that it knows this user's password, so it is not trusted:"
              + " check the endpoint's address");
    }
    proven = true;
    client = null; // drops all secrets
  }

  /** Returns whether the datacenter has proved that it knows the user. */
  synchronized boolean isProven() {
    return proven;
  }

  private ScramClient begun() {
    ScramClient of = client;
    if (of == null) {
      throw malformed();
    }
    return of;
  }

  private static OsierException malformed() {
    return OsierException.of(
        ErrorCode.MALFORMED, "the datacenter sent a malformed login message (not SCRAM-SHA-256)");
  }
}
