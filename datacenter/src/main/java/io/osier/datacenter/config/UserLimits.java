package io.osier.datacenter.config;

/**
 * The limits of each user at the port for clients. All clients that do not log in are one user.
 *
 * @param connections that are open
 * @param requests that were sent and are not answered
 * @param bytes of those requests
 */
public record UserLimits(Limit connections, Limit requests, Limit bytes) {
  /** No user is limited: only the limits for all together hold. */
  public static final UserLimits NONE =
      new UserLimits(
          Limit.given(Long.MAX_VALUE), Limit.given(Long.MAX_VALUE), Limit.given(1L << 62));

  /**
   * One limit.
   *
   * @param isGiven whether a setting gives it. Otherwise it is a share of the limit for all that
   *     leaves something for others, and does not hold before the first user is named: then there
   *     are no others
   */
  public record Limit(long max, boolean isGiven) {
    /** A limit that a setting gives. */
    public static Limit given(long max) {
      return new Limit(max, true);
    }

    /** A limit that leaves others a share of the limit for all. */
    static Limit partOf(long all) {
      return new Limit(Math.max(1, all * 3 / 4), false);
    }
  }
}
