package io.osier.datacenter.redis.server;

import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.PasswordCheck;
import io.osier.datacenter.redis.command.RedisErrors;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;

/**
 * Logs in users whose passwords come in plain text. Passwords are hashed outside of the loops, one
 * after the other; the executor limits how many wait. Thread-safe.
 */
final class Logins {
  private static final String WRONG =
      "WRONGPASS invalid username-password pair or user is disabled.";

  private final PasswordCheck passwords = new PasswordCheck();
  private final Executor hasher;

  Logins(Executor hasher) {
    this.hasher = hasher;
  }

  /**
   * Checks a password; any thread calls {@code then}, once, with the identity of the user, or with
   * none and the error.
   */
  void login(
      AccessControl access,
      String name,
      char[] password,
      SocketAddress from,
      BiConsumer<Optional<Identity>, String> then) {
    if (access.isWaiting()) {
      then.accept(
          Optional.empty(),
          "LOADING the datacenter has just started and does not know its users yet");
      return;
    }
    if (!User.isName(name)) {
      then.accept(Optional.empty(), WRONG);
      return;
    }
    try {
      access.checkPause(name, from);
      Users users = access.users();
      Optional<ScramCredential> of = users.find(name).flatMap(User::credential);
      if (of.isPresent() && passwords.remembers(name, password, of.get())) {
        right(access, name, of.get(), from, then);
        return;
      }
      ScramCredential credential = of.orElseGet(() -> access.decoy(name));
      hasher.execute(
          () -> {
            try {
              access.checkPause(name, from); // others may have failed while this one waited
            } catch (OsierException e) {
              then.accept(Optional.empty(), RedisErrors.of(e).text());
              return;
            }
            if (passwords.isRight(name, password, credential) && of.isPresent()) {
              right(access, name, credential, from, then);
            } else {
              access.failed(name, from);
              then.accept(Optional.empty(), WRONG);
            }
          });
    } catch (OsierException e) {
      then.accept(Optional.empty(), RedisErrors.of(e).text());
    } catch (RejectedExecutionException e) {
      then.accept(Optional.empty(), "BUSY nothing was done: too many logins wait; try again");
    }
  }

  private static void right(
      AccessControl access,
      String name,
      ScramCredential credential,
      SocketAddress from,
      BiConsumer<Optional<Identity>, String> then) {
    access.succeeded(name, from, "redis");
    then.accept(Optional.of(new Identity(name, Optional.of(credential))), "");
  }
}
