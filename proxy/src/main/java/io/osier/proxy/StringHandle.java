package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.ObjectRef;
import io.osier.proxy.values.ValueCodec;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A string of bytes, which can be incremented while it is a number. Of concurrent assignments the
 * latest wins; concurrent increments add up. An assignment replaces the increments that it has
 * seen; an increment that is concurrent with an assignment is added to the assigned value if that
 * is a number. Cheap; thread-safe.
 *
 * <pre>{@code
 * shop.string("hits").assign("10");
 * long hits = shop.string("hits").incrementAndGet(5);    // 15
 * }</pre>
 *
 * <p>Calls fail with VALUE_TOO_LARGE if the string would exceed the keyspace's limit, and with
 * WRONG_TYPE if the key holds another type.
 */
public final class StringHandle extends LastWriterCalls<String> {
  private static final CheckedCodec<String> TEXT =
      new CheckedCodec<>(
          new ValueCodec<String>() {
            @Override
            public Value encode(String text) {
              return Value.of(text);
            }

            @Override
            public String decode(Value value) {
              if (value instanceof Value.Bytes) {
                throw OsierException.of(
                    ErrorCode.MALFORMED, "the string is not UTF-8: read it by getBytes");
              }
              return value.toString();
            }
          });

  StringHandle(ObjectRef target) {
    super(target, TEXT);
  }

  /** Assigns bytes. */
  public void assign(byte[] bytes) {
    Calls.join(assignAsync(bytes));
  }

  /** As {@link #assign(byte[])}. */
  public CompletableFuture<Void> assignAsync(byte[] bytes) {
    return CheckedCodec.call(
        () -> Value.ofText(present(bytes, "bytes")), v -> target.update(new Operation.Assign(v)));
  }

  /** Reads the string's bytes; empty if there is no such string. */
  public Optional<byte[]> getBytes() {
    return Calls.join(getBytesAsync());
  }

  /** As {@link #getBytes}. */
  public CompletableFuture<Optional<byte[]>> getBytesAsync() {
    return target.read(
        new Query.Whole(), r -> ((Reading.Single) r).value().map(StringHandle::bytes));
  }

  private static byte[] bytes(Value value) {
    return value instanceof Value.Bytes bytes
        ? bytes.content().clone()
        : value.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Reads the string's length in bytes; 0 if there is no such string. */
  public long length() {
    return Calls.join(lengthAsync());
  }

  /** As {@link #length}. */
  public CompletableFuture<Long> lengthAsync() {
    return target.read(new Query.Size(), r -> ((Reading.Count) r).value());
  }

  /**
   * Adds to the number that the string represents; a string that does not exist counts as 0.
   *
   * @throws OsierException INVALID_ARGUMENT if the string is not a whole number in the range of a
   *     long, OVERFLOW if the sum would leave that range
   */
  public void increment(long amount) {
    Calls.join(incrementAsync(amount));
  }

  /** As {@link #increment(long)}. */
  public CompletableFuture<Void> incrementAsync(long amount) {
    return target.update(new Operation.Increment(amount));
  }

  /**
   * As {@link #increment(long)}, and returns the sum as this session's datacenter sees it, without
   * concurrent updates elsewhere.
   */
  public long incrementAndGet(long amount) {
    return Calls.join(incrementAndGetAsync(amount));
  }

  /** As {@link #incrementAndGet(long)}. */
  public CompletableFuture<Long> incrementAndGetAsync(long amount) {
    return addAndGet(new Operation.Increment(amount), Long::valueOf);
  }

  /**
   * Adds a decimal number to the one that the string represents, without rounding.
   *
   * @param amount in the range of a long, with at most 18 digits after the point
   * @throws OsierException INVALID_ARGUMENT if the string is not a number of at most 40 characters,
   *     OVERFLOW if the sum would leave the range of a long
   */
  public void increment(BigDecimal amount) {
    Calls.join(incrementAsync(amount));
  }

  /** As {@link #increment(BigDecimal)}. */
  public CompletableFuture<Void> incrementAsync(BigDecimal amount) {
    return CheckedCodec.call(() -> new Operation.IncrementDecimal(amount), target::update);
  }

  /** As {@link #incrementAndGet(long)}, with a decimal number. */
  public BigDecimal incrementAndGet(BigDecimal amount) {
    return Calls.join(incrementAndGetAsync(amount));
  }

  /** As {@link #incrementAndGet(BigDecimal)}. */
  public CompletableFuture<BigDecimal> incrementAndGetAsync(BigDecimal amount) {
    return CheckedCodec.call(
        () -> new Operation.IncrementDecimal(amount), o -> addAndGet(o, BigDecimal::new));
  }

  private <N> CompletableFuture<N> addAndGet(Operation operation, Function<String, N> number) {
    return target.update(
        operation,
        new Request.Ask(false, new Query.Whole()),
        r -> number.apply(((Reading.Single) r).value().orElseThrow().toString()));
  }

  /**
   * Appends a text. Like {@link #setRange} and {@link #setBit}, this assigns the whole result as it
   * is at this session's datacenter, so that of concurrent calls one wins.
   */
  public void append(String text) {
    Calls.join(appendAsync(text));
  }

  /** As {@link #append}. */
  public CompletableFuture<Void> appendAsync(String text) {
    return CheckedCodec.call(() -> Value.of(text), v -> target.update(new Operation.Append(v)));
  }

  /**
   * Overwrites bytes; extends the string if needed, and fills a gap with zeros.
   *
   * @param offset where the bytes go, counted from 0
   */
  public void setRange(long offset, byte[] bytes) {
    Calls.join(setRangeAsync(offset, bytes));
  }

  /** As {@link #setRange}. */
  public CompletableFuture<Void> setRangeAsync(long offset, byte[] bytes) {
    return CheckedCodec.call(
        () -> new Operation.SetRange(offset, Value.ofText(present(bytes, "bytes"))),
        target::update);
  }

  /**
   * Sets or clears a bit.
   *
   * @param offset the bit's number, from 0; bit 0 is the highest bit of the first byte
   */
  public void setBit(long offset, boolean on) {
    Calls.join(setBitAsync(offset, on));
  }

  /** As {@link #setBit}. */
  public CompletableFuture<Void> setBitAsync(long offset, boolean on) {
    return CheckedCodec.call(() -> new Operation.SetBit(offset, on), target::update);
  }
}
