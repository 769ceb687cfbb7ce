package io.osier.datacenter.placement;

import java.util.Collection;
import java.util.Set;

/** The datacenter as placement sees it: it counts the load of keyspaces. */
public interface PlacementHost {
  /** A datacenter that counts nothing. */
  PlacementHost NONE =
      new PlacementHost() {
        @Override
        public void count(Collection<String> keyspaces) {}

        @Override
        public Measured measured(String keyspace) {
          return Measured.NOTHING;
        }

        @Override
        public Set<String> lagging() {
          return Set.of();
        }

        @Override
        public void moved(String keyspace, String command, String why) {}

        @Override
        public void refused(String command, String why) {}
      };

  /** Counts the load of these keyspaces from now on. */
  void count(Collection<String> keyspaces);

  /** Returns what was counted of a keyspace. */
  Measured measured(String keyspace);

  /**
   * Returns the datacenters that are connected and have not taken updates of {@code _osier} from
   * here for seconds, as where the disk is full: they would not hear that they must hold a
   * keyspace.
   */
  Set<String> lagging();

  /** Notes that placement has altered the holders of a keyspace. */
  void moved(String keyspace, String command, String why);

  /** Notes that a command of placement was refused. */
  void refused(String command, String why);
}
