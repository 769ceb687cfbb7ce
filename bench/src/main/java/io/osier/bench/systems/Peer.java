package io.osier.bench.systems;

/**
 * Three nodes of one system in this JVM that replicate to each other by TCP, each called in process
 * through its own API. Objects and elements are numbers; each system names them in its own way. An
 * object is a counter or a set from its first update on.
 */
interface Peer extends AutoCloseable {
  /** How many nodes there are. */
  int NODES = 3;

  /**
   * A caller of a node, which the updates of one thread go through.
   *
   * @param node 0, 1 or 2
   */
  Caller caller(int node);

  /** Payload bytes that the nodes have sent to each other by TCP so far, in all directions. */
  long bytes();

  /** Ends the nodes, also those that are in the middle of something. */
  @Override
  void close();

  /** Used by one thread. What fails throws an unchecked exception of the system's own. */
  interface Caller {
    /**
     * Adds one to a counter. May return before the node has acknowledged it, but only so many
     * updates are under way.
     */
    void increment(int counter);

    /**
     * Adds an element to a set; as {@link #increment}.
     *
     * @throws UnsupportedOperationException if the system has no set that is a CRDT
     */
    void add(int set, int element);

    /**
     * Waits until every update of this caller is acknowledged.
     *
     * @throws IllegalStateException if one was not
     */
    void finish();

    /** A counter's value as the node sees it; 0 if it has not seen the counter. */
    long count(int counter);

    /** Whether a set has an element, as the node sees it. */
    boolean contains(int set, int element);
  }
}
