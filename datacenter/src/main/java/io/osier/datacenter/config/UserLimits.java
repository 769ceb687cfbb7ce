package io.osier.datacenter.config;

/**
 * What each user may have of the port for clients at once. Who does not log in is one user, too.
 *
 * @param connections that are open
 * @param requests that were sent and are not answered
 * @param bytes of those requests
 */
public record UserLimits(Limit connections, Limit requests, Limit bytes) {
  /** No user is limited: what holds for all together is all that holds. */
  public static final UserLimits NONE =
      new UserLimits(
          Limit.given(Long.MAX_VALUE), Limit.given(Long.MAX_VALUE), Limit.given(1L << 62));

  /**
   * One limit.
   *
   * @param isGiven whether a setting says so. Otherwise it is the part of what all may have that
   *     leaves something for the others, and does not hold while nobody was ever named: then there
   *     are no others
   */
  public record Limit(long max, boolean isGiven) {
    /** One that a setting gives. */
    public static Limit given(long max) {
      return new Limit(max, true);
    }

    /** One that leaves something of what all may have. */
    static Limit partOf(long all) {
      return new Limit(Math.max(1, all * 3 / 4), false);
    }
  }
}
