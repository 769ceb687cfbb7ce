package io.osier.datacenter.store;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.FrameCodec;
import java.util.Map;
import java.util.TreeMap;

/**
 * The state of a partition besides its objects, stored in the group of the updates that led to it.
 *
 * @param self the incarnation that gave the commit numbers
 * @param committed the last commit number
 * @param timestamp the hybrid clock's last timestamp
 * @param keys how many keys there are
 * @param forgotten how many objects this incarnation dropped after their removal
 * @param through the number up to which all updates of each other replica are here
 * @param cursors the places in the peers' streams, by sender
 * @param settled see {@link io.osier.propagation.host.ReplicationProgress}
 * @param caughtUp see {@link PartitionProgress}
 * @param unremembered see {@link PartitionProgress}
 */
public record StoredState(
    ReplicaId self,
    long committed,
    long timestamp,
    long keys,
    long forgotten,
    VersionVector through,
    Map<ReplicaId, Cursor> cursors,
    boolean settled,
    boolean caughtUp,
    Forgetting unremembered) {
  private static final byte FORMAT = 4;

  /**
   * Records of this format do not say whether the partition has caught up, which is taken for
   * granted, nor what other datacenters have forgotten.
   */
  private static final byte FORMAT_MIN = 3;

  public StoredState {
    cursors = Map.copyOf(cursors);
  }

  /**
   * Returns the state of a partition whose incarnation has given no number, and whose data may lack
   * anything: each start fetches all that the peers have.
   *
   * @param through the number up to which all updates of each other replica are here
   */
  public static StoredState uncommitted(
      ReplicaId self, long timestamp, long keys, VersionVector through) {
    return new StoredState(
        self, 0, timestamp, keys, 0, through, Map.of(), false, false, Forgetting.UNKNOWN);
  }

  public byte[] encode() {
    WireOutput out = new WireOutput();
    out.writeByte(FORMAT);
    out.writeReplica(self);
    out.writeNumber(committed);
    out.writeNumber(timestamp);
    out.writeNumber(keys);
    out.writeNumber(forgotten);
    out.writeVector(through);
    out.writeBoolean(settled);
    out.writeBoolean(caughtUp);
    out.writeByte(unremembered.ordinal());
    out.writeCount(cursors.size());
    cursors.forEach(
        (sender, cursor) -> {
          out.writeReplica(sender);
          FrameCodec.writeStoredCursor(out, cursor);
        });
    return out.toBytes();
  }

  public static StoredState decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "a partition's state", StoredState::read);
  }

  private static StoredState read(WireInput in) {
    int format = in.readByte();
    if (format < FORMAT_MIN || format > FORMAT) {
      throw new MalformedException("format " + format + " of a partition's state is unknown");
    }
    ReplicaId self = in.readReplica();
    long committed = in.readNumber();
    long timestamp = in.readNumber();
    long keys = in.readNumber();
    long forgotten = in.readNumber();
    VersionVector through = in.readVector();
    boolean settled = in.readFlag();
    boolean caughtUp = format == FORMAT_MIN || in.readFlag();
    Forgetting unremembered =
        format == FORMAT_MIN ? Forgetting.SOMETHING : Forgetting.values()[in.readByte()];
    int n = in.readCount(4);
    Map<ReplicaId, Cursor> cursors = new TreeMap<>();
    for (int i = 0; i < n; i++) {
      cursors.put(in.readReplica(), FrameCodec.readStoredCursor(in));
    }
    return new StoredState(
        self,
        committed,
        timestamp,
        keys,
        forgotten,
        through,
        cursors,
        settled,
        caughtUp,
        unremembered);
  }
}
