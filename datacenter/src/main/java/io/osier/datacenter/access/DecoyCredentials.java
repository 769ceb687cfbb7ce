package io.osier.datacenter.access;

import com.ongres.scram.common.ScramFunctions;
import com.ongres.scram.common.ScramMechanism;
import io.osier.core.scram.ScramCredential;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Makes credentials for names without a user: a login with such a name gets a challenge like any
 * other, always with the same salt, so that logins do not reveal which users exist. Immutable;
 * {@link #toString} shows nothing of the secret.
 */
public final class DecoyCredentials {
  public static final int SECRET_BYTES = 32;

  private final byte[] secret;

  /**
   * Makes it from a secret.
   *
   * @param secret {@value #SECRET_BYTES} random bytes, the same after a restart
   */
  public DecoyCredentials(byte[] secret) {
    if (secret.length != SECRET_BYTES) {
      throw new IllegalArgumentException("a secret has " + SECRET_BYTES + " bytes");
    }
    this.secret = secret.clone();
  }

  /**
   * Returns the credential for a name, which fits no password.
   *
   * @param users the present users, among whose numbers of iterations one is chosen
   */
  public ScramCredential of(String name, Users users) {
    byte[] drawn = derive("iterations", name);
    int chance = (drawn[0] & 0xff) << 16 | (drawn[1] & 0xff) << 8 | (drawn[2] & 0xff);
    return new ScramCredential(
        salt(name), users.iterations(chance), derive("stored", name), derive("server", name));
  }

  /** Returns the salt for a name, which is also used for passwords from a configuration file. */
  public byte[] salt(String name) {
    return Arrays.copyOf(derive("salt", name), ScramCredential.SALT_BYTES);
  }

  private byte[] derive(String what, String name) {
    List<String> of = List.of("osier", what, name);
    return ScramFunctions.hmac(
        ScramMechanism.SCRAM_SHA_256,
        String.join("\0", of).getBytes(StandardCharsets.UTF_8),
        secret);
  }

  @Override
  public String toString() {
    return "decoys";
  }
}
