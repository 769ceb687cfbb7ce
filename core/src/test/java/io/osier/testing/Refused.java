package io.osier.testing;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import org.assertj.core.api.Condition;

/** What an error is that says why something was refused. */
public final class Refused {
  private Refused() {}

  public static Condition<Throwable> with(ErrorCode code) {
    return new Condition<>(
        e -> e instanceof OsierException refused && refused.code() == code,
        "an OsierException with the code %s",
        code);
  }
}
