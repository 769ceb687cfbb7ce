package io.osier.datacenter.access;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A user with its rights. Immutable; {@link #toString} shows no secret.
 *
 * @param credential the credential made from the password; empty for a user without one, who logs
 *     in by a certificate, or is the {@linkplain Users#DEFAULT default user}
 * @param grants the user's rights
 */
public record User(String name, Optional<ScramCredential> credential, List<Grant> grants) {
  public static final int GRANTS_MAX = 256;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,63}");

  public User {
    checkName(name);
    grants = List.copyOf(grants);
    if (grants.size() > GRANTS_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "user " + name + " has " + grants.size() + " rights; at most " + GRANTS_MAX + " fit");
    }
    if (name.equals(Users.DEFAULT) && credential.isPresent()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "the user default is who does not log in, and so has no password");
    }
  }

  /**
   * Returns the name if it is valid for a user.
   *
   * @throws OsierException INVALID_ARGUMENT if it is not
   */
  public static String checkName(String name) {
    if (!isName(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a user's name has 1 to 64 of A-Z a-z 0-9 . _ @ -, a letter or digit first");
    }
    return name;
  }

  public static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  public boolean may(Grant.Right right, String keyspace, Key key) {
    for (Grant grant : grants) {
      if (grant.covers(right, keyspace, key)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the user's grants cover all of a right. */
  public boolean may(Grant wanted) {
    for (Grant grant : grants) {
      if (grant.covers(wanted)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the user has any right on a keyspace, even if only on some of its keys. */
  public boolean mayAnything(String keyspace) {
    for (Grant grant : grants) {
      if (grant.isFor(keyspace)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns how far the user may read from a key on without a gap.
   *
   * @param from the first key; empty for the beginning
   */
  Reach readable(String keyspace, Optional<Key> from) {
    List<Grant> all =
        grants.stream().filter(g -> g.right() == Grant.Right.READ && g.isFor(keyspace)).toList();
    if (all.stream().anyMatch(g -> g.prefix().isEmpty())) {
      return Reach.ALL;
    }
    if (from.isEmpty()) {
      return Reach.NOTHING;
    }
    Key reached = from.get();
    while (true) {
      Key at = reached;
      List<Key> around =
          all.stream()
              .map(Grant::prefix)
              .flatMap(Optional::stream)
              .filter(p -> Grant.begins(at, p))
              .toList();
      if (around.isEmpty()) {
        return reached == from.get() ? Reach.NOTHING : new Reach(true, Optional.of(reached));
      }
      Optional<Key> end = Optional.of(at);
      for (Key prefix : around) {
        end = later(end, prefix.afterPrefix());
      }
      if (end.isEmpty()) {
        return Reach.ALL;
      }
      reached = end.get();
    }
  }

  /** Returns the later of two ends; empty stands for the end of the keyspace. */
  private static Optional<Key> later(Optional<Key> a, Optional<Key> b) {
    if (a.isEmpty() || b.isEmpty()) {
      return Optional.empty();
    }
    return a.get().compareTo(b.get()) < 0 ? b : a;
  }

  /**
   * How far a user may read.
   *
   * @param any whether the first key is readable
   * @param end the first key that is not readable; empty if all are
   */
  record Reach(boolean any, Optional<Key> end) {
    /**
     * Returns whether this reaches up to a key, exclusive; empty stands for the end of the
     * keyspace.
     */
    boolean contains(Optional<Key> to) {
      return end.isEmpty() || (to.isPresent() && to.get().compareTo(end.get()) <= 0);
    }

    static final Reach ALL = new Reach(true, Optional.empty());
    static final Reach NOTHING = new Reach(false, Optional.empty());
  }

  @Override
  public String toString() {
    return name + (credential.isPresent() ? " with a password" : "") + ": " + grants;
  }
}
