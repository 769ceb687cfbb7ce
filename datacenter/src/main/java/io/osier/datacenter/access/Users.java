package io.osier.datacenter.access;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** All users at one time. Immutable. */
public final class Users {
  /**
   * The user of connections that do not log in. If there is no user of this name, everybody must
   * log in.
   */
  public static final String DEFAULT = "default";

  public static final int MAX = 10_000;

  /** The users if none was ever made: whoever can connect may do everything. */
  public static final Users OPEN =
      new Users(
          List.of(
              new User(
                  DEFAULT,
                  Optional.empty(),
                  Arrays.stream(Grant.Right.values()).map(Grant::onAll).toList())));

  private final SortedMap<String, User> byName = new TreeMap<>();
  private final int[] iterations;

  /**
   * Makes it.
   *
   * @throws OsierException INVALID_ARGUMENT if there are too many, or two of one name
   */
  public Users(Collection<User> all) {
    if (all.size() > MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, all.size() + " users are too many; at most " + MAX + " fit");
    }
    for (User user : all) {
      if (byName.put(user.name(), user) != null) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "there are two users of the name " + user.name());
      }
    }
    iterations =
        byName.values().stream()
            .flatMap(u -> u.credential().stream())
            .mapToInt(ScramCredential::iterations)
            .toArray();
  }

  public Optional<User> find(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  public List<User> all() {
    return List.copyOf(byName.values());
  }

  /**
   * Returns a plausible number of iterations for a decoy: that of one of these users' passwords.
   *
   * @param chance any number, which chooses the user
   */
  int iterations(int chance) {
    return iterations.length == 0
        ? ScramCredential.ITERATIONS
        : iterations[Math.floorMod(chance, iterations.length)];
  }

  /**
   * Returns whether connections that do not log in may do everything, so that no rights are in
   * force.
   */
  public boolean isOpen() {
    return find(DEFAULT)
        .filter(u -> Arrays.stream(Grant.Right.values()).map(Grant::onAll).allMatch(u::may))
        .isPresent();
  }

  @Override
  public String toString() {
    return byName.values().toString();
  }
}
