package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.Grant;
import io.osier.core.scram.ScramCredential;
import io.osier.proxy.admin.AdminAnswers;
import io.osier.proxy.future.Calls;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Administers users and their rights at all datacenters, through the nearest one. Needs the right
 * {@code admin *}. Passwords are not sent: the client computes the credential that datacenters
 * keep, which takes the calling thread some ten milliseconds. Answers as text are JSON objects with
 * the user as changed. Thread-safe.
 */
public final class UserAdmin {
  private static final String SUBJECT = "user";
  private static final String CREDENTIAL = "credential";
  private static final String RIGHTS = "rights";

  private final Admin admin;
  private final SecureRandom random = new SecureRandom();

  UserAdmin(Admin admin) {
    this.admin = admin;
  }

  /** Returns all users, ordered by name. */
  public List<UserStatus> all() {
    return Calls.join(allAsync());
  }

  /** As {@link #all}. */
  public CompletableFuture<List<UserStatus>> allAsync() {
    return listAsync().thenApply(AdminAnswers::users);
  }

  /** Lists the users: their rights, whether they have passwords, who made them and when. */
  public CompletableFuture<String> listAsync() {
    return admin.ask(SUBJECT, "list", "", Map.of());
  }

  /**
   * Makes a user who logs in with a password; see {@link #createAsync}.
   *
   * <pre>{@code
   * client.admin().users().create("checkout", password, Grant.parse("write shop cart:"));
   * }</pre>
   *
   * @throws io.osier.core.InvalidRequestException if a user of that name exists
   */
  public void create(String name, char[] password, Grant... rights) {
    Calls.join(createAsync(name, Optional.of(present(password, "a password")), List.of(rights)));
  }

  /** Waits for {@link #changePasswordAsync}. */
  public void changePassword(String name, char[] password) {
    Calls.join(changePasswordAsync(name, password));
  }

  /** Waits for {@link #grantAsync}. */
  public void grant(String name, Grant right) {
    Calls.join(grantAsync(name, right));
  }

  /** Waits for {@link #revokeAsync}. */
  public void revoke(String name, Grant right) {
    Calls.join(revokeAsync(name, right));
  }

  /** Waits for {@link #dropAsync}. */
  public void drop(String name) {
    Calls.join(dropAsync(name));
  }

  /**
   * Makes a user. The first user puts rights into force. With it the user {@code default} is made,
   * which stands for all clients that do not log in and has all rights, so that existing clients go
   * on until that user is dropped.
   *
   * @param name 1 to 64 letters, digits, '.', '_', '@' and '-', beginning with a letter or digit
   * @param password empty for a user without one, who has a certificate, or is {@code default}; the
   *     array is not changed
   */
  public CompletableFuture<String> createAsync(
      String name, Optional<char[]> password, List<Grant> rights) {
    Map<String, String> settings = new LinkedHashMap<>();
    password.ifPresent(p -> settings.put(CREDENTIAL, credential(p)));
    settings.put(RIGHTS, rights.stream().map(Grant::toString).collect(Collectors.joining("\n")));
    return admin.ask(SUBJECT, "create", present(name, "a user's name"), settings);
  }

  /** Gives a user another password, and ends the connections that logged in with the former one. */
  public CompletableFuture<String> changePasswordAsync(String name, char[] password) {
    return admin.ask(
        SUBJECT,
        "passwd",
        present(name, "a user's name"),
        Map.of(CREDENTIAL, credential(present(password, "a password"))));
  }

  /** Gives a user a right. */
  public CompletableFuture<String> grantAsync(String name, Grant right) {
    return admin.ask(
        SUBJECT, "grant", present(name, "a user's name"), Map.of(RIGHTS, right.toString()));
  }

  /** Takes away a right that a user was given, in exactly this form. */
  public CompletableFuture<String> revokeAsync(String name, Grant right) {
    return admin.ask(
        SUBJECT, "revoke", present(name, "a user's name"), Map.of(RIGHTS, right.toString()));
  }

  /** Drops a user, and closes the user's connections. */
  public CompletableFuture<String> dropAsync(String name) {
    return admin.ask(SUBJECT, "drop", present(name, "a user's name"), Map.of());
  }

  private String credential(char[] password) {
    byte[] salt = new byte[ScramCredential.SALT_BYTES];
    random.nextBytes(salt);
    char[] copy = password.clone();
    try {
      return ScramCredential.of(copy, salt, ScramCredential.ITERATIONS).line();
    } finally {
      Arrays.fill(copy, '\0');
    }
  }
}
