package io.osier.bench.systems;

import java.util.concurrent.CompletionStage;
import java.util.function.IntConsumer;

/** Makes calls at one node of a system. */
public interface Calls extends AutoCloseable {
  @FunctionalInterface
  interface Call {
    /**
     * Makes a call.
     *
     * @param key the number of the object
     * @param number the number of the call at this client
     */
    CompletionStage<?> make(int key, long number);
  }

  /**
   * Returns the call that makes an operation.
   *
   * @throws ScenarioException if this system has no such operation
   */
  Call call(String operation);

  /** Creates the objects of all keys from 0 on by an operation, each with its whole content. */
  default void fill(String operation, int keys) {
    Call call = call(operation);
    for (int key = 0; key < keys; key++) {
      call.make(key, key).toCompletableFuture().join();
    }
  }

  /** Returns a counter's value at this node; 0 if there is none. */
  default long count(int key) {
    throw unsupported("the value of a counter");
  }

  /** Returns whether a set has an element at this node. */
  default boolean has(int key, int element) {
    throw unsupported("whether a set has an element");
  }

  /**
   * Starts watchers.
   *
   * @param keys how many keys are watched; below 0: all, by one watcher
   * @param told is given the key of each change of which a watcher is told
   * @return the watchers, to be closed; that fails if a watcher was cut off
   */
  default Watching watch(int keys, IntConsumer told) {
    throw unsupported("watching");
  }

  /** Returns whether watchers are told of each update, and not of several as one change. */
  default boolean tellsEachUpdate() {
    return false;
  }

  /** Returns access to objects that expire, whose keys are not the load's. */
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

    /** Gives an object its deadline, in milliseconds since 1970. */
    CompletionStage<?> expireAt(int number, long millis);

    /** Returns how many of the objects a client is shown. */
    long visible();

    /** Returns how many objects the store keeps, tombstones and the load's included. */
    long kept();

    /** Returns how many of the kept objects are tombstones. */
    long removed();
  }
}
