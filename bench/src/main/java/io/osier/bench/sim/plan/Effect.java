package io.osier.bench.sim.plan;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Reading;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * What a reader can tell of updates whose traces are never removed: unique tokens (elements of
 * sets, values of registers) and amounts added to a counter.
 *
 * @param tokens unique in their object
 * @param amount 0 or more
 */
public record Effect(List<Value> tokens, long amount) {
  public static final Effect NONE = new Effect(List.of(), 0);

  /** The field of an accountable map that holds tokens. */
  public static final FieldId TOKENS = new FieldId("tokens", CrdtType.AW_SET);

  /** The field of an accountable map that holds amounts. */
  public static final FieldId AMOUNT = new FieldId("amount", CrdtType.PN_COUNTER);

  /** An amount as it is added to a string: as so many tenths. */
  static BigDecimal decimal(long amount) {
    return BigDecimal.valueOf(amount, 1);
  }

  /** Tokens of registers are whole numbers; text is the number that a string has become. */
  private static Effect shownBy(Value value) {
    try {
      return value instanceof Value.Str number
          ? new Effect(
              List.of(), new BigDecimal(number.content()).movePointRight(1).longValueExact())
          : token(value);
    } catch (ArithmeticException | NumberFormatException e) {
      return token(value); // what nobody has written
    }
  }

  public static Effect token(Value token) {
    return new Effect(List.of(token), 0);
  }

  /** What a whole reading shows. */
  public static Effect shownBy(Reading reading) {
    return switch (reading) {
      case Reading.Count c -> new Effect(List.of(), c.value());
      case Reading.Single s -> s.value().map(Effect::shownBy).orElse(NONE);
      case Reading.Many m -> new Effect(m.values(), 0);
      case Reading.Fields f ->
          new Effect(
              Optional.ofNullable(f.fields().get(TOKENS))
                  .map(r -> shownBy(r).tokens)
                  .orElse(List.of()),
              Optional.ofNullable(f.fields().get(AMOUNT)).map(r -> shownBy(r).amount).orElse(0L));
      case Reading.Rights r ->
          throw new IllegalArgumentException("no account is kept of bounded counters");
      case Reading.Flag f -> throw new IllegalArgumentException("no account is kept of flags");
    };
  }
}
