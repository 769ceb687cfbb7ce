package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.protocol.TransactionId;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The values that belong to {@link RecordKeys}:
 *
 * <pre>
 *   version   format | whether full | content; the replicas of the key's vector are preset
 *   log       type | key
 *   commit    transaction, high and low
 * </pre>
 */
final class RecordValues {
  private static final byte FORMAT = 1;
  private static final int FULL = 1;

  private RecordValues() {}

  static byte[] version(Causal content, VersionVector at) {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(FORMAT);
          out.writeByte(content.isFull() ? FULL : 0);
          for (int i = 0; i < at.size(); i++) {
            out.presetReplica(at.replica(i));
          }
          content.writeBody(out);
        });
  }

  static Causal version(byte[] bytes, VersionVector at, CrdtType type) {
    WireInput in = new WireInput(bytes);
    int format = in.readByte();
    if (format != FORMAT) {
      throw new MalformedException("format " + format + " of a version is unknown");
    }
    boolean full = in.readByte() == FULL;
    for (int i = 0; i < at.size(); i++) {
      in.presetReplica(at.replica(i));
    }
    Causal content = Causal.readBody(type, full, in);
    in.expectEnd();
    return content;
  }

  static byte[] logged(ObjectId object) {
    byte[] key = object.key().toBytes();
    return ByteBuffer.allocate(key.length + 1).put((byte) object.type().number()).put(key).array();
  }

  static ObjectId logged(byte[] value) {
    return new ObjectId(Key.of(Arrays.copyOfRange(value, 1, value.length)), CrdtType.of(value[0]));
  }

  static byte[] transaction(TransactionId transaction) {
    return ByteBuffer.allocate(2 * Long.BYTES)
        .putLong(transaction.high())
        .putLong(transaction.low())
        .array();
  }

  static TransactionId transaction(byte[] value) {
    ByteBuffer in = ByteBuffer.wrap(value);
    return new TransactionId(in.getLong(), in.getLong());
  }
}
