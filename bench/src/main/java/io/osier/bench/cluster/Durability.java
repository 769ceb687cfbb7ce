package io.osier.bench.cluster;

import java.util.Locale;

/** How durable an acknowledged update is at the datacenters of a run. */
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

  /** Returns the durability as settings of osier.store. */
  public String setting() {
    return setting;
  }

  /** Returns whether a process that is killed may forget acknowledged updates. */
  public boolean isLossy() {
    return lossy;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
