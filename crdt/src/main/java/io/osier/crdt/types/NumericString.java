package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DecimalAmount;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Assigned bytes, with sums on top. Of concurrent assignments the latest wins. An assignment resets
 * the sums that it saw, as a counter's reset does; concurrent increments stay, and are added to
 * whichever number wins. If the winner is no number, they are not shown.
 *
 * <p>An assigned value is kept as a long if it is the text of one, as a text if it is UTF-8, and
 * otherwise as bytes; see {@link StringText}.
 */
public final class NumericString implements DotStore<NumericString> {
  public static final NumericString EMPTY =
      new NumericString(LwwRegister.EMPTY, CounterSlots.EMPTY);

  private final LwwRegister assigned;
  private final CounterSlots sums;

  private NumericString(LwwRegister assigned, CounterSlots sums) {
    this.assigned = assigned;
    this.sums = sums;
  }

  @Override
  public CrdtType type() {
    return CrdtType.STRING;
  }

  /**
   * Returns the string in the form that is kept; empty if there is neither an assignment nor a sum.
   */
  private Optional<Value> kept() {
    Optional<Value> text = assigned.value();
    if (sums.isReset()) {
      return text;
    }
    if (text.isEmpty()) {
      return Optional.of(sum(Value.of(0)));
    }
    return text.map(this::sum);
  }

  private Value sum(Value text) {
    if (text instanceof Value.Int number && StringSums.areWhole(sums)) {
      Optional<Long> sum = StringSums.wholePlus(sums, number.content());
      if (sum.isPresent()) {
        return Value.of(sum.get());
      }
    }
    return StringText.number(text)
        .map(number -> StringText.kept(number.add(StringSums.decimal(sums))))
        .orElse(text);
  }

  @Override
  public NumericString prepare(Operation operation, UpdateContext preparation) {
    return switch (operation) {
      case Operation.Assign o -> assign(StringText.kept(o.value()), preparation);
      case Operation.Append o -> {
        byte[] more = StringText.bytes(StringText.kept(o.value()));
        int length = length();
        byte[] all = bytes((long) length + more.length, preparation);
        System.arraycopy(more, 0, all, length, more.length);
        yield assign(StringText.kept(all), preparation);
      }
      case Operation.SetRange o -> {
        byte[] part = StringText.bytes(StringText.kept(o.value()));
        int offset = Math.toIntExact(o.offset());
        byte[] bytes = bytes(part.length == 0 ? 0 : (long) offset + part.length, preparation);
        System.arraycopy(part, 0, bytes, part.length == 0 ? 0 : offset, part.length);
        yield assign(StringText.kept(bytes), preparation);
      }
      case Operation.SetBit o -> {
        int at = Math.toIntExact(o.offset() >> 3);
        byte[] bytes = bytes(at + 1L, preparation);
        int bit = 0x80 >> (o.offset() & 7); // the first one is the highest of its byte
        bytes[at] = (byte) (o.on() ? bytes[at] | bit : bytes[at] & ~bit);
        yield assign(StringText.kept(bytes), preparation);
      }
      case Operation.Increment o -> increment(o.amount(), preparation);
      case Operation.IncrementDecimal o -> increment(o.amount(), preparation);
      default -> throw wrongOperation(operation);
    };
  }

  private int length() {
    return kept().map(StringText::length).orElse(0);
  }

  /** Returns a copy of its bytes, with zeros appended up to a length. */
  private byte[] bytes(long lengthMin, UpdateContext preparation) {
    long length = Math.max(length(), lengthMin);
    preparation.rewrites(length(), length);
    byte[] bytes = kept().map(StringText::bytes).orElse(new byte[0]);
    return Arrays.copyOf(bytes, Math.toIntExact(length));
  }

  private NumericString assign(Value value, UpdateContext preparation) {
    return new NumericString(
        assigned.prepare(new Operation.Assign(value), preparation), sums.reset());
  }

