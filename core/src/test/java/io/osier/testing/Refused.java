package io.osier.testing;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.Condition;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Assertions on errors that say why something was refused. */
public final class Refused {
  private Refused() {}

  public static Condition<Throwable> with(ErrorCode code) {
    return new Condition<>(
        e -> e instanceof OsierException refused && refused.code() == code,
        "an OsierException with the code %s",
        code);
  }

  /** Asserts that a call throws such an error; returns an assertion for more checks of it. */
  public static AbstractThrowableAssert<?, ? extends Throwable> refused(
      ErrorCode code, ThrowingCallable call) {
    return Assertions.assertThatThrownBy(call).is(with(code));
  }
}
