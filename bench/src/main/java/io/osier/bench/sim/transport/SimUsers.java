package io.osier.bench.sim.transport;

import io.osier.core.Grant;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.proxy.OsierClient;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** As whom applications use the ports of datacenters, in a run in which not everybody may. */
public final class SimUsers {
  /** The user whose password the stranger does not know. */
  public static final String WRONGED = "wronged";

  /** The wrong password that the stranger tries. */
  private static final char[] WRONG = "what a stranger guesses".toCharArray();

  private static final byte[] SALT = "the salt of all".getBytes(StandardCharsets.US_ASCII);

  /** As few as a client takes. */
  private static final int ITERATIONS = ScramCredential.ITERATIONS_MIN;

  /** What a stranger does, who is never let in. */
  public enum Stranger {
    /** Says nothing of a user. */
    NOBODY,
    /** Does not know the password. */
    WRONG_PASSWORD,
    /** Names a user that there is not. */
    UNKNOWN
  }

  private final Users users;

  /** Those of whom the applications' names are made. */
  SimUsers(List<String> apps) {
    List<User> all = new ArrayList<>();
    List<Grant> everything = Arrays.stream(Grant.Right.values()).map(Grant::onAll).toList();
    List<String> names = new ArrayList<>(apps.stream().map(SimUsers::user).toList());
    names.add(WRONGED);
    for (String name : names) {
      all.add(new User(name, Optional.of(credential(password(name))), everything));
    }
    this.users = new Users(all);
  }

  Users users() {
    return users;
  }

  /** An application logs in, as itself or as a stranger does. */
  static void login(OsierClient.Builder settings, String app, @Nullable Stranger as) {
    switch (as) {
      case null -> settings.user(user(app), password(user(app)));
      case NOBODY -> {}
      case WRONG_PASSWORD -> settings.user(WRONGED, WRONG.clone());
      case UNKNOWN -> settings.user("unknown", password("unknown"));
    }
  }

  /** The credential of the wrong password that the stranger tries. */
  public static ScramCredential wrong() {
    return credential(WRONG);
  }

  private static ScramCredential credential(char[] password) {
    return ScramCredential.of(password, SALT, ITERATIONS);
  }

  private static String user(String app) {
    return app.replace(' ', '-');
  }

  private static char[] password(String user) {
    return ("the password of " + user).toCharArray();
  }
}
