package io.osier.bench.history;

/** A history that no causally consistent store can have produced. */
final class Inconsistency extends Exception {
  private static final long serialVersionUID = 1L;

  Inconsistency(String message) {
    super(message);
  }
}
