package io.osier.datacenter.placement;

import java.util.Collection;

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
        public void audit(String command, String outcome) {}
      };

  /** From now on what is asked of these is counted. */
  void count(Collection<String> keyspaces);

  /** What was counted of a keyspace. */
  Measured measured(String keyspace);

  /** Placement has changed something, or was to. */
  void audit(String command, String outcome);
}
