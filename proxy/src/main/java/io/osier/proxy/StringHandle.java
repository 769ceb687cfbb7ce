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
 * A string: bytes that are assigned, and that count where they are a number. Of concurrent
 * assignments the latest wins; increments add up, and an assignment resets those that it saw. Where
 * another datacenter assigns something else at the same time, an increment counts on it if it is a
 * number. Cheap; thread-safe.
 *
 * <pre>{@code
 * shop.string("hits").assign("10");
 * long hits = shop.string("hits").incrementAndGet(5);    // 15
 * }</pre>
 *
 * <p>VALUE_TOO_LARGE if it would be over the keyspace's limit, WRONG_TYPE if the key holds another
 * type.
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

  /** Its bytes; empty if there is no such string. */
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

  /** How many bytes it has; 0 if there is no such string. */
  public long length() {
    return Calls.join(lengthAsync());
  }

  /** As {@link #length}. */
  public CompletableFuture<Long> lengthAsync() {
    return target.read(new Query.Size(), r -> ((Reading.Count) r).value());
  }

  /**
   * Adds to the number that it is; one that is not there is 0.
   *
   * @throws OsierException INVALID_ARGUMENT if it is not a whole number in the range of a long,
   *     OVERFLOW if it would leave that
   */
  public void increment(long amount) {
    Calls.join(incrementAsync(amount));
  }

  /** As {@link #increment(long)}. */
  public CompletableFuture<Void> incrementAsync(long amount) {
    return target.update(new Operation.Increment(amount));
  }

  /**
   * As {@link #increment(long)}, with the number that it has made, as this session's datacenter
   * sees it: what is concurrent elsewhere is not in it.
   */
  public long incrementAndGet(long amount) {
    return Calls.join(incrementAndGetAsync(amount));
  }

  /** As {@link #incrementAndGet(long)}. */
  public CompletableFuture<Long> incrementAndGetAsync(long amount) {
    return addAndGet(new Operation.Increment(amount), Long::valueOf);
  }

  /**
   * Adds to the number that it is, exactly.
   *
   * @param amount in the range of a long, with at most 18 digits behind the point
   * @throws OsierException INVALID_ARGUMENT if it is not a number of at most 40 characters,
   *     OVERFLOW if it would leave the range of a long
   */
  public void increment(BigDecimal amount) {
    Calls.join(incrementAsync(amount));
  }

  /** As {@link #increment(BigDecimal)}. */
  public CompletableFuture<Void> incrementAsync(BigDecimal amount) {
    return CheckedCodec.call(() -> new Operation.IncrementDecimal(amount), target::update);
  }

  /** As {@link #incrementAndGet(long)}, of a decimal number. */
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
   * Appends a text. This and what follows assigns what comes out at the datacenter that does it: of
   * concurrent ones, one wins.
   */
  public void append(String text) {
    Calls.join(appendAsync(text));
  }

  /** As {@link #append}. */
  public CompletableFuture<Void> appendAsync(String text) {
    return CheckedCodec.call(() -> Value.of(text), v -> target.update(new Operation.Append(v)));
  }

  /**
   * Overwrites bytes, and makes it longer where it must, with zeros in a gap.
   *
   * @param offset of the first one, at least 0
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
   * @param offset at least 0; the first bit is the highest one of the first byte
   */
  public void setBit(long offset, boolean on) {
    Calls.join(setBitAsync(offset, on));
  }

  /** As {@link #setBit}. */
  public CompletableFuture<Void> setBitAsync(long offset, boolean on) {
    return CheckedCodec.call(() -> new Operation.SetBit(offset, on), target::update);
  }
}
