package io.osier.bench.systems;

/** A scenario asks for what there is not, or what cannot be done: its file is to be changed. */
public final class ScenarioException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public ScenarioException(String what) {
    super(what);
  }

  public ScenarioException(String what, Throwable cause) {
    super(what, cause);
  }
}
