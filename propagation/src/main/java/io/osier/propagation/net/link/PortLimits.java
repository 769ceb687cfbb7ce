package io.osier.propagation.net.link;

/**
 * The limits of a port's connections.
 *
 * @param connectionsMax the most that are open at once; further ones are closed
 * @param greetingMillis the time within which a connection must have greeted
 * @param frameMillis the longest time for which a frame that has begun may not grow. A frame must
 *     also be complete within this time and a second more for each received KiB of it
 */
public record PortLimits(int connectionsMax, long greetingMillis, long frameMillis) {
  /** The default for connections of peers. */
  public static final PortLimits DEFAULT = new PortLimits(100, 5_000, 30_000);
}
