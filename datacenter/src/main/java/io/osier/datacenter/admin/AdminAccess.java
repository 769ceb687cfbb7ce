package io.osier.datacenter.admin;

import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.access.User;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.PasswordCheck;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Decides who may read the admin port. If other machines can reach it and rights are in force, only
 * users with the right {@code admin *} may, by HTTP basic authentication or a certificate. Liveness
 * and readiness probes are answered to anybody. Thread-safe.
 */
final class AdminAccess {
  private static final Set<String> FOR_ALL = Set.of("/livez", "/readyz", "/health");
  private static final String BASIC = "basic ";

  private final AccessControl access;
  private final boolean isPrivate;
  private final Executor executor;
  private final PasswordCheck passwords = new PasswordCheck();

  /**
   * Makes the access check.
   *
   * @param isPrivate whether only this machine can reach the port
   * @param executor hashes passwords
   */
  AdminAccess(AccessControl access, boolean isPrivate, Executor executor) {
    this.access = access;
    this.isPrivate = isPrivate;
    this.executor = executor;
  }

  /**
   * Returns the answer to a request that is refused; empty if it is allowed.
   *
   * @param certificates the names in the client's certificate; empty without one
   */
  CompletableFuture<Optional<HttpEndpoint.Answer>> refusal(
      RequestHead asked, Set<String> certificates, SocketAddress from) {
    if (isPrivate || FOR_ALL.contains(asked.path()) || access.users().isOpen()) {
      return done(Optional.empty());
    }
    if (access.isWaiting()) {
      return done(
          Optional.of(
              new HttpEndpoint.Answer(
                  503, "this datacenter has just started and does not know its users yet\n")));
    }
    Optional<User> shown = access.ofCertificate(certificates);
    if (shown.isPresent()) {
      return done(judged(shown.get(), from));
    }
    Optional<String[]> given = asked.authorization().flatMap(AdminAccess::decode);
    if (given.isEmpty()) {
      return done(Optional.of(wanted("log in as a user with the right: admin *")));
    }
    String name = given.get()[0];
    try {
      access.checkPause(name, from);
    } catch (OsierException e) {
      return done(Optional.of(new HttpEndpoint.Answer(429, e.reason() + "\n")));
    }
    return CompletableFuture.supplyAsync(
        () -> judged(name, given.get()[1].toCharArray(), from), executor);
  }

  private static CompletableFuture<Optional<HttpEndpoint.Answer>> done(
      Optional<HttpEndpoint.Answer> answer) {
    return CompletableFuture.completedFuture(answer);
  }

  private static HttpEndpoint.Answer wanted(String why) {
    return new HttpEndpoint.Answer(401, why + "\n");
  }

  private Optional<HttpEndpoint.Answer> judged(String name, char[] password, SocketAddress from) {
    Optional<User> user = access.users().find(name).filter(u -> u.credential().isPresent());
    ScramCredential credential = user.flatMap(User::credential).orElse(access.decoy(name));
    if (!passwords.isRight(name, password, credential) || user.isEmpty()) {
      return Optional.of(wanted(String.valueOf(access.failed(name, from).getMessage())));
    }
    return judged(user.get(), from);
  }

  private Optional<HttpEndpoint.Answer> judged(User user, SocketAddress from) {
    Grant wanted = Grant.onAll(Grant.Right.ADMIN);
    if (user.may(wanted)) {
      return Optional.empty();
    }
    access.audit().refused(user.name(), AccessControl.address(from), "http", wanted);
    return Optional.of(new HttpEndpoint.Answer(403, "a right is missing: " + wanted + "\n"));
  }

  /** Returns the name and password of an Authorization field; empty if it is malformed. */
  private static Optional<String[]> decode(String field) {
    if (!field.toLowerCase(Locale.ROOT).startsWith(BASIC)) {
      return Optional.empty();
    }
    try {
      String text =
          new String(
              Base64.getDecoder().decode(field.substring(BASIC.length()).strip()),
              StandardCharsets.UTF_8);
      int colon = text.indexOf(':');
      return colon < 1 || !User.isName(text.substring(0, colon))
          ? Optional.empty()
          : Optional.of(new String[] {text.substring(0, colon), text.substring(colon + 1)});
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
