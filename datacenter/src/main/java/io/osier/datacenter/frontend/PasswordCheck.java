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
 * Compares passwords that come as they are with credentials. To hash one takes 10 ms; what was
 * right is remembered, by a hash whose key nobody knows, as long as the credential is the user's,
 * for the {@value #PLACES} users who have come last. Thread-safe.
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

  /** Whether a password is known to be right, at once. */
  public boolean remembers(String user, char[] password, ScramCredential credential) {
    @Nullable Right last;
    synchronized (remembered) {
      last = remembered.get(user);
    }
    return last != null
        && last.of.equals(credential)
        && MessageDigest.isEqual(last.digest, digest(user, password));
  }

  /** Whether a password is right: takes as long as hashing it does. */
  public boolean isRight(String user, char[] password, ScramCredential credential) {
    if (remembers(user, password, credential)) {
      return true;
    }
    try {
      if (!credential.isOf(password)) {
        return false;
      }
    } catch (OsierException e) {
      return false; // it cannot be anybody's password
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
