package io.osier.bench.systems;

import java.util.concurrent.CompletionStage;
import java.util.function.IntConsumer;

/** Makes calls at one node of a system. */
public interface Calls extends AutoCloseable {
  @FunctionalInterface
  interface Call {
    /**
     * Calls.
     *
     * @param key number of the object
     * @param number of the call, at this client
     */
    CompletionStage<?> make(int key, long number);
  }

  /**
   * What makes an operation.
   *
   * @throws ScenarioException if this system has no such operation
   */
  Call call(String operation);

  /** Makes the objects from 0 on by an operation, each with all of its content. */
  default void fill(String operation, int keys) {
    Call call = call(operation);
    for (int key = 0; key < keys; key++) {
      call.make(key, key).toCompletableFuture().join();
    }
  }

  /** A counter's value here, 0 if there is none. */
  default long count(int key) {
    throw unsupported("the value of a counter");
  }

  /** Whether a set has an element here. */
  default boolean has(int key, int element) {
    throw unsupported("whether a set has an element");
  }

  /**
   * Has somebody watch.
   *
   * @param keys that are watched; below 0: all, by one watcher
   * @param told hears each key of which a change is told
   * @return which is closed in the end, and then fails if a watcher was cut off
   */
  default Watching watch(int keys, IntConsumer told) {
    throw unsupported("watching");
  }

  /** Whether watchers are told each update; else several may be told as one change. */
  default boolean tellsEachUpdate() {
    return false;
  }

  /** Objects that expire; their keys are none of the load's. */
  default Expiring expiring() {
    throw unsupported("time to live");
  }

  static ScenarioException unsupported(String what) {
    return new ScenarioException("this target does not know: " + what);
  }

  @Override
  void close();

  interface Watching extends AutoCloseable {
    @Override
    void close();
  }

  interface Expiring {
    CompletionStage<?> put(int number);

    /** Gives one its deadline, in milliseconds since 1970. */
    CompletionStage<?> expireAt(int number, long millis);

    /** How many a client is shown. */
    long visible();

    /** Of how many objects the store keeps something, the load's included. */
    long kept();

    /** Of these, those that only remember that they were removed. */
    long removed();
  }
}
