package io.osier.bench.sim.world;

import java.util.Locale;

/** Something that must never be. Ends its simulation. */
public final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String about;

  /**
   * A violation.
   *
   * @param about the object it is about, or anything else if it is about none
   * @param format what is wrong
   */
  @SuppressWarnings("AnnotateFormatMethod") // its annotation would be a dependency for this alone
  public Violation(Object about, String format, Object... arguments) {
    super(String.format(Locale.ROOT, format, arguments));
    this.about = about.toString();
  }

  /** What the trace should show. */
  public String about() {
    return about;
  }
}
