package io.osier.datacenter.partition.machine;

/**
 * Something that a request has waited for.
 *
 * @param what kind of thing
 * @param details which one, in words; may be empty
 * @param nanos for how long
 */
public record Waited(For what, String details, long nanos) {
  /** What a request may wait for, besides its turn and its commit. */
  public enum For {
    /** Updates that its session has seen elsewhere had not come. */
    PAST("past", "what its session has seen elsewhere"),
    /** Other datacenters had the rights of a bounded counter that it needs. */
    RIGHTS("rights", "rights of its bounded counter that other datacenters have"),
    /** The object that it reads was not in memory. */
    READ("read", "the disk, from which its object was read");

    private final String label;
    private final String words;

    For(String label, String words) {
      this.label = label;
      this.words = words;
    }

    /** Returns one word, for metrics. */
    public String label() {
      return label;
    }

    /** Returns words for people. */
    public String words() {
      return words;
    }
  }

  /** What a command has waited for; see {@link Input.Command}. */
  public record Command(long ticket, Waited waited) {}
}
