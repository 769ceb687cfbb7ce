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
 * A change of who may do what. Passwords do not travel: what a datacenter may keep of one is
 * computed by whoever gives the command. Their texts show no secret.
 */
public sealed interface UserCommand {
  /** The setting with what is kept of a password, a line. */
  String CREDENTIAL = "credential";

  /** The setting with rights, a line each. */
  String RIGHTS = "rights";

  String user();

  /**
   * Reads a command.
   *
   * @param action create, passwd, grant, revoke or drop
   * @param settings what belongs to it: {@link #CREDENTIAL}, {@link #RIGHTS}
   * @throws OsierException INVALID_ARGUMENT if it is none; the message shows no secret
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
   * Makes a user who is not there.
   *
   * @param credential empty for one who has no password: with a certificate, or the default user
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

  /** Takes a right away that a user was given, in the same words. */
  record TakeRight(String user, Grant grant) implements UserCommand {}

  /** Ends a user, with all rights. */
  record Drop(String user) implements UserCommand {}
}
