package io.osier.core.codec;

import io.osier.core.ErrorCode;
import io.osier.core.PermanentException;
import org.jspecify.annotations.Nullable;

/** The bytes are no record of Osier's: cut off, damaged, hostile, or of another version. */
public final class MalformedException extends PermanentException {
  private static final long serialVersionUID = 1L;

  public MalformedException(String message) {
    super(ErrorCode.MALFORMED, message, null);
  }

  public MalformedException(@Nullable String message, Throwable cause) {
    super(ErrorCode.MALFORMED, message, cause);
  }
}