  private NumericString increment(long amount, UpdateContext preparation) {
    if (!(kept().orElse(Value.of(0)) instanceof Value.Int number)) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "the string is not a whole number in the range of a long");
    }
    try {
      Math.addExact(number.content(), amount);
    } catch (ArithmeticException e) {
      throw OsierException.of(
          ErrorCode.OVERFLOW,
          "adding " + amount + " to " + number.content() + " leaves the range of a long");
    }
    return new NumericString(LwwRegister.EMPTY, StringSums.add(sums, amount, 0, preparation));
  }

  private NumericString increment(BigDecimal amount, UpdateContext preparation) {
    BigDecimal number =
        StringText.number(kept().orElse(Value.of(0)))
            .orElseThrow(
                () ->
                    OsierException.of(
                        ErrorCode.INVALID_ARGUMENT,
                        "the string is not a number of at most "
                            + StringText.DIGITS_MAX
                            + " characters"));
    if (!DecimalAmount.isInRange(number.add(amount))) {
      throw OsierException.of(
          ErrorCode.OVERFLOW, "adding " + amount + " to " + number + " leaves the range of a long");
    }
    long whole = DecimalAmount.whole(amount);
    long fraction = DecimalAmount.fraction(amount);
    return new NumericString(LwwRegister.EMPTY, StringSums.add(sums, whole, fraction, preparation));
  }

  @Override
  public NumericString reset(UpdateContext preparation) {
    return new NumericString(assigned.reset(preparation), sums.reset());
  }

  @Override
  public NumericString join(NumericString other, JoinContext joining) {
    return new NumericString(
        assigned.join(other.assigned, joining),
        sums.isEmpty() && other.sums.isEmpty()
            ? CounterSlots.EMPTY
            : sums.join(other.sums, joining));
  }

  @Override
  public Reading read(Query query) {
    return switch (query) {
      case Query.Whole q -> new Reading.Single(kept().map(StringText::shown));
      case Query.Size q -> new Reading.Count(length());
      default -> throw wrongQuery(query);
    };
  }

  @Override
  public boolean isBottom() {
    return assigned.isBottom() && sums.isReset();
  }

  @Override
  public boolean isEmpty() {
    return assigned.isEmpty() && sums.isEmpty();
  }

  @Override
  public boolean isTrimmedEmpty() {
    return isBottom();
  }

  @Override
  public NumericString trimmed() {
    return new NumericString(assigned, sums.trimmed());
  }

  @Override
  public long latestTimestamp() {
    return assigned.latestTimestamp();
  }

  @Override
  public long sizeBytes() {
    return assigned.sizeBytes() + sums.sizeBytes();
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(2 * HeapSize.REFERENCE) + assigned.heapBytes() + sums.heapBytes();
  }

  @Override
  public void write(WireOutput out) {
    assigned.write(out);
    StringSums.write(sums, out);
  }

  /** Reads the form that {@link #write} produces. */
  static NumericString read(WireInput in) {
    return new NumericString(LwwRegister.read(in), StringSums.read(in));
  }

  /** See {@link TypeRegistry#skip}. */
  static boolean skip(WireInput in) {
    boolean isAssigned = LwwRegister.skip(in);
    boolean counts = !StringSums.read(in).isReset();
    return isAssigned || counts;
  }

  /** See {@link TypeRegistry#readValue}. */
  static @Nullable Reading readValue(WireInput in) {
    NumericString string = read(in);
    return string.isBottom() ? null : string.read(new Query.Whole());
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof NumericString s && assigned.equals(s.assigned) && sums.equals(s.sums);
  }

  @Override
  public int hashCode() {
    return 31 * assigned.hashCode() + sums.hashCode();
  }

  @Override
  public String toString() {
    return assigned + (sums.isEmpty() ? "" : " and " + StringSums.decimal(sums).toPlainString());
  }
}
