package io.osier.datacenter.partition;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.Sequencer.Prepared;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.partition.rights.Escrow;
import io.osier.datacenter.partition.rights.RightsWaiters;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Propagation;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes updates of single objects: those of clients, those acknowledged in front of the
 * partition, and transfers of rights. Updates of bounded counters need rights; an update that lacks
 * them waits here while other datacenters are asked. Not thread-safe.
 */
final class Writes {
  private static final Logger LOG = LoggerFactory.getLogger(Writes.class);

  private final ObjectStore store;
  private final Sequencer sequencer;
  private final Escrow escrow;
  private final Propagation propagation;
  private final EffectsBuilder effects;

  Writes(
      ObjectStore store,
      Sequencer sequencer,
      Escrow escrow,
      Propagation propagation,
      EffectsBuilder effects) {
    this.store = store;
    this.sequencer = sequencer;
    this.escrow = escrow;
    this.propagation = propagation;
    this.effects = effects;
  }

  /**
   * Executes a client's update and answers it, now or when the rights that it lacks have come.
   *
   * @throws OsierException if it fails; it is not answered then
   */
  void write(long ticket, Request.Write write, Now now) {
    sequencer.checkTakesUpdates();
    if (write.operation().isOfKey()) {
      if (write.condition().isPresent()) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "an operation of a key has no condition");
      }
      effects.answer(ticket, updateKey(write.key(), write.operation(), write.ask(), true, now));
      return;
    }
    ObjectId object = new ObjectId(write.key(), write.type());
    CrdtState before = sequencer.present(object, now);
    Reply.Answer unmet = unmet(write, before, now);
    if (unmet != null) {
      effects.answer(ticket, unmet);
      return;
    }
    if (object.type() == CrdtType.BOUNDED_COUNTER
        && !escrow.isCovered(object, before, write.operation())) {
      lackRights(ticket, write, object, before, now);
      return;
    }
    effects.answer(ticket, update(object, before, write, now));
  }

  /** Returns the value that contradicts an update's condition; null if the condition holds. */
  private static Reply.@Nullable Answer unmet(Request.Write write, CrdtState before, Now now) {
    if (write.condition().isEmpty()) {
      return null;
    }
    Request.Condition condition = write.condition().get();
    Reply.Answer found = Reads.answer(condition.asked(), before.at(now.millis()), now::millis);
    return condition.holds(found.reading().orElseThrow()) ? null : found;
  }

  /** Executes a client's updates one by one; those that fail leave the others as they are. */
  Reply.All write(Request.WriteAll batch, Now now) {
    List<Reply> parts = new ArrayList<>(batch.updates().size());
    for (Request.Update update : batch.updates()) {
      try {
        // The request has one number for all its updates, not this one's.
        parts.add(
            write(update.key(), update.type(), update.operation(), Optional.empty(), false, now));
      } catch (OsierException e) {
        parts.add(new Reply.Failure(e.code(), e.reason()));
      }
    }
    return new Reply.All(parts);
  }

  /** Executes a program that is a single update. */
  Reply write(Call.Update call, Now now) {
    return write(call.key(), call.type(), call.operation(), call.ask(), true, now);
  }

  /**
   * Executes a program that is a single assignment, which needs no rights.
   *
   * @param before the only object of its key
   */
  Reply assign(ObjectId object, CrdtState before, Operation assignment, Now now) {
    return update(object, before, assignment, Optional.empty(), true, now);
  }

  /** Executes an update that does not wait for rights; throws before anything has changed. */
  private Reply write(
      Key key,
      CrdtType type,
      Operation operation,
      Optional<Request.Ask> ask,
      boolean answered,
      Now now) {
    sequencer.checkTakesUpdates();
    if (operation.isOfKey()) {
      return updateKey(key, operation, ask, answered, now);
    }
    ObjectId object = new ObjectId(key, type);
    CrdtState before = sequencer.present(object, now);
    if (type == CrdtType.BOUNDED_COUNTER && !escrow.isCovered(object, before, operation)) {
      ask(object, before, operation, now);
      throw escrow.lacking(object, before, operation);
    }
    return update(object, before, operation, ask, answered, now);
  }

  /** Commits a client's update and answers the query in it. */
  private Reply update(ObjectId object, CrdtState before, Request.Write write, Now now) {
    return update(object, before, write.operation(), write.ask(), true, now);
  }

  /** Commits an update; throws before anything has changed. */
  private Reply update(
      ObjectId object,
      CrdtState before,
      Operation wanted,
      Optional<Request.Ask> ask,
      boolean answered,
      Now now) {
    sequencer.checkHome(object.key());
    Operation operation = escrow.filled(before, wanted.from(now.millis()));
    Prepared prepared = sequencer.prepare(object, before, operation, 1, now.nanos(), now);
    sequencer.checkSize(object, operation, before, prepared.after());
    // Before anything changes: the type may not have the query.
    Optional<Reply.Answer> answer =
        ask.map(a -> Reads.asked(a, operation, before, prepared.after(), now::millis));
    sequencer.commit(List.of(prepared), answered, now);
    if (object.type() == CrdtType.BOUNDED_COUNTER) {
      escrow.used(object, prepared.after(), operation);
      escrow.changed(object);
    }
    return new Reply.Done(new Dot(sequencer.self(), prepared.number()), answer);
  }

  /**
   * Updates all objects of a key; throws before anything has changed. If there is nothing to do,
   * nothing is committed, and the answer says what is there.
   */
  private Reply updateKey(
      Key key, Operation operation, Optional<Request.Ask> ask, boolean answered, Now now) {
    List<CrdtState> before = store.get(key);
    List<Prepared> prepared = new ArrayList<>(1);
    for (CrdtState state : KeyUpdate.touched(key, before, operation, now)) {
      ObjectId object = new ObjectId(key, state.type());
      long committed = prepared.isEmpty() ? sequencer.committed() : prepared.getLast().number();
      Operation part = KeyUpdate.part(operation, now);
      prepared.add(sequencer.prepareAfter(committed, object, state, part, now));
    }
    Optional<Reply.Answer> answer =
        ask.map(a -> answer(key, a.before() ? before : after(before, prepared), a.query(), now));
    if (prepared.isEmpty()) {
      return answer.orElseGet(() -> answer(key, before, new Query.Exists(), now));
    }
    sequencer.commit(prepared, answered, now);
    return new Reply.Done(new Dot(sequencer.self(), prepared.getLast().number()), answer);
  }

  private static Reply.Answer answer(Key key, List<CrdtState> states, Query query, Now now) {
    return Reads.of(states, key, Optional.empty(), query, now::millis);
  }

  private static List<CrdtState> after(List<CrdtState> before, List<Prepared> prepared) {
    List<CrdtState> after = new ArrayList<>(before);
    prepared.forEach(p -> after.replaceAll(s -> s.type() == p.object().type() ? p.after() : s));
    return after;
  }

  /**
   * Commits and ships an update that changes nothing. A peer that has it was heard after this.
   *
   * @return its commit number
   */
  long mark(ObjectId object, CrdtState state, Now now) {
    sequencer.commit(List.of(sequencer.prepareNothing(object, state, now)), false, now);
    propagation.outbound().release(object);
    return sequencer.committed();
  }

  /**
   * Removes the expired parts of an object that this datacenter has seen, with their deadlines.
   *
   * @param millis the time, in milliseconds since 1970
   * @param limit the most parts to remove
   * @return the object then; the same one if nothing has expired
   */
  CrdtState removeExpired(ObjectId object, CrdtState state, long millis, int limit, Now now) {
    Optional<Prepared> removal = sequencer.prepareExpiry(object, state, millis, limit, now);
    removal.ifPresent(prepared -> sequencer.commit(List.of(prepared), false, now));
    return removal.map(Prepared::after).orElse(state);
  }

  /** Commits an update that was acknowledged already; its size was checked then. */
  void absorb(Input.Absorbed.Update update, Now now) {
    ObjectId object = update.object();
    CrdtState stored = store.get(object);
    CrdtState before = stored == null ? CrdtState.bottom(object.type()) : stored;
    try {
      sequencer.commit(
          List.of(
              sequencer.prepare(
                  object, before, update.operation(), update.count(), update.sinceNanos(), now)),
          false,
          now);
    } catch (OsierException e) {
      // Only if other datacenters moved a counter over half the range of a long in a fraction of
      // the SLA.
      LOG.error("{} acknowledged updates of {} are lost", update.count(), object, e);
    }
  }

  // ---------------------------------------------------------------- rights of bounded counters

  private void lackRights(
      long ticket, Request.Write write, ObjectId object, CrdtState state, Now now) {
    ask(object, state, write.operation(), now);
    long wait =
        write.operation() instanceof Operation.IncrementWithin i
            ? Math.min(i.waitMillis(), Request.WAIT_MILLIS_MAX)
            : 0;
    if (wait <= 0) {
      throw escrow.lacking(object, state, write.operation());
    }
    long deadlineNanos = now.nanos() + wait * 1_000_000L;
    escrow
        .waiters()
        .add(object, new RightsWaiters.Waiter(ticket, write, now.nanos(), deadlineNanos));
  }

  private void waited(RightsWaiters.Waiter waiter, Now now) {
    effects.waited(waiter.ticket(), Waited.For.RIGHTS, "", now.nanos() - waiter.sinceNanos());
  }

  /** Executes updates that got their rights, fails those that waited too long, asks for more. */
  void exchangeRights(Now now) {
    escrow.takeToInherit().forEach(object -> inherit(object, now));
    for (RightsWaiters.Waiter waiter : escrow.waiters().due(now.nanos())) {
      Request.Write write = waiter.write();
      ObjectId object = new ObjectId(write.key(), write.type());
      try {
        sequencer.checkTakesUpdates();
        CrdtState state = sequencer.present(object, now);
        Reply.Answer unmet = unmet(write, state, now);
        if (unmet != null) {
          waited(waiter, now);
          effects.answer(waiter.ticket(), unmet);
        } else if (escrow.isCovered(object, state, write.operation())) {
          waited(waiter, now);
          effects.answer(waiter.ticket(), update(object, state, write, now));
        } else if (waiter.deadlineNanos() <= now.nanos()) {
          throw escrow.lacking(object, state, write.operation());
        } else {
          ask(object, state, write.operation(), now);
          escrow.waiters().add(object, waiter);
        }
      } catch (OsierException e) {
        waited(waiter, now);
        effects.answer(waiter.ticket(), new Reply.Failure(e.code(), e.reason()));
      }
    }
    escrow
        .takeLow()
        .forEach(
            (object, upward) ->
                Optional.ofNullable(store.get(object))
                    .flatMap(state -> escrow.wantedToBalance(object, state, upward, now.nanos()))
                    .ifPresent(this::ask));
  }

  /** Asks other datacenters for the rights that an update lacks. */
  void ask(ObjectId object, CrdtState state, Operation operation, Now now) {
    escrow.wantedFor(object, state, operation, now.nanos()).ifPresent(this::ask);
  }

  private void ask(Escrow.Wanted wanted) {
    long left = wanted.amount();
    for (Escrow.Holder holder : wanted.holders()) {
      if (left <= 0) {
        break;
      }
      long amount = Math.min(left, holder.rights());
      Frame.Rights frame = new Frame.Rights(wanted.object(), amount, wanted.upward());
      left -= propagation.ask(holder.dc(), frame) ? amount : 0;
    }
  }

  /** Gives all rights of a counter to another datacenter, because this one leaves. */
  void giveAway(ObjectId object, String heir, Now now) {
    for (boolean upward : new boolean[] {false, true}) {
      CrdtState state = object.type() == CrdtType.BOUNDED_COUNTER ? store.get(object) : null;
      long amount = state == null ? 0 : escrow.mine(object, state, upward);
      if (state != null && amount > 0) {
        update(
            object,
            state,
            new Operation.Transfer(heir, amount, upward),
            Optional.empty(),
            false,
            now);
        propagation.outbound().release(object);
      }
    }
  }

  /** Takes over the rights that removed datacenters have of a counter. */
  private void inherit(ObjectId object, Now now) {
    CrdtState state = store.get(object);
    if (state == null) {
      return;
    }
    for (String from : escrow.inheritedOf(state)) {
      try {
        update(
            object,
            sequencer.present(object, now),
            new Operation.Inherit(from),
            Optional.empty(),
            false,
            now);
        // If it were added again, it could use the rights before it heard of the transfer.
        propagation.outbound().release(object);
      } catch (OsierException e) {
        LOG.warn("the rights of {} in {} could not be taken over: {}", from, object, e.reason());
      }
    }
  }

  /** Gives rights to a datacenter that asks for them, and ships the transfer soon. */
  void give(String dc, Frame.Rights wanted, Now now) {
    ObjectId object = wanted.object();
    CrdtState state = object.type() == CrdtType.BOUNDED_COUNTER ? store.get(object) : null;
    if (state == null) {
      return;
    }
    long amount = escrow.grant(dc, wanted, state);
    if (amount > 0) {
      try {
        update(
            object,
            state,
            new Operation.Transfer(dc, amount, wanted.upward()),
            Optional.empty(),
            false,
            now);
        propagation.outbound().release(object);
      } catch (OsierException e) {
        // As if there were no rights to spare: a peer's request must not stop this partition.
        LOG.debug("{} is given no rights of {}: {}", dc, object, e.reason());
      }
    }
  }
}
