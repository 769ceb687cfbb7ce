package io.osier.datacenter.config;

import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Reads the users of a configuration, and never shows what may be a secret. Immutable. */
final class UserReader {
  static final String USERS = "osier.users";

  private final ConfigValues values;

  UserReader(ConfigValues values) {
    this.values = values;
  }

  /** Returns all users, in the order of their names. */
  List<UserSettings> users() {
    List<UserSettings> users = new ArrayList<>();
    ConfigObject all = values.config().getObject(USERS);
    for (String name : new TreeSet<>(all.keySet())) {
      boolean plain = name.matches("[A-Za-z0-9_-]+");
      String at = USERS + "." + (plain ? name : ConfigUtil.quoteString(name));
      if (!User.isName(name) || !(all.get(name) instanceof ConfigObject)) {
        // The value may be a secret, and is not shown.
        throw values.error(
            at,
            at
                + " must be a user: its name 1 to 64 of A-Z a-z 0-9 . _ @ -, a letter or digit"
                + " first, and a block of settings, for example { rights = [\"read shop\"] }");
      }
      users.add(user(name, at));
    }
    if (users.size() > Users.MAX) {
      throw values.error(USERS, "osier.users: at most " + Users.MAX + " users fit");
    }
    return users;
  }

  private UserSettings user(String name, String at) {
    String file = at + ".password-file";
    String credential = at + ".credential";
    String rights = at + ".rights";
    List<Grant> grants = new ArrayList<>();
    if (values.has(rights)) {
      for (String text : values.list(rights, "a list of rights, for example [\"read shop\"]")) {
        try {
          grants.add(Grant.parse(text));
        } catch (OsierException e) {
          throw values.error(rights, rights + ": " + e.reason());
        }
      }
    }
    try {
      UserSettings user =
          new UserSettings(
              name,
              values.has(file) ? values.file(file) : Optional.empty(),
              values.has(credential)
                  ? Optional.of(
                      ScramCredential.parse(
                          String.valueOf(values.config().getValue(credential).unwrapped())))
                  : Optional.empty(),
              grants);
      boolean hasPassword = user.passwordFile().isPresent() || user.credential().isPresent();
      if (hasPassword && name.equals(Users.DEFAULT)) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            "default is who does not log in, and so has no password: rights alone");
      }
      if (user.passwordFile().isPresent() && user.credential().isPresent()) {
        throw new OsierException(
            ErrorCode.CONFIGURATION, "either password-file or credential, not both");
      }
      new User(name, user.credential(), grants); // checked there
      return user;
    } catch (OsierException e) {
      // The value may be a secret in the wrong place: it is not shown.
      throw values.error(at, at + ": " + e.reason());
    }
  }
}
