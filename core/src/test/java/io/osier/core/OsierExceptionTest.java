package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.codec.MalformedException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The class of exception that is thrown for each code, by what a caller does about it. */
final class OsierExceptionTest {
  private static final Map<Class<? extends OsierException>, List<ErrorCode>> FAMILY =
      Map.of(
          InvalidRequestException.class,
          List.of(
              ErrorCode.INVALID_ARGUMENT,
              ErrorCode.UNKNOWN_KEYSPACE,
              ErrorCode.WRONG_TYPE,
              ErrorCode.KEY_TOO_LARGE,
              ErrorCode.VALUE_TOO_LARGE,
              ErrorCode.OVERFLOW,
              ErrorCode.CONFIGURATION),
          UnavailableException.class,
          List.of(
              ErrorCode.UNAVAILABLE,
              ErrorCode.SHUTTING_DOWN,
              ErrorCode.REFUSED_BY_PEERS,
              ErrorCode.STORE_FULL),
          TransientException.class,
          List.of(
              ErrorCode.OVERLOADED,
              ErrorCode.TIMEOUT,
              ErrorCode.SESSION_BEHIND,
              ErrorCode.NOT_ENOUGH_RIGHTS),
          PermanentException.class,
          List.of(
              ErrorCode.SESSION_LOST,
              ErrorCode.MALFORMED,
              ErrorCode.VERSION_MISMATCH,
              ErrorCode.DUPLICATE_DC,
              ErrorCode.INTERNAL,
              ErrorCode.STORE_DAMAGED,
              ErrorCode.TRANSACTION_ENDED,
              ErrorCode.SNAPSHOT_TOO_OLD,
              ErrorCode.TRANSACTION_FORGOTTEN,
              ErrorCode.NOT_AUTHENTICATED,
              ErrorCode.FORBIDDEN,
              ErrorCode.NOT_A_MEMBER,
              ErrorCode.HISTORY_TOO_SHORT,
              ErrorCode.WATCHER_TOO_SLOW,
              ErrorCode.CANCELLED));

  private static Class<? extends OsierException> classOf(ErrorCode code) {
    Map<ErrorCode, Class<? extends OsierException>> by = new EnumMap<>(ErrorCode.class);
    FAMILY.forEach((type, codes) -> codes.forEach(c -> by.put(c, type)));
    Class<? extends OsierException> type = by.get(code);
    assertThat(type).as("no class is expected of %s", code).isNotNull();
    return type;
  }

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void eachCode_hasItsClass_andIsInTheMessage(ErrorCode code) {
    OsierException made = OsierException.of(code, "the door is shut; open it");
    assertThat(made).isExactlyInstanceOf(classOf(code));
    assertThat(made.code()).isEqualTo(code);
    assertThat(made).hasMessage(code + ": the door is shut; open it");
    assertThat(made.reason()).isEqualTo("the door is shut; open it");
  }

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void whatMayBeTriedAgain_saysSoByItsClass(ErrorCode code) {
    OsierException made = OsierException.of(code, "");
    assertThat(made instanceof UnavailableException || made instanceof TransientException)
        .isEqualTo(code.retryable());
  }

  @Test
  void aMessageThatHasTheCode_isNotGivenItTwice() {
    OsierException first = OsierException.of(ErrorCode.OVERFLOW, "too much");
    OsierException again = OsierException.of(first.code(), first.getMessage());
    assertThat(again).hasMessage("OVERFLOW: too much");
  }

  @Test
  void anErrorOfNoClass_isClassified_andOneOfAClassStays() {
    OsierException plain = new OsierException(ErrorCode.STORE_FULL, "no room");
    OsierException classified = plain.classified();
    assertThat(classified)
        .isExactlyInstanceOf(UnavailableException.class)
        .hasMessage("STORE_FULL: no room")
        .hasCause(plain);
    assertThat(classified.classified()).isSameAs(classified);
    MalformedException malformed = new MalformedException("cut off");
    assertThat(malformed.classified()).isSameAs(malformed);
  }
}
