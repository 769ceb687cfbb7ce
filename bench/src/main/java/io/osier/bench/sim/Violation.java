package io.osier.bench.sim;

/** Something that must never be. Ends its simulation. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What the trace should be searched for. */
  final String about;

  Violation(String about, String message) {
    super(message);
    this.about = about;
  }
}
