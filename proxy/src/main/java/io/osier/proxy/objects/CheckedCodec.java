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
 * Guards against faults of a codec: turns whatever the codec throws into an OsierException, and
 * checks each element of a set by encoding it twice and decoding it once. Thread-safe if the codec
 * is.
 */
public class CheckedCodec<T> {
  /** A codec of values themselves, which does nothing. */
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
   * Encodes an object.
   *
   * @throws OsierException INVALID_ARGUMENT if the codec cannot encode it
   */
  public Value value(T object) {
    present(object, "an object");
    return guarded(
        ErrorCode.INVALID_ARGUMENT,
        "an object cannot be encoded",
        () -> present(codec.encode(object), "a codec's value"));
  }

  /**
   * Decodes a value.
   *
   * @throws OsierException MALFORMED if the codec cannot decode it
   */
  public T object(Value value) {
    return guarded(
        ErrorCode.MALFORMED,
        "a value cannot be decoded",
        () -> {
          T object = codec.decode(value);
          if (object == null) {
            throw OsierException.of(
                ErrorCode.MALFORMED,
                "a codec's decode returned null; it must return an object for each value");
          }
          return object;
        });
  }

  /** Runs a codec's code; a stack overflow (a cyclic object) is an error like any other. */
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
   * Encodes an element of a set, which the datacenter finds by this value.
   *
   * @throws OsierException INVALID_ARGUMENT if encoding it again yields another value, or it does
   *     not equal its decoded value
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
          ("an object of %s does not equal what is decoded of it: it cannot be an element"
                  + " of a set (does its class have equals?)")
              .formatted(object.getClass().getName()));
    }
    return value;
  }

  /** Encodes elements, in their order. */
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
   * Decodes a set's elements into an unmodifiable set, in the order of their values.
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

  /** Decodes a call's answer once it comes. */
  public <V, R> CompletableFuture<R> decoded(CompletableFuture<V> answer, Function<V, R> decoding) {
    return answer.thenApply(decoding);
  }

  /**
   * Encodes an argument and makes the call with it; an error of the encoding fails the call's
   * future.
   */
  public static <A, R> CompletableFuture<R> call(
      Supplier<A> argument, Function<A, CompletableFuture<R>> call) {
    return Calls.attempt(() -> call.apply(argument.get()));
  }
}
