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
 * As whom a client logs in, and one login of it: a message, a proof, and the datacenter's own
 * proof. Hashing takes some ten milliseconds, so {@link #first} and {@link #answer} are not for a
 * connection's loop. What a login needs is passed from one step to the next; a new one is made for
 * each connection. {@link #toString} shows no secret.
 */
public final class ScramLogin {
  /**
   * Who logs in.
   *
   * @param password asked for at each login; what it gives is overwritten afterwards
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
   * @param nonce drawn at random for this login alone, of printable characters without commas
   */
  ScramLogin(User user, String nonce) {
    this.user = user;
    this.nonce = nonce;
  }

  /**
   * The first message; asks for the password.
   *
   * @throws OsierException INVALID_ARGUMENT if name or password cannot be one
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

  /** Whether the next challenge is to be answered; otherwise it is the datacenter's proof. */
  synchronized boolean isToAnswer() {
    return !answered;
  }

  /**
   * The proof for a challenge.
   *
   * @throws OsierException MALFORMED if it is none, or asks for too much
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
            "the datacenter wants the password hashed "
                + asked.getIterationCount()
                + " times, which is not done");
      }
      return of.clientFinalMessage().toString();
    } catch (ScramException | IllegalArgumentException e) {
      throw malformed();
    }
  }

  /**
   * Looks at the datacenter's proof that it knows the user.
   *
   * @throws OsierException NOT_AUTHENTICATED if it does not
   */
  synchronized void verify(String proof) {
    try {
      begun().serverFinalMessage(proof);
    } catch (ScramException | IllegalArgumentException | IllegalStateException e) {
      throw OsierException.of(
          ErrorCode.NOT_AUTHENTICATED,
          "the other end does not prove that it knows the user: it may be a wrong one");
    }
    proven = true;
    client = null; // and with it all that is secret
  }

  /** Whether the datacenter has proved that it knows the user. */
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
    return OsierException.of(ErrorCode.MALFORMED, "what the datacenter sent is no part of a login");
  }
}
