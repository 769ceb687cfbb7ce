package io.osier.propagation.net.link;

import io.osier.crdt.CrdtType;

/** The versions of the peer protocol: those that this code speaks, and what each has added. */
public final class PeerVersions {
  /** The newest version. */
  public static final int NEWEST = 20;

  /** The oldest version: datacenters are upgraded one by one. */
  public static final int OLDEST = 9;

  /** Since this version a greeting and its answer carry the start number of the process. */
  public static final int STARTS = 10;

  /** Since this version a datacenter's name may have more characters than {@link #NAME_MAX}. */
  public static final int LONG_NAMES = 10;

  /** Since this version a bounded counter may start at another value than 0. */
  public static final int FIRST_VALUES = 11;

  /** Since this version there are objects and fields of {@link CrdtType#isLater} types. */
  public static final int LATER_TYPES = 11;

  /** Since this version clients' messages travel as notes to the datacenters of subscribers. */
  public static final int MESSAGES = 12;

  /** Since this version clients' requests are forwarded to datacenters that hold their keyspace. */
  public static final int FORWARDS = 13;

  /** Since this version the dialler's messages may come compressed. */
  public static final int COMPRESSED = 14;

  /**
   * Since this version datacenters are added to the holders of a keyspace while all serve. That
   * travels only in {@code _osier}.
   */
  public static final int HOLDERS = 15;

  /**
   * Since this version holders of a keyspace are removed while all serve, and added again. That
   * travels in {@code _osier}, and in the fingerprints of holders that were added again.
   */
  public static final int REMOVALS = 16;

  /**
   * Since this version there are keyspaces whose keys are hashed by tag. That travels in {@code
   * _osier} and in their fingerprints.
   */
  public static final int BY_TAG = 17;

  /**
   * Since this version keyspaces have rules on who may hold them, and holders that follow the load.
   * That travels in {@code _osier}.
   */
  public static final int PLACEMENT = 18;

  /**
   * Since this version there are keyspaces with homes. That travels in {@code _osier} and in their
   * fingerprints.
   */
  public static final int HOMES = 18;

  /**
   * Since this version clients' programs with steps that depend on earlier answers are forwarded,
   * and so is the question which datacenters have what was written.
   */
  public static final int SCRIPTS = 19;

  /** Since this version homes are added to keyspaces. That travels in {@code _osier}. */
  public static final int ADDED_HOMES = 20;

  /** The most characters of a name that is valid in every version. */
  static final int NAME_MAX = 16;

  private PeerVersions() {}

  /** Returns the oldest version that can carry a datacenter's name. */
  public static int oldestNaming(String dc) {
    return dc.length() > NAME_MAX ? LONG_NAMES : OLDEST;
  }
}
