package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.datacenter.redis.command.data.Deadlines.Unit;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;

/**
 * Commands that set, take away and show the deadlines of hashes' fields. Static, for any thread.
 */
final class HashExpiry {
  private static final long ABSENT = -2;
  private static final long FOR_EVER = -1;
  private static final long UNMET = 0;
  private static final long SET = 1;
  private static final long DELETED = 2;

  private HashExpiry() {}

  static Plan expire(Scope scope, byte[][] w, Unit unit) {
    Words words = new Words(w);
    Key key = words.key();
    long time = words.integer();
    if (time < 0) {
      throw new RedisException("ERR invalid expire time, must be >= 0");
    }
    Operation.Expire deadline = Deadlines.of(scope, time, unit, w[0]);
    Optional<Call.When> when =
        ExpiryCommands.when(
            words.takes("NX"), words.takes("XX"), words.takes("GT"), words.takes("LT"));
    boolean isOver = Deadlines.isOver(scope, deadline);
    return change(
        scope,
        key,
        names(words),
        // A duration is compared with the time left, a time with a deadline.
        deadline.fromNow() ? Query.PartTimeToLive::new : HashExpiry::deadline,
        known -> {
          if (known == ABSENT) {
            return ABSENT;
          }
          boolean allowed = when.isEmpty() || allows(when.get(), known, deadline.millis());
          return !allowed ? UNMET : isOver ? DELETED : SET;
        },
        deadline.millis(),
        fields -> new Operation.ExpireParts(fields, deadline));
  }

  static Plan persist(Scope scope, byte[][] w) {
    Words words = new Words(w);
    return change(
        scope,
        words.key(),
        names(words),
        Query.PartTimeToLive::new,
        left -> left < 0 ? left : SET,
        FOR_EVER,
        Operation.PersistParts::new);
  }

  /**
   * Returns whether a field may get another deadline; the former one is negative if it has none.
   */
  private static boolean allows(Call.When when, long former, long millis) {
    return switch (when) {
      case NONE -> former < 0;
      case SOME -> former >= 0;
      case EARLIER -> former < 0 || former > millis;
      case EARLIER_OF_SOME -> former >= 0 && former > millis;
      case LATER -> former >= 0 && former < millis;
    };
  }

  static Query deadline(Part part) {
    return new Query.Deadline(Optional.of(part));
  }

  private static List<String> names(Words words) {
    if (!words.takes("FIELDS")) {
      throw new RedisException(
          "ERR Mandatory argument FIELDS is missing or not at the right position");
    }
    long count =
        Numbers.integer(
            words.next(),
            1,
            Integer.MAX_VALUE,
            "ERR Parameter `numFields` should be greater than 0");
    if (count != words.left()) {
      throw new RedisException("ERR The `numfields` parameter must match the number of arguments");
    }
    return Texts.names(words.rest());
  }

  /** Returns the calls that read the key's version, which fields exist, and their deadlines. */
  private static List<Call> reads(Key key, List<String> names, Function<Part, Query> deadline) {
    List<Call> calls = new ArrayList<>(names.size() + 2);
    calls.add(new Call.Version(key));
    calls.add(Plans.readCall(key, new Query.Select(names.stream().distinct().toList())));
    for (String name : names) {
      calls.add(Plans.readCall(key, deadline.apply(new Part.Field(name))));
    }
    return calls;
  }

  /**
   * Returns each field's deadline, {@link #FOR_EVER}, or {@link #ABSENT} if there is no such field.
   */
  private static List<Long> deadlines(List<String> names, List<Reply> parts) {
    Reply.Answer read = Plans.answerOf(parts.get(1));
    var fields = Texts.fields(read);
    List<Long> deadlines = new ArrayList<>(names.size());
    for (int i = 0; i < names.size(); i++) {
      deadlines.add(
          fields.containsKey(names.get(i))
              ? Plans.answerOf(parts.get(i + 2)).reading().orElseThrow().asLong()
              : ABSENT);
    }
    return deadlines;
  }

  /**
   * Changes fields' deadlines.
   *
   * @param deadline the query for a field's deadline
   * @param outcome returns the answer for a field with this deadline; positive if the field changes
   * @param then the deadline of a changed field, in the terms of {@code outcome}
   * @param change the update of the changed fields
   */
  private static Plan change(
      Scope scope,
      Key key,
      List<String> names,
      Function<Part, Query> deadline,
      LongUnaryOperator outcome,
      long then,
      Function<List<Part>, Operation> change) {
    return Derived.of(
        scope,
        reads(key, names, deadline),
        parts -> {
          List<Long> former = deadlines(names, parts);
          Map<String, Long> changed = new LinkedHashMap<>(); // a command may name a field twice
          List<Long> outcomes = new ArrayList<>(names.size());
          for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            long done = outcome.applyAsLong(changed.getOrDefault(name, former.get(i)));
            outcomes.add(done);
            if (done > 0) {
              changed.put(name, done == DELETED ? ABSENT : then);
            }
          }
          List<Part> fields =
              changed.keySet().stream().<Part>map(name -> new Part.Field(name)).toList();
          return new Derived.Result(
              fields.isEmpty()
                  ? List.of()
                  : List.of(Plans.update(key, CrdtType.OR_MAP, change.apply(fields))),
              List.of(Derived.guard(key, parts.getFirst())),
              RespValue.Array.of(outcomes, RespValue.Int::new));
        });
  }

  /**
   * Returns a plan that shows fields' deadlines, or what is left until them, rounded up to the unit
   * as Redis does.
   */
  static Plan told(Scope scope, byte[][] w, Function<Part, Query> deadline, int unitMillis) {
    Words words = new Words(w);
    Key key = words.key();
    List<String> names = names(words);
    return Plans.reads(
        scope,
        reads(key, names, deadline),
        parts ->
            Plan.answer(
                RespValue.Array.of(
                    deadlines(names, parts),
                    millis ->
                        new RespValue.Int(
                            millis < 0 ? millis : (millis + unitMillis - 1) / unitMillis))));
  }
}
