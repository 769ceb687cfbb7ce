package io.osier.adaptation;

/** Settings of the adaptation. */
public record AdaptationSettings(int capacity) {
  /** The defaults. */
  public static final AdaptationSettings DEFAULT = new AdaptationSettings(1000);
}
