package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.time.Retry;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads and changes the objects of the keyspace {@code _osier}. Used by one thread. */
final class ControlObjects {
  private static final Logger LOG = LoggerFactory.getLogger(ControlObjects.class);
  private static final int ASK_MILLIS = 5_000;

  /** Counts the changes, so that one look tells whether there is anything new to read. */
  private static final ObjectId CHANGES = new ObjectId(Key.of("changes"), CrdtType.G_COUNTER);

  /** The result of a read that is not possible: it has a type that no object here has. */
  private static final Reading NOTHING = new Reading.Flag(false);

  /** Bounds of the pause before a refused change is tried again. */
  private static final long TELL_MILLIS_MIN = 200;

  private static final long TELL_MILLIS_MAX = 2_000;

  private final BiFunction<Request, Integer, Reply> partition;
  private final LongSupplier millis;
  private final RandomGenerator random;

  /** Pauses of changes that nobody asked for, by object. */
  private final Map<ObjectId, Retry> told = new ConcurrentHashMap<>();

  /** The changes made from here, which the next read must see. */
  private VersionVector seen = VersionVector.EMPTY;

  /**
   * @param partition answers a request within this many milliseconds, or with a failure
   * @param millis the wall clock
   * @param random draws pauses
   */
  ControlObjects(
      BiFunction<Request, Integer, Reply> partition, LongSupplier millis, RandomGenerator random) {
    this.partition = partition;
    this.millis = millis;
    this.random = random;
  }

  /** Returns how often anything was changed, as far as known here; empty if that cannot be read. */
  OptionalLong changes() {
    return read(CHANGES) instanceof Reading.Count count
        ? OptionalLong.of(count.value())
        : OptionalLong.empty();
  }

  /**
   * Returns a map as it is here now; empty if it cannot be read, as while the partition catches up
   * or ends.
   */
  Optional<Reading.Fields> map(ObjectId object) {
    return read(object) instanceof Reading.Fields fields ? Optional.of(fields) : Optional.empty();
  }

  private Reading read(ObjectId object) {
    Reply reply =
        partition.apply(
            new Request.Read(
                KeyspacePolicy.CONTROL,
                object.key(),
                Optional.of(object.type()),
                new Query.Whole(),
                seen,
                false,
                ASK_MILLIS),
            ASK_MILLIS);
    return reply instanceof Reply.Answer answer ? answer.reading().orElse(NOTHING) : NOTHING;
  }

  /** Returns whether changes made from here have not been read yet. */
  boolean isAwaiting() {
    return !seen.isEmpty();
  }

  /** Notes that the changes made from here were read; then reads have nothing to wait for. */
  void isRead() {
    seen = VersionVector.EMPTY;
  }

  /**
   * As {@link #change}, for a change that nobody waits for and that each look requests until it is
   * done; after a refusal there is a growing pause.
   *
   * @param what the change tells, for a line of the log: "... cannot be told yet"
   */
  void tell(ObjectId object, List<Operation> operations, String what) {
    Retry retry =
        told.computeIfAbsent(object, o -> new Retry(TELL_MILLIS_MIN, TELL_MILLIS_MAX, random));
    if (operations.isEmpty() || !retry.isDue(millis.getAsLong())) {
      return;
    }
    try {
      change(object, operations);
      if (retry.worked()) {
        LOG.info("_osier was told {}", what);
      }
    } catch (OsierException e) {
      if (retry.failed(String.valueOf(e.reason()), millis.getAsLong())) {
        LOG.warn("_osier cannot be told {} yet; it is tried again: {}", what, e.reason());
      }
    }
  }

  /** Returns how often such a change was refused. For any thread. */
  long refused() {
    return told.values().stream().mapToLong(Retry::failures).sum();
  }

  /**
   * Commits changes of an object, together.
   *
   * @throws OsierException the partition's error; nothing was changed, except perhaps with TIMEOUT
   */
  void change(ObjectId object, List<Operation> operations) {
    UUID id = UUID.randomUUID();
    List<Request.Update> updates = new ArrayList<>();
    for (Operation operation : operations) {
      updates.add(new Request.Update(object.key(), object.type(), operation));
    }
    updates.add(new Request.Update(CHANGES.key(), CHANGES.type(), new Operation.Increment(1)));
    Request.Transact request =
        new Request.Transact(
            KeyspacePolicy.CONTROL,
            new TransactionId(id.getMostSignificantBits(), id.getLeastSignificantBits()),
            1,
            Optional.of(new Request.Begin(seen, false, ASK_MILLIS, 2 * ASK_MILLIS)),
            updates,
            List.of(),
            Request.End.COMMIT);
    switch (partition.apply(request, ASK_MILLIS)) {
      case Reply.Transacted done -> seen = done.clock();
      case Reply.Failure f -> throw new OsierException(f.code(), f.message());
      default ->
          throw new OsierException(
              ErrorCode.INTERNAL, "the control plane's partition gave an unexpected reply");
    }
  }
}
