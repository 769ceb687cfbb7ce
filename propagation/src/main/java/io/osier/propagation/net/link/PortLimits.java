package io.osier.propagation.net.link;

/**
 * What a port grants whoever connects to it.
 *
 * @param connectionsMax open at once; further ones are closed
 * @param greetingMillis within which a connection must have greeted
 * @param frameMillis for which a frame that has begun may not grow, and within which it must be
 *     complete, or a second later for each KiB that has come of it
 */
public record PortLimits(int connectionsMax, long greetingMillis, long frameMillis) {
  /** For peers, where nothing else is said. */
  public static final PortLimits DEFAULT = new PortLimits(100, 5_000, 30_000);
}
