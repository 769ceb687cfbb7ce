package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.List;
import java.util.Optional;

/**
 * Makes updates of objects: what an operation changes of a state, as a delta, with what is over of
 * the object removed first. A {@link Preparation} is for one call. Static, pure, for any thread.
 */
public final class Updates {
  private Updates() {}

  /**
   * An update and what it makes of its object.
   *
   * @param after the object joined with the delta
   */
  public record Updated(Causal delta, Causal after) {}

  /**
   * Prepares an operation against a state.
   *
   * @return as {@link Causal#prepare}
   */
  public static Causal prepare(Causal state, Operation operation, Preparation preparation) {
    if (operation instanceof Operation.WithDeadline both) {
      return prepareBoth(state, both, preparation);
    }
    if (operation instanceof Operation.WithPartDeadlines both) {
      return prepareBoth(state, both, preparation);
    }
    preparation.against(state.context());
    if (operation instanceof Operation.Clear && Decomposition.isClearedAsAWhole(state)) {
      // Mentions nothing: a state without content says of all that it covers that it was removed.
      CausalContext all = state.context().join(preparation.context());
      return Causal.of(Stores.empty(state.type()), Expiry.NONE, all, true);
    }
    DotStore<?> store = state.store();
    Expiry expiry = state.expiry();
    Expiry deadlines = Expiry.NONE;
    DotStore<?> delta = Stores.empty(state.type());
    switch (operation) {
      case Operation.Clear o -> {
        delta = store.reset(preparation);
        deadlines = endAll(state, preparation);
      }
      case Operation.Expire o -> {
        checkCanExpire(state);
        deadlines = replaced(expiry, o.millis(), preparation);
      }
      case Operation.Persist o -> {
        checkCanExpire(state);
        deadlines = replaced(expiry, Causal.NEVER, preparation);
      }
      case Operation.ExpireParts o ->
          deadlines = of(state.parts().expire(o.of(), o.deadline().millis(), preparation));
      case Operation.PersistParts o -> deadlines = of(state.parts().persist(o.of(), preparation));
      default -> {
        delta = store.prepare(operation, preparation);
        if (!expiry.isNone()) {
          deadlines = endRemoved(state, operation, delta, preparation);
        }
      }
    }
    return Causal.of(delta, deadlines, preparation.context(), false);
  }

  private static Expiry of(PartDeadlines<?> parts) {
    return Expiry.of(DeadlineRegister.NONE, parts);
  }

  private static Expiry replaced(Expiry expiry, long deadline, Preparation preparation) {
    return Expiry.of(expiry.whole().replaced(deadline, preparation), PartDeadlines.none());
  }

  /** Takes all deadlines away. */
  private static Expiry endAll(Causal state, Preparation preparation) {
    state.expiry().whole().supersede(preparation);
    return state.expiry().parts().isEmpty() ? Expiry.NONE : of(state.parts().endAll(preparation));
  }

  /** Takes the deadlines of what an update removes away. */
  private static Expiry endRemoved(
      Causal state, Operation update, DotStore<?> delta, Preparation preparation) {
    Joining joining = new Joining(state.context(), state.isFull(), preparation.context(), false);
    DotStore<?> after = Stores.join(state.store(), delta, joining);
    if (after.isBottom()) {
      return endAll(state, preparation); // nothing is left that could expire
    }
    return state.expiry().parts().isEmpty()
        ? Expiry.NONE
        : of(state.parts().endRemoved(update, after, preparation));
  }

  private static Causal prepareBoth(
      Causal state, Operation.WithDeadline both, Preparation preparation) {
    checkCanExpire(state);
    Causal update = prepare(state, both.update(), preparation);
    Causal after = state.join(update);
    if (after.isBottom()) {
      return update; // nothing is left that could expire
    }
    return update.join(prepare(after, both.deadline(), preparation.after(update.context())));
  }

