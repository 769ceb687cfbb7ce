package io.osier.datacenter.shard;

import io.osier.core.KeyedHash;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.control.ControlPlane;
import io.osier.datacenter.control.Holders;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.files.StoreFiles;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.store.rocks.RocksDatabase;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mends a damaged store before it is opened, if other datacenters have the damaged data. */
final class StoreRepair {
  private static final Logger LOG = LoggerFactory.getLogger(StoreRepair.class);

  /** The control plane's objects are few and small. */
  private static final long CACHE_BYTES = 1 << 20;

  private StoreRepair() {}

  /** Mends the damage that the last run has met, if there are peers and it can be mended. */
  static void mend(DatacenterConfig config, Path dir) {
    if (config.peers().isEmpty()) {
      return;
    }
    try {
      StoreFiles.mend(dir, config.store().logMax(), keyspace -> holders(config, dir).hold(keyspace))
          .ifPresent(done -> LOG.warn("the store was damaged and has been repaired: {}", done));
    } catch (OsierException e) {
      LOG.error("the store is damaged and could not be repaired; what is not damaged is served", e);
    }
  }

  /** Returns the holders of keyspaces, as far as the damaged store can be read. */
  static Holders holders(DatacenterConfig config, Path dir) {
    try {
      RocksDatabase database =
          RocksDatabase.openReadOnly(
              dir, config.store().durability(), config.cluster(), config.dc());
      try {
        KeyspacePolicy policy = KeyspacePolicy.control();
        PartitionStore store =
            new PartitionStore(
                database.partition(policy.name(), 0, policy.partitioning()),
                new NoWriter(),
                database.self(),
                CACHE_BYTES,
                config.store().logMax(),
                KeyedHash.of(() -> 1), // there are no names here that strangers choose
                Runnable::run);
        store.recover(database.life(), true, database.replicas());
        return Holders.of(
            config.peers().keySet(),
            config.keyspaces(),
            fields(store, ControlPlane.DATACENTERS),
            fields(store, ControlPlane.KEYSPACES));
      } finally {
        database.close();
      }
    } catch (OsierException e) {
      LOG.warn("the stored list of keyspaces and datacenters (_osier) cannot be read", e);
      return Holders.unknown(config.peers().keySet());
    }
  }

  private static Reading.Fields fields(PartitionStore store, ObjectId object) {
    CrdtState state = store.getDurable(object);
    return state != null && state.read(new Query.Whole()) instanceof Reading.Fields read
        ? read
        : new Reading.Fields(new TreeMap<>());
  }

  /** Refuses to write: the store is only read. */
  private static final class NoWriter implements GroupWriter {
    @Override
    public void write(Group group) {
      throw new IllegalStateException("only read");
    }

    @Override
    public Runnable someTime(List<Change> changes) {
      return () -> {};
    }
  }
}
