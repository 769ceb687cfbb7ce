package io.osier.core.scram;

import com.ongres.scram.common.ScramFunctions;
import com.ongres.scram.common.ScramMechanism;
import com.ongres.scram.common.StringPreparation;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A datacenter's credential for a password: enough to check that a client knows the password, and
 * to prove to the client that the datacenter has the credential, but nothing with which to log in.
 * Immutable.
 *
 * <p>As text it is one line, the one that PostgreSQL uses:
 *
 * <pre>SCRAM-SHA-256$ITERATIONS:SALT$STORED_KEY:SERVER_KEY</pre>
 *
 * with the last three in Base64. {@link #toString} shows nothing of the keys.
 */
public final class ScramCredential {
  /** The mechanism's name, in logins and in texts. */
  public static final String MECHANISM = "SCRAM-SHA-256";

  /** How often a password is hashed by default; a client's login then takes 10 ms. */
  public static final int ITERATIONS = 16_384;

  /** The least number of iterations: RFC 7677. */
  public static final int ITERATIONS_MIN = 4_096;

  /** The largest number: more would only serve to keep a client busy. */
  public static final int ITERATIONS_MAX = 1_000_000;

  /** The number of bytes of a random salt. */
  public static final int SALT_BYTES = 16;

  /** Longest password, in characters. */
  public static final int PASSWORD_CHARS_MAX = 1_024;

  private static final int SALT_BYTES_MAX = 64;
  private static final int KEY_BYTES = 32;
  private static final Pattern LINE =
      Pattern.compile(
          "SCRAM-SHA-256\\$([1-9][0-9]{0,6}):([A-Za-z0-9+/=]{1,100})"
              + "\\$([A-Za-z0-9+/=]{44}):([A-Za-z0-9+/=]{44})");

  private final byte[] salt;
  private final int iterations;
  private final byte[] storedKey;
  private final byte[] serverKey;

  /**
   * Creates a credential of its parts, which are copied.
   *
   * @throws OsierException INVALID_ARGUMENT if a part has a size that is not allowed
   */
  public ScramCredential(byte[] salt, int iterations, byte[] storedKey, byte[] serverKey) {
    if (salt.length == 0
        || salt.length > SALT_BYTES_MAX
        || iterations < ITERATIONS_MIN
        || iterations > ITERATIONS_MAX
        || storedKey.length != KEY_BYTES
        || serverKey.length != KEY_BYTES) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a credential has a salt of 1 to "
              + SALT_BYTES_MAX
              + " bytes, from "
              + ITERATIONS_MIN
              + " to "
              + ITERATIONS_MAX
              + " iterations, and two keys of "
              + KEY_BYTES
              + " bytes");
    }
    this.salt = salt.clone();
    this.iterations = iterations;
    this.storedKey = storedKey.clone();
    this.serverKey = serverKey.clone();
  }

  /**
   * Returns the credential of a password. Takes as long as {@code iterations} hashes do, on
   * purpose.
   *
   * @param password prepared as RFC 4013 says (SASLprep), so that every keyboard gives the same
   *     one; not changed
   * @param salt drawn at random
   * @throws OsierException INVALID_ARGUMENT if the password is empty, too long, or has characters
   *     that no password may have; the message does not show it
   */
  public static ScramCredential of(char[] password, byte[] salt, int iterations) {
    if (iterations < ITERATIONS_MIN || iterations > ITERATIONS_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "iterations must be from " + ITERATIONS_MIN + " to " + ITERATIONS_MAX);
    }
    byte[] salted =
        ScramFunctions.saltedPassword(
            ScramMechanism.SCRAM_SHA_256,
            StringPreparation.SASL_PREPARATION,
            checked(password),
            salt,
            iterations);
    byte[] clientKey = ScramFunctions.clientKey(ScramMechanism.SCRAM_SHA_256, salted);
    ScramCredential made =
        new ScramCredential(
            salt,
            iterations,
            ScramFunctions.storedKey(ScramMechanism.SCRAM_SHA_256, clientKey),
            ScramFunctions.serverKey(ScramMechanism.SCRAM_SHA_256, salted));
    Arrays.fill(salted, (byte) 0);
    Arrays.fill(clientKey, (byte) 0);
    return made;
  }

  /**
   * Returns the password itself if it is valid.
   *
   * @throws OsierException INVALID_ARGUMENT if it is empty, too long, or has characters that no
   *     password may have; the message does not show it
   */
  public static char[] checked(char[] password) {
    if (password.length == 0 || password.length > PASSWORD_CHARS_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          password.length == 0
              ? "a password must not be empty"
              : "a password has at most " + PASSWORD_CHARS_MAX + " characters");
    }
    try {
      if (StringPreparation.SASL_PREPARATION.normalize(password).length > 0) {
        return password;
      }
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      // It has characters that are not allowed, or only ones that are left out. The cause may show
      // it.
    }
    throw OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        "the password has characters that no password may have: control characters, for example");
  }

  /**
   * Parses the text of a credential.
   *
   * @throws OsierException INVALID_ARGUMENT if it is none; the message does not show it
   */
  public static ScramCredential parse(String line) {
    Matcher parts = LINE.matcher(line);
    if (parts.matches()) {
      try {
        Base64.Decoder base64 = Base64.getDecoder();
        return new ScramCredential(
            base64.decode(parts.group(2)),
            Integer.parseInt(parts.group(1)),
            base64.decode(parts.group(3)),
            base64.decode(parts.group(4)));
      } catch (IllegalArgumentException | OsierException e) {
        // The error follows below, without the text.
      }
    }
    throw OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        "a credential is a line of the form SCRAM-SHA-256$ITERATIONS:SALT$STORED_KEY:SERVER_KEY,"
            + " with "
            + ITERATIONS_MIN
            + " to "
            + ITERATIONS_MAX
            + " iterations; osier credential makes one");
  }

  /** Returns the text of this credential: less secret than a password, but not public. */
  public String line() {
    Base64.Encoder base64 = Base64.getEncoder();
    return MECHANISM
        + "$"
        + iterations
        + ":"
        + base64.encodeToString(salt)
        + "$"
        + base64.encodeToString(storedKey)
        + ":"
        + base64.encodeToString(serverKey);
  }

  /** Returns a copy of the salt. */
  public byte[] salt() {
    return salt.clone();
  }

  /** Returns how often the password was hashed. */
  public int iterations() {
    return iterations;
  }

  /** Returns a copy of the key that a client's proof is checked with. */
  public byte[] storedKey() {
    return storedKey.clone();
  }

  /** Returns a copy of the key with which a datacenter proves that it knows the user. */
  public byte[] serverKey() {
    return serverKey.clone();
  }

  /**
   * Whether this is the credential of a password. Takes as long as {@link #of}.
   *
   * @throws OsierException INVALID_ARGUMENT if it cannot be a password
   */
  public boolean isOf(char[] password) {
    return of(password, salt, iterations).equals(this);
  }

  @Override
  public boolean equals(@Nullable Object o) {
    // Every byte is compared, so that the time does not show where they differ.
    if (!(o instanceof ScramCredential c)) {
      return false;
    }
    return iterations == c.iterations
        && Arrays.equals(salt, c.salt)
        && (difference(storedKey, c.storedKey) | difference(serverKey, c.serverKey)) == 0;
  }

  private static int difference(byte[] a, byte[] b) {
    int all = 0;
    for (int i = 0; i < KEY_BYTES; i++) {
      all |= a[i] ^ b[i];
    }
    return all;
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(salt);
  }

  @Override
  public String toString() {
    return MECHANISM + " with " + iterations + " iterations";
  }
}
