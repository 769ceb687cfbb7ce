package io.osier.datacenter.frontend;

import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks passwords that come in clear text against credentials. Hashing one takes 10 ms, so the
 * right ones are remembered, by a hash with a secret key, while the user has the same credential,
 * for the {@value #PLACES} users that were used last. Thread-safe.
 */
public final class PasswordCheck {
  private static final int PLACES = 10_000;

  private record Right(byte[] digest, ScramCredential of) {}

  private final byte[] key = new byte[32];
  private final Map<String, Right> remembered =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Right> eldest) {
          return size() > PLACES;
        }
      };

  public PasswordCheck() {
    new SecureRandom().nextBytes(key);
  }

  /** Returns whether a password is remembered as right; does not hash it slowly. */
  public boolean remembers(String user, char[] password, ScramCredential credential) {
    @Nullable Right last;
    synchronized (remembered) {
      last = remembered.get(user);
    }
    return last != null
        && last.of.equals(credential)
        && MessageDigest.isEqual(last.digest, digest(user, password));
  }

  /** Returns whether a password is right; takes as long as hashing it, unless it is remembered. */
  public boolean isRight(String user, char[] password, ScramCredential credential) {
    if (remembers(user, password, credential)) {
      return true;
    }
    try {
      if (!credential.isOf(password)) {
        return false;
      }
    } catch (OsierException e) {
      return false; // it is no valid password of any user
    }
    Right right = new Right(digest(user, password), credential);
    synchronized (remembered) {
      remembered.put(user, right);
    }
    return true;
  }

  private byte[] digest(String user, char[] password) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      sha.update(key);
      sha.update(user.getBytes(StandardCharsets.UTF_8));
      sha.update((byte) 0);
      byte[] bytes = new String(password).getBytes(StandardCharsets.UTF_8);
      byte[] made = sha.digest(bytes);
      Arrays.fill(bytes, (byte) 0);
      return made;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
