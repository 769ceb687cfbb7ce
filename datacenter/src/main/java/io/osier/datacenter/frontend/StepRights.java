package io.osier.datacenter.frontend;

import io.osier.core.Grant;
import io.osier.datacenter.access.RequestRights;
import io.osier.datacenter.access.User;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Checks a user's rights to the steps of a script, which the script decides on in its partition's
 * turn: a step for which a right is missing fails, and the others are done. For one thread after
 * the other.
 */
public final class StepRights implements UnaryOperator<Function<Request, Reply>> {
  /** Allows all steps. */
  static final StepRights ALL = new StepRights(Optional.empty());

  private final Optional<User> user;
  private @Nullable Grant missing;

  /**
   * @param user the user; empty if it no longer exists: then the program is refused as a whole
   */
  StepRights(Optional<User> user) {
    this.user = user;
  }

  @Override
  public Function<Request, Reply> apply(Function<Request, Reply> ask) {
    return user.isEmpty() ? ask : step -> checked(user.get(), step, ask);
  }

  private Reply checked(User of, Request step, Function<Request, Reply> ask) {
    Grant lacking = RequestRights.missing(of, step);
    if (lacking == null) {
      return ask.apply(step);
    }
    missing = missing == null ? lacking : missing;
    return AccessControl.forbidden(lacking);
  }

  /** Returns the first right that was missing; empty if none was. */
  Optional<Grant> missing() {
    return Optional.ofNullable(missing);
  }
}
