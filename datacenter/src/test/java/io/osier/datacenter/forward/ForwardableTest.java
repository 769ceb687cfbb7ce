package io.osier.datacenter.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Homes;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Request;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ForwardableTest {
  /** Else the holder would refuse what is read there, as a key of another home. */
  @Test
  void whoWaitsForAPartitionOfAHome_readsAKeyOfBoth() {
    Homes homes = new Homes(List.of("eu", "us"));
    for (Partitioning.Hash hash : Partitioning.Hash.values()) {
      Partitioning keys = new Partitioning(8, hash, homes);
      for (String name : homes.keyspaces("carts")) {
        for (int partition = 0; partition < keys.count(); partition++) {
          ProgressRequest.Reach waits =
              new ProgressRequest.Reach(name, partition, VersionVector.EMPTY, 5);
          Request.Read read = (Request.Read) Forwardable.travelling(waits, keys);
          assertThat(homes.keyspace("carts", read.key())).isEqualTo(name);
          assertThat(keys.of(read.key())).isEqualTo(partition);
        }
      }
    }
  }
}
