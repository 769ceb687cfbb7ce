package io.osier.datacenter.testing;

import io.osier.core.ErrorCode;
import io.osier.protocol.Reply;
import java.util.List;
import org.assertj.core.api.Condition;

/** What a reply is that says why something was not done. */
public final class Failed {
  private Failed() {}

  /** With this code, and with all of these words in its message. */
  public static Condition<Object> with(ErrorCode code, String... words) {
    return new Condition<>(
        reply ->
            reply instanceof Reply.Failure failure
                && failure.code() == code
                && List.of(words).stream().allMatch(failure.message()::contains),
        "a failure with the code %s and the words %s",
        code,
        List.of(words));
  }
}