  private static Causal prepareBoth(
      Causal state, Operation.WithPartDeadlines both, Preparation preparation) {
    Causal update = prepare(state, both.update(), preparation);
    Causal after = state.join(update);
    Preparation next = preparation.after(update.context());
    next.against(after.context());
    PartDeadlines<?> deadlines =
        after.parts().expireTouched(both.update(), both.deadline().millis(), next);
    if (deadlines.isEmpty()) {
      return update;
    }
    return update.join(Causal.of(Stores.empty(state.type()), of(deadlines), next.context(), false));
  }

  /**
   * As {@link #prepare}, at a time at which something of the state may be over. What is over and
   * the operation is about is removed first, its deadline included, and then the operation is done
   * on what is left.
   *
   * @param millis the time, in milliseconds since 1970
   */
  public static Causal prepareAt(
      Causal state, long millis, Operation operation, Preparation preparation) {
    if (!state.expires()) {
      return prepare(state, operation, preparation);
    }
    Optional<Causal> removal = prepareRemoval(state, millis, List.of(operation), preparation);
    if (removal.isEmpty()) {
      return prepare(state, operation, preparation);
    }
    Causal removed = removal.get();
    Preparation next = preparation.after(removed.context());
    return removed.join(prepare(state.join(removed), operation, next));
  }

  /**
   * As {@link #prepareAt}, with the state that follows. Of an addition to a set, and of its
   * clearing, that is made at once: what is written replaces all that was seen, so there is nothing
   * to compare with.
   */
  public static Updated updateAt(
      Causal state, long millis, Operation operation, Preparation preparation) {
    state.lookWhatIsOver(millis);
    if (state.store() instanceof TaggedSet<?> set
        && set.writesAtOnce(operation)
        && state.isFull()
        && !state.expires()
        && preparation.isNewTo(state.context())
        && !(operation instanceof Operation.Clear && Decomposition.isClearedAsAWhole(state))) {
      preparation.against(state.context());
      TaggedSet.Written written = set.write(operation, preparation);
      CausalContext own = preparation.context();
      return new Updated(
          Causal.of(written.delta(), Expiry.NONE, own, false),
          Causal.of(written.after(), Expiry.NONE, state.context().join(own), true));
    }
    Causal delta = prepareAt(state, millis, operation, preparation);
    return new Updated(delta, state.join(delta));
  }

  /**
   * Prepares the removal of what is over and operations are about: all of the object if it is over,
   * or those of its parts.
   *
   * @param millis the time, in milliseconds since 1970
   * @return empty if nothing of that is over, and the preparation is as new then; otherwise as
   *     {@link #prepare} does
   */
  public static Optional<Causal> prepareRemoval(
      Causal state, long millis, List<Operation> operations, Preparation preparation) {
    if (state.isOver(millis)) {
      return Optional.of(prepare(state, new Operation.Clear(), preparation));
    }
    return state.hasPartsOver(millis)
        ? removal(state, state.parts().overAndTouched(operations, millis), preparation)
        : Optional.empty();
  }

  /**
   * Prepares the removal of what is over.
   *
   * @param millis the time, in milliseconds since 1970
   * @param limit so many parts at most
   * @return as {@link #prepareRemoval}
   */
  public static Optional<Causal> prepareExpiry(
      Causal state, long millis, int limit, Preparation preparation) {
    if (state.isOver(millis) || !state.hasPartsOver(millis)) {
      return prepareRemoval(state, millis, List.of(), preparation);
    }
    state.lookWhatIsOver(millis);
    return removal(state, state.parts().over(millis, limit), preparation);
  }

  private static Optional<Causal> removal(
      Causal state, Parts<?>.Removal removal, Preparation preparation) {
    if (removal.isEmpty()) {
      return Optional.empty();
    }
    preparation.against(state.context());
    DotStore<?> delta = removal.content(preparation);
    Expiry deadlines = of(removal.deadlines(preparation));
    return Optional.of(Causal.of(delta, deadlines, preparation.context(), false));
  }

  private static void checkCanExpire(Causal state) {
    if (state.type() == CrdtType.BOUNDED_COUNTER) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a bounded counter does not expire: who used which rights must stay known");
    }
  }
}
