package io.osier.bench.cluster;

import java.util.Locale;

/** How the datacenters of a run keep what they acknowledge. */
public enum Durability {
  SYNC("durability = sync", false),
  ASYNC("durability = async", false),
  NONE("durability = none", true),
  MEMORY("dir = \"\"", true);

  private final String setting;
  private final boolean lossy;

  Durability(String setting, boolean lossy) {
    this.setting = setting;
    this.lossy = lossy;
  }

  /** The settings of osier.store. */
  public String setting() {
    return setting;
  }

  /** Whether a process that is killed forgets what it had acknowledged. */
  public boolean isLossy() {
    return lossy;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
