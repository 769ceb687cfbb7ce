package io.osier.bench.systems;

/** A mistake in a scenario: it names something unknown or impossible, and must be changed. */
public final class ScenarioException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public ScenarioException(String what) {
    super(what);
  }

  public ScenarioException(String what, Throwable cause) {
    super(what, cause);
  }
}
