package io.osier.datacenter.partition.machine;

/**
 * What a request has waited for.
 *
 * @param what it was
 * @param details which of it, in words; empty if there is nothing to add
 * @param nanos for how long
 */
public record Waited(For what, String details, long nanos) {
  /** What a request may wait for besides its turn and what its answer waits for. */
  public enum For {
    /** What its session has seen elsewhere had not come. */
    PAST("past", "what its session has seen elsewhere"),
    /** Other datacenters had the rights of a bounded counter that it needs. */
    RIGHTS("rights", "rights of its bounded counter that other datacenters have"),
    /** What it reads was not in memory. */
    READ("read", "the disk, from which its object was read");

    private final String label;
    private final String words;

    For(String label, String words) {
      this.label = label;
      this.words = words;
    }

    /** One word, for figures. */
    public String label() {
      return label;
    }

    /** For people. */
    public String words() {
      return words;
    }
  }

  /** Of which command; see {@link Input.Command}. */
  public record Command(long ticket, Waited waited) {}
}
