package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.Operation;
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
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** Commands that set, take away and show keys' deadlines. Static, for any thread. */
final class ExpiryCommands {
  private static final String BOTH_SIDES =
      "ERR GT and LT options at the same time are not compatible";
  private static final String NONE_AND_SOME =
      "ERR NX and XX, GT or LT options at the same time are not compatible";

  private ExpiryCommands() {}

  static Plan expire(Scope scope, byte[][] w, Unit unit) {
    Words words = new Words(w);
    Key key = words.key();
    byte[] time = words.next();
    Optional<Call.When> when = when(words); // Redis looks at the options first
    Operation.Expire deadline = Deadlines.of(scope, Numbers.integer(time), unit, w[0]);
    return when.isEmpty()
        ? change(scope, key, deadline)
        : Plans.run(
            scope,
            List.of(new Call.ExpireIf(key, deadline, when.get())),
            parts -> Plan.answer(parts.getFirst() instanceof Reply.Done ? 1 : 0));
  }

  static Plan persist(Scope scope, byte[][] words) {
    return change(scope, Key.of(words[1]), new Operation.Persist());
  }

  private static Plan change(Scope scope, Key key, Operation deadline) {
    return Plans.ask(
        Plans.write(scope, key, Operation.ANY_TYPE, deadline),
        reply -> Plan.answer(reply instanceof Reply.Done ? 1 : 0));
  }

  private static Optional<Call.When> when(Words words) {
    boolean none = false;
    boolean some = false;
    boolean later = false;
    boolean earlier = false;
    while (words.hasNext()) {
      byte[] word = words.next();
      switch (Words.option(word)) {
        case "NX" -> none = true;
        case "XX" -> some = true;
        case "GT" -> later = true;
        case "LT" -> earlier = true;
        default ->
            throw new RedisException(
                "ERR Unsupported option "
                    + new String(word, StandardCharsets.UTF_8).replaceAll("[\r\n]", " "));
      }
    }
    return when(none, some, later, earlier);
  }

  static Optional<Call.When> when(boolean none, boolean some, boolean later, boolean earlier) {
    if (none && (some || later || earlier)) {
      throw new RedisException(NONE_AND_SOME);
    }
    if (later && earlier) {
      throw new RedisException(BOTH_SIDES);
    }
    if (none) {
      return Optional.of(Call.When.NONE);
    }
    if (later) { // a key without a deadline lives longer than any
      return Optional.of(Call.When.LATER);
    }
    if (earlier) {
      return Optional.of(some ? Call.When.EARLIER_OF_SOME : Call.When.EARLIER);
    }
    return some ? Optional.of(Call.When.SOME) : Optional.empty();
  }

  /**
   * Returns a plan that shows a key's deadline, or what is left until it, rounded to the nearest
   * unit as Redis does.
   */
  static Plan told(Scope scope, byte[][] words, Query query, int unitMillis) {
    return Plans.read(
        scope,
        Key.of(words[1]),
        query,
        answer -> {
          if (!answer.exists()) {
            return new RespValue.Int(-2);
          }
          long millis = answer.reading().orElseThrow().asLong();
          return new RespValue.Int(millis < 0 ? -1 : (millis + unitMillis / 2) / unitMillis);
        });
  }
}
