package io.osier.datacenter.access;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A change of users or their rights. Passwords are not sent: the client computes the credential
 * that datacenters keep. The commands' texts show no secret.
 */
public sealed interface UserCommand {
  /** The setting with a credential, one line. */
  String CREDENTIAL = "credential";

  /** The setting with rights, one line each. */
  String RIGHTS = "rights";

  String user();

  /**
   * Reads a command.
   *
   * @param action create, passwd, grant, revoke or drop
   * @param settings the action's settings: {@link #CREDENTIAL}, {@link #RIGHTS}
   * @throws OsierException INVALID_ARGUMENT if it is no valid command; the message shows no secret
   */
  static UserCommand parse(String action, String user, Map<String, String> settings) {
    User.checkName(user);
    return switch (action) {
      case "create" -> {
        check(action, settings, Set.of(), Set.of(CREDENTIAL, RIGHTS));
        yield new Create(
            user,
            Optional.ofNullable(settings.get(CREDENTIAL)).map(ScramCredential::parse),
            settings
                .getOrDefault(RIGHTS, "")
                .lines()
                .filter(l -> !l.isBlank())
                .map(Grant::parse)
                .distinct()
                .toList());
      }
      case "passwd" -> {
        check(action, settings, Set.of(CREDENTIAL), Set.of(CREDENTIAL));
        yield new ChangePassword(
            user, ScramCredential.parse(settings.getOrDefault(CREDENTIAL, "")));
      }
      case "grant", "revoke" -> {
        check(action, settings, Set.of(RIGHTS), Set.of(RIGHTS));
        Grant grant = Grant.parse(settings.getOrDefault(RIGHTS, ""));
        yield action.equals("grant") ? new GiveRight(user, grant) : new TakeRight(user, grant);
      }
      case "drop" -> {
        check(action, settings, Set.of(), Set.of());
        yield new Drop(user);
      }
      default ->
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "there is no command 'user "
                  + action
                  + "'; there are user list, create, passwd, grant, revoke, drop");
    };
  }

  private static void check(
      String action, Map<String, String> settings, Set<String> needed, Set<String> allowed) {
    if (!settings.keySet().containsAll(needed) || !allowed.containsAll(settings.keySet())) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "user "
              + action
              + " takes "
              + (allowed.isEmpty() ? "no settings" : new TreeSet<>(allowed))
              + ", not "
              + new TreeSet<>(settings.keySet()));
    }
  }

  /**
   * Makes a user that does not exist.
   *
   * @param credential empty for a user without a password, who has a certificate, or is the default
   *     user
   */
  record Create(String user, Optional<ScramCredential> credential, List<Grant> grants)
      implements UserCommand {
    public Create {
      grants = List.copyOf(grants);
    }
  }

  /** Gives a user another password. */
  record ChangePassword(String user, ScramCredential credential) implements UserCommand {}

  record GiveRight(String user, Grant grant) implements UserCommand {}

  /** Takes away a right that a user was given, in exactly this form. */
  record TakeRight(String user, Grant grant) implements UserCommand {}

  /** Drops a user with all its rights. */
  record Drop(String user) implements UserCommand {}
}
