package io.osier.propagation.net.link;

import io.osier.crdt.CrdtType;

/** The versions of the peer protocol: those that this code speaks, and what each has brought. */
public final class PeerVersions {
  /** The newest one. */
  public static final int NEWEST = 19;

  /** The oldest one: datacenters are upgraded one by one. */
  public static final int OLDEST = 9;

  /** From this version on a greeting and its answer tell the start of the process. */
  public static final int STARTS = 10;

  /** From this version on a datacenter's name may have more characters than {@link #NAME_MAX}. */
  public static final int LONG_NAMES = 10;

  /** From this version on a bounded counter may start at another value than 0. */
  public static final int FIRST_VALUES = 11;

  /** From this version on there are objects and fields of {@link CrdtType#isLater} types. */
  public static final int LATER_TYPES = 11;

  /** From this version on messages of clients travel as notes, to whoever subscribes. */
  public static final int MESSAGES = 12;

  /** From this version on requests of clients are forwarded to who holds their keyspace. */
  public static final int FORWARDS = 13;

  /** From this version on what the dialler says may come compressed. */
  public static final int COMPRESSED = 14;

  /**
   * From this version on datacenters are added to the holders of a keyspace while all serve.
   * Nothing of it travels but what {@code _osier} says.
   */
  public static final int HOLDERS = 15;

  /**
   * From this version on holders of a keyspace are removed while all serve, and added again. That
   * travels in {@code _osier}, and in the fingerprints of who was added again.
   */
  public static final int REMOVALS = 16;

  /**
   * From this version on there are keyspaces whose keys are hashed by tag. That travels in {@code
   * _osier} and in their fingerprints.
   */
  public static final int BY_TAG = 17;

  /**
   * From this version on keyspaces have laws of who may hold them, and holders that follow the
   * load. That travels in {@code _osier}.
   */
  public static final int PLACEMENT = 18;

  /**
   * From this version on there are keyspaces with homes. That travels in {@code _osier} and in
   * their fingerprints.
   */
  public static final int HOMES = 18;

  /**
   * From this version on clients' programs whose steps follow one from the other are forwarded, and
   * so is the question which datacenters have what was written.
   */
  public static final int SCRIPTS = 19;

  /** So many characters a name has at most that is known in every version. */
  static final int NAME_MAX = 16;

  private PeerVersions() {}

  /** The oldest version in which a datacenter of this name can be spoken of. */
  public static int oldestNaming(String dc) {
    return dc.length() > NAME_MAX ? LONG_NAMES : OLDEST;
  }
}
