package io.osier.adaptation;

/** How the sender ships an object's updates. */
public enum Mode {
  /** Each update at once, as an operation. */
  OP("op"),
  /** The updates of a window joined, just before the staleness bound runs out. */
  STATE("state");

  private final String label;

  Mode(String label) {
    this.label = label;
  }

  /** The name that is shown. */
  public String label() {
    return label;
  }
}
