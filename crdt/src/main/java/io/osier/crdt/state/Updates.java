package io.osier.crdt.state;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.FieldId;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.expiry.DeadlineRegister;
import io.osier.crdt.expiry.ExpiringParts;
import io.osier.crdt.expiry.Expiry;
import io.osier.crdt.expiry.PartDeadlines;
import io.osier.crdt.types.EntryEditor;
import io.osier.crdt.types.OrMap;
import io.osier.crdt.types.TaggedSet;
import io.osier.crdt.types.TypeRegistry;
import java.util.List;
import java.util.Optional;

/**
 * Makes updates of objects: turns an operation on a state into a delta, after removing what is over
 * of the object. Each {@link UpdateContext} is for one call. Static, pure, for any thread.
 */
public final class Updates {
  private Updates() {}

  /**
   * An update and the object that results from it.
   *
   * @param after the object joined with the delta
   */
  public record Updated(CrdtState delta, CrdtState after) {}

  /**
   * Prepares an operation against a state.
   *
   * @return as {@link CrdtState#prepare}
   */
  public static CrdtState prepare(CrdtState state, Operation operation, UpdateContext preparation) {
    if (operation instanceof Operation.WithDeadline both) {
      return prepareBoth(state, both, preparation);
    }
    if (operation instanceof Operation.WithPartDeadlines both) {
      return prepareBoth(state, both, preparation);
    }
    preparation.against(state.context());
    if (operation instanceof Operation.Clear && state.isClearedAsAWhole()) {
      // Mentions nothing: a full state without content says that everything in its context was
      // removed.
      CausalContext all = state.context().join(preparation.context());
      return CrdtState.of(TypeRegistry.empty(state.type()), Expiry.NONE, all, true);
    }
    DotStore<?> store = state.store();
    Expiry expiry = state.expiry();
    Expiry deadlines = Expiry.NONE;
    DotStore<?> delta = TypeRegistry.empty(state.type());
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
        deadlines = replaced(expiry, CrdtState.NEVER, preparation);
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
    return CrdtState.of(delta, deadlines, preparation.context(), false);
  }

  /**
   * Prepares an update of an object that changes nothing: a replica that has it has what came
   * before it.
   *
   * @return as {@link CrdtState#prepare}
   */
  public static CrdtState prepareNothing(
      CrdtType type, ReplicaId origin, long first, long predecessor) {
    CausalContext own = CausalContext.EMPTY.withRange(origin, predecessor, first);
    return CrdtState.of(TypeRegistry.empty(type), Expiry.NONE, own, false);
  }

  private static Expiry of(PartDeadlines<?> parts) {
    return Expiry.of(DeadlineRegister.NONE, parts);
  }

  private static Expiry replaced(Expiry expiry, long deadline, UpdateContext preparation) {
    return Expiry.of(expiry.whole().replaced(deadline, preparation), PartDeadlines.none());
  }

  /** Removes all deadlines. */
  private static Expiry endAll(CrdtState state, UpdateContext preparation) {
    state.expiry().whole().supersede(preparation);
    return state.expiry().parts().isEmpty() ? Expiry.NONE : of(state.parts().endAll(preparation));
  }

  /** Removes the deadlines of the parts that an update removes. */
  private static Expiry endRemoved(
      CrdtState state, Operation update, DotStore<?> delta, UpdateContext preparation) {
    JoinContext joining =
        new JoinContext(state.context(), state.isFull(), preparation.context(), false);
    DotStore<?> after = TypeRegistry.join(state.store(), delta, joining);
    if (after.isBottom()) {
      return endAll(state, preparation); // nothing is left that could expire
    }
    return state.expiry().parts().isEmpty()
        ? Expiry.NONE
        : of(state.parts().endRemoved(update, after, preparation));
  }

  private static CrdtState prepareBoth(
      CrdtState state, Operation.WithDeadline both, UpdateContext preparation) {
    checkCanExpire(state);
    CrdtState update = prepare(state, both.update(), preparation);
    CrdtState after = state.join(update);
    if (after.isBottom()) {
      return update; // nothing is left that could expire
    }
    return update.join(prepare(after, both.deadline(), preparation.after(update.context())));
  }

  private static CrdtState prepareBoth(
      CrdtState state, Operation.WithPartDeadlines both, UpdateContext preparation) {
    CrdtState update = prepare(state, both.update(), preparation);
    CrdtState after = state.join(update);
    UpdateContext next = preparation.after(update.context());
    next.against(after.context());
    PartDeadlines<?> deadlines =
        after.parts().expireTouched(both.update(), both.deadline().millis(), next);
    if (deadlines.isEmpty()) {
      return update;
    }
    return update.join(
        CrdtState.of(TypeRegistry.empty(state.type()), of(deadlines), next.context(), false));
  }

