package io.osier.proxy.objects;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.proxy.future.Calls;
import io.osier.proxy.values.ValueCodec;
import io.osier.proxy.values.Values;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A codec, and what keeps its faults in bounds: whatever it throws is one error with a code, and an
 * element of a set is encoded twice and decoded once before it is trusted.
 */
public class CheckedCodec<T> {
  /** Values themselves: nothing is encoded, decoded or looked at. */
  public static final CheckedCodec<Value> AS_IS = new AsIs();

  private final ValueCodec<T> codec;

  public CheckedCodec(ValueCodec<T> codec) {
    this.codec = present(codec, "a codec");
  }

  private static final class AsIs extends CheckedCodec<Value> {
    AsIs() {
      super(Values.plain().codec(Value.class));
    }

    @Override
    public Value value(Value object) {
      return object;
    }

    @Override
    public Value object(Value value) {
      return value;
    }

    @Override
    public Value element(Value object) {
      return object;
    }

    @Override
    @SuppressWarnings("unchecked") // handles of values are given lists of values
    public List<Value> elements(Collection<? extends Value> objects) {
      return (List<Value>) objects;
    }

    @Override
    public List<Value> list(List<Value> values) {
      return values;
    }

    @Override
    @SuppressWarnings("unchecked") // what is decoded of values is the values
    public <V, R> CompletableFuture<R> decoded(
        CompletableFuture<V> answer, Function<V, R> decoding) {
      return (CompletableFuture<R>) answer;
    }
  }

  /**
   * An object's value.
   *
   * @throws OsierException INVALID_ARGUMENT if it has none
   */
  public Value value(T object) {
    present(object, "an object");
    return guarded(
        ErrorCode.INVALID_ARGUMENT,
        "an object cannot be encoded",
        () -> present(codec.encode(object), "a codec's value"));
  }

  /**
   * A value's object.
   *
   * @throws OsierException MALFORMED if it has none
   */
  public T object(Value value) {
    return guarded(
        ErrorCode.MALFORMED,
        "a value cannot be decoded",
        () -> {
          T object = codec.decode(value);
          if (object == null) {
            throw OsierException.of(ErrorCode.MALFORMED, "a codec made null of a value");
          }
          return object;
        });
  }

  /** Runs a codec's code; a tree without end is a fault like any other. */
  private static <R> R guarded(ErrorCode code, String what, Supplier<R> action) {
    try {
      return action.get();
    } catch (OsierException e) {
      throw e.classified();
    } catch (RuntimeException | StackOverflowError e) {
      throw OsierException.of(code, what + ": " + e, e);
    }
  }

  /**
   * The value of an element, by which it is found again.
   *
   * @throws OsierException INVALID_ARGUMENT if another time it would have another one
   */
  public Value element(T object) {
    Value value = value(object);
    if (object instanceof String || object instanceof Number || object instanceof Value) {
      return value;
    }
    if (!value.equals(value(object))) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "the codec of "
              + object.getClass().getName()
              + " gives one object two values: it cannot be an element of a set");
    }
    if (!(object instanceof byte[]) && !object.equals(object(value))) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "an object of "
              + object.getClass().getName()
              + " does not equal what is decoded of it: it cannot be an element of a set (does its"
              + " class have equals?)");
    }
    return value;
  }

  /** The values of elements, in their order. */
  public List<Value> elements(Collection<? extends T> objects) {
    List<Value> values = new ArrayList<>(present(objects, "a collection of elements").size());
    for (T object : objects) {
      values.add(element(object));
    }
    return values;
  }

  public List<T> list(List<Value> values) {
    return values.stream().map(this::object).toList();
  }

  /**
   * The objects of a set's elements, unmodifiable, in the order of their values.
   *
   * @throws OsierException MALFORMED also if two of them are equal
   */
  public Set<T> set(List<Value> values) {
    Set<T> set = new LinkedHashSet<>();
    for (Value value : values) {
      T object = object(value);
      if (!set.add(object)) {
        throw OsierException.of(
            ErrorCode.MALFORMED,
            "two elements of a set decode to equal objects of "
                + object.getClass().getName()
                + ": their codec gives equal objects different values");
      }
    }
    return Collections.unmodifiableSet(set);
  }

  /** What a call's answer is decoded to, once it comes. */
  public <V, R> CompletableFuture<R> decoded(CompletableFuture<V> answer, Function<V, R> decoding) {
    return answer.thenApply(decoding);
  }

  /** Makes a call of what must be encoded first; what is wrong with that fails the call. */
  public static <A, R> CompletableFuture<R> call(
      Supplier<A> argument, Function<A, CompletableFuture<R>> call) {
    return Calls.attempt(() -> call.apply(argument.get()));
  }
}
