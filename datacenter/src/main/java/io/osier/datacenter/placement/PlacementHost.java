package io.osier.datacenter.placement;

import java.util.Collection;
import java.util.Set;

/** The datacenter that placement asks how much keyspaces are asked for. */
public interface PlacementHost {
  /** One where nothing is counted. */
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

  /** From now on what is asked of these is counted. */
  void count(Collection<String> keyspaces);

  /** What was counted of a keyspace. */
  Measured measured(String keyspace);

  /**
   * Those that are connected and have not taken for seconds what was written here in {@code
   * _osier}, as where the disk is full: they would not hear that they are to hold something.
   */
  Set<String> lagging();

  /** Placement has altered the holders of a keyspace. */
  void moved(String keyspace, String command, String why);

  /** It was to, and could not. */
  void refused(String command, String why);
}