  /**
   * As {@link #prepare}, at a time at which something of the state may be over. Everything that is
   * over and that the operation concerns is removed first, with its deadline, and then the
   * operation is done on the rest.
   *
   * @param millis the time, in milliseconds since 1970
   */
  public static CrdtState prepareAt(
      CrdtState state, long millis, Operation operation, UpdateContext preparation) {
    if (!state.expires()) {
      return prepare(state, operation, preparation);
    }
    Optional<CrdtState> removal = prepareRemoval(state, millis, List.of(operation), preparation);
    if (removal.isEmpty()) {
      return prepare(state, operation, preparation);
    }
    CrdtState removed = removal.get();
    UpdateContext next = preparation.after(removed.context());
    return removed.join(prepare(state.join(removed), operation, next));
  }

  /**
   * As {@link #prepareAt}, with the resulting state. For an addition to a set, and for its
   * clearing, that is made at once: the new entries replace everything that was seen, so there is
   * nothing to compare with. The update of one field of a map looks for its field once.
   */
  public static Updated updateAt(
      CrdtState state, long millis, Operation operation, UpdateContext preparation) {
    state.lookWhatIsOver(millis);
    if (state.store() instanceof TaggedSet set
        && set.writesAtOnce(operation)
        && state.isFull()
        && !state.expires()
        && preparation.isNewTo(state.context())
        && !(operation instanceof Operation.Clear && state.isClearedAsAWhole())) {
      preparation.against(state.context());
      TaggedSet.Written written = set.write(operation, preparation);
      CausalContext own = preparation.context();
      return new Updated(
          CrdtState.of(written.delta(), Expiry.NONE, own, false),
          CrdtState.of(written.after(), Expiry.NONE, state.context().join(own), true));
    }
    if (state.store() instanceof OrMap map
        && operation instanceof Operation.UpdateFields update
        && update.updates().size() == 1
        && state.isFull()
        && !state.expires()
        && preparation.isNewTo(state.context())) {
      return updateField(state, map, update.updates().getFirst(), preparation);
    }
    CrdtState delta = prepareAt(state, millis, operation, preparation);
    return new Updated(delta, state.join(delta));
  }

  /** The update of one field of a map that does not expire. */
  private static Updated updateField(
      CrdtState state, OrMap map, Operation.FieldUpdate update, UpdateContext preparation) {
    preparation.against(state.context());
    FieldId field = update.field();
    OrMap[] delta = {map};
    boolean[] isLeft = {true};
    EntryEditor<OrMap, FieldId, DotStore<?>> after = map.edit();
    after.change(
        field,
        seen -> {
          DotStore<?> before = seen == null ? TypeRegistry.empty(field.type()) : seen;
          DotStore<?> change = OrMap.change(before, update.operation(), preparation);
          delta[0] = map.delta(field, change);
          DotStore<?> joined =
              TypeRegistry.join(
                  before,
                  change,
                  new JoinContext(state.context(), true, preparation.context(), false));
          isLeft[0] = !joined.isEmpty();
          return joined;
        });
    CrdtState made = CrdtState.of(delta[0], Expiry.NONE, preparation.context(), false);
    return new Updated(
        made,
        isLeft[0]
            ? CrdtState.of(after.done(), Expiry.NONE, state.context().join(made.context()), true)
            : state.join(made));
  }

  /**
   * Prepares the removal of everything that is over and that operations concern: the whole object
   * if it is over, or has a deadline and only parts that are over; otherwise those of its parts.
   *
   * @param millis the time, in milliseconds since 1970
   * @return empty if none of that is over, with the preparation unchanged; otherwise as {@link
   *     #prepare}
   */
  public static Optional<CrdtState> prepareRemoval(
      CrdtState state, long millis, List<Operation> operations, UpdateContext preparation) {
    boolean hasDeadline = state.deadline() != CrdtState.NEVER;
    if (state.isOver(millis) || (hasDeadline && state.isNothing(millis))) {
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
   * @param limit the most parts that are removed
   * @return as {@link #prepareRemoval}
   */
  public static Optional<CrdtState> prepareExpiry(
      CrdtState state, long millis, int limit, UpdateContext preparation) {
    if (state.isOver(millis) || !state.hasPartsOver(millis)) {
      return prepareRemoval(state, millis, List.of(), preparation);
    }
    state.lookWhatIsOver(millis);
    return removal(state, state.parts().over(millis, limit), preparation);
  }

  private static Optional<CrdtState> removal(
      CrdtState state, ExpiringParts<?>.Removal removal, UpdateContext preparation) {
    if (removal.isEmpty()) {
      return Optional.empty();
    }
    preparation.against(state.context());
    DotStore<?> delta = removal.content(preparation);
    Expiry deadlines = of(removal.deadlines(preparation));
    return Optional.of(CrdtState.of(delta, deadlines, preparation.context(), false));
  }

  private static void checkCanExpire(CrdtState state) {
    if (state.type() == CrdtType.BOUNDED_COUNTER) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a bounded counter does not expire: who used which rights must stay known");
    }
  }
}
