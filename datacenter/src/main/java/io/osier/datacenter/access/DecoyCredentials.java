package io.osier.datacenter.access;

import com.ongres.scram.common.ScramFunctions;
import com.ongres.scram.common.ScramMechanism;
import io.osier.core.scram.ScramCredential;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Credentials of users that there are not: who asks for one of them is asked for a proof as anybody
 * is, always with the same salt, so that nobody can tell by a login which users there are.
 * Immutable; {@link #toString} shows nothing of the secret.
 */
public final class DecoyCredentials {
  public static final int SECRET_BYTES = 32;

  private final byte[] secret;

  /**
   * @param secret drawn at random once, and the same after a restart and at every datacenter
   */
  public DecoyCredentials(byte[] secret) {
    if (secret.length != SECRET_BYTES) {
      throw new IllegalArgumentException("a secret has " + SECRET_BYTES + " bytes");
    }
    this.secret = secret.clone();
  }

  /**
   * The credential for a name. No password is its own.
   *
   * @param users whose iterations it looks like
   */
  public ScramCredential of(String name, Users users) {
    byte[] drawn = derive("iterations", name);
    int chance = (drawn[0] & 0xff) << 16 | (drawn[1] & 0xff) << 8 | (drawn[2] & 0xff);
    return new ScramCredential(
        salt(name), users.iterations(chance), derive("stored", name), derive("server", name));
  }

  /** The salt for a name; also what a password from a file is made a credential with. */
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
