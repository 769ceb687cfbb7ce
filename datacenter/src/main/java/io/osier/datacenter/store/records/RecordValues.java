package io.osier.datacenter.store.records;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.state.ObjectForm;
import io.osier.crdt.state.StateCodec;
import io.osier.crdt.tree.EntrySource;
import io.osier.protocol.TransactionId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The values that belong to {@link RecordKeys}:
 *
 * <pre>
 *   version   1 | flags | content; the replicas of the key's vector are preset
 *             2 | flags | content, packed; its context's replicas are those of the vector
 *   in place  1 | vector | state, packed; its context's replicas are those of the vector
 *             2 | vector | the same of a state with deadlines
 *             3, 4 | …: as 1 and 2, and nothing else is of the key
 *             5 to 8 | vector | head: as 1 to 4, of a decomposed object
 *   entry     cell; replicas have the database's numbers
 *   log       type | key
 *   commit    transaction, high and low
 *   types     a byte for each
 * </pre>
 *
 * <p>The flags say whether the content is full, and whether it has deadlines.
 */
public final class RecordValues {
  private static final byte GENERAL_FORMAT = 1;
  private static final byte FORMAT = 2;
  private static final int HEAD_BYTES = 2;

  /** The least format of a state in place; its flags are added to it. */
  private static final byte IN_PLACE_FORMAT = 1;

  private static final byte EXPIRING = 1;
  private static final byte ALONE = 2;
  private static final byte DECOMPOSED = 4;
  private static final byte IN_PLACE_FORMAT_MAX = IN_PLACE_FORMAT + EXPIRING + ALONE + DECOMPOSED;

  private static final String IN_PLACE = "what stands in an object's place";
  private static final int FULL = 1;
  private static final int EXPIRES = 2;

  private RecordValues() {}

  static byte[] version(CrdtState content, VersionVector at) {
    if (!isOf(at, content.context())) {
      return generalVersion(content, at);
    }
    byte[] packed = StateCodec.pack(content);
    byte[] value = new byte[HEAD_BYTES + packed.length];
    value[0] = FORMAT;
    value[1] = (byte) flags(content);
    System.arraycopy(packed, 0, value, HEAD_BYTES, packed.length);
    return value;
  }

  public static CrdtState version(byte[] bytes, VersionVector at, CrdtType type) {
    return Codec.readAll(new WireInput(bytes), "a version", in -> version(in, at, type));
  }

  private static CrdtState version(WireInput in, VersionVector at, CrdtType type) {
    int format = in.readByte();
    int flags = in.readByteUnsigned();
    boolean full = (flags & FULL) != 0;
    int form = ObjectForm.of(type, (flags & EXPIRES) != 0);
    return switch (format) {
      case FORMAT -> StateCodec.unpack(form, full, replicas(at), in);
      case GENERAL_FORMAT -> generalVersion(in, at, form, full);
      default -> throw new MalformedException("format " + format + " of a version is unknown");
    };
  }

  /**
   * Encodes a content whose context has other replicas than its time; also the form of former
   * versions of Osier.
   */
  private static byte[] generalVersion(CrdtState content, VersionVector at) {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(GENERAL_FORMAT);
          out.writeByte(flags(content));
          replicas(at).forEach(out::presetReplica);
          StateCodec.write(out, content);
        });
  }

  private static CrdtState generalVersion(WireInput in, VersionVector at, int form, boolean full) {
    replicas(at).forEach(in::presetReplica);
    return StateCodec.read(form, full, in);
  }

  private static int flags(CrdtState content) {
    return (content.isFull() ? FULL : 0) | (content.expires() ? EXPIRES : 0);
  }

  /** Encodes a state with its time, to be put in an object's place. */
  static byte[] inPlace(CrdtState state, boolean isAlone, RecordKeys.Dictionary dictionary) {
    if (!state.isFull()) {
      throw new IllegalArgumentException("a delta cannot stand for its object");
    }
    byte[] packed = StateCodec.pack(state);
    return WireOutput.bytesOf(
        out -> {
          writeInPlace(out, state, isAlone ? ALONE : 0, dictionary);
          out.writeBytes(packed);
        });
  }

  /** Encodes the head of a decomposed object with its time, to be put in the object's place. */
  static byte[] head(CrdtState state, boolean isAlone, RecordKeys.Dictionary dictionary) {
    return WireOutput.bytesOf(
        out -> {
          writeInPlace(out, state, DECOMPOSED + (isAlone ? ALONE : 0), dictionary);
          state.context().replicas().forEach(out::presetReplica);
          Decomposition.writeHead(state, out);
        });
  }

  private static void writeInPlace(
      WireOutput out, CrdtState state, int flags, RecordKeys.Dictionary dictionary) {
    VersionVector at = state.context().toVersionVector();
    out.writeByte(IN_PLACE_FORMAT + flags + (state.expires() ? EXPIRING : 0));
    out.writeCount(at.size());
    for (int i = 0; i < at.size(); i++) {
      out.writeVarInt(dictionary.numberOf(at.replica(i)), true);
      out.writeNumber(at.number(i));
    }
  }

  /** Returns the time of the state in an object's place, without decoding the rest of it. */
  public static VersionVector inPlaceAt(byte[] value, RecordKeys.Dictionary dictionary) {
    return Codec.decode(IN_PLACE, () -> inPlaceAt(new WireInput(value), dictionary));
  }

  private static VersionVector inPlaceAt(WireInput in, RecordKeys.Dictionary dictionary) {
    int format = in.readByte();
    if (format < IN_PLACE_FORMAT || format > IN_PLACE_FORMAT_MAX) {
      throw new MalformedException("format " + format + " of an object is unknown");
    }
    VersionVector at = VersionVector.EMPTY;
    for (int i = in.readCount(2); i > 0; i--) {
      at = at.with(dictionary.replica(in.readVarInt(true)), in.readNumber());
    }
    return at;
  }

  /** Returns whether the state in an object's place is all that there is of its key. */
  public static boolean isAlone(byte[] value) {
    return has(value, ALONE);
  }

  /** Returns whether the value in an object's place is the head of a decomposed object. */
  public static boolean isDecomposed(byte[] value) {
    return has(value, DECOMPOSED);
  }

  private static boolean has(byte[] value, byte flag) {
    if (value.length == 0) {
      throw new MalformedException("what stands in an object's place is empty");
    }
    return ((value[0] - IN_PLACE_FORMAT) & flag) != 0;
  }

  /** Decodes the state in an object's place. */
  public static CrdtState inPlace(byte[] value, CrdtType type, RecordKeys.Dictionary dictionary) {
    return Codec.readAll(
        new WireInput(value),
        IN_PLACE,
        in -> {
          VersionVector at = inPlaceAt(in, dictionary);
          return StateCodec.unpack(form(value, type), true, replicas(at), in);
        });
  }

  /**
   * Decodes the decomposed object whose head is in its place.
   *
   * @param entries the object's entries, as they were when the head was written
   */
  public static CrdtState decomposed(
      byte[] value, CrdtType type, RecordKeys.Dictionary dictionary, EntrySource entries) {
    return Codec.decode( // with deadlines it searches for the entries that have some
        IN_PLACE,
        () -> {
          WireInput in = new WireInput(value);
          VersionVector at = inPlaceAt(in, dictionary);
          CrdtState state = Decomposition.readHead(form(value, type), replicas(at), in, entries);
          in.expectEnd();
          return state;
        });
  }

  private static int form(byte[] value, CrdtType type) {
    return ObjectForm.of(type, has(value, EXPIRING));
  }

  private static boolean isOf(VersionVector at, CausalContext context) {
    boolean same = at.size() == context.size();
    for (int i = 0; same && i < at.size(); i++) {
      same = at.replica(i).equals(context.replica(i));
    }
    return same;
  }

  private static List<ReplicaId> replicas(VersionVector at) {
    List<ReplicaId> replicas = new ArrayList<>(at.size());
    for (int i = 0; i < at.size(); i++) {
      replicas.add(at.replica(i));
    }
    return replicas;
  }

  static byte[] logged(ObjectId object) {
    byte[] key = object.key().toBytes();
    return ByteBuffer.allocate(key.length + 1).put((byte) object.type().number()).put(key).array();
  }

  public static ObjectId logged(byte[] value) {
    return Codec.decode(
        "a record of the log",
        () ->
            new ObjectId(
                Key.of(Arrays.copyOfRange(value, 1, value.length)), CrdtType.of(value[0])));
  }

  static byte[] types(Set<CrdtType> types) {
    byte[] value = new byte[types.size()];
    int length = 0;
    for (CrdtType type : types) {
      value[length++] = (byte) type.number();
    }
    return value;
  }

  public static Set<CrdtType> types(byte[] value) {
    Set<CrdtType> types = EnumSet.noneOf(CrdtType.class);
    for (byte type : value) {
      types.add(Codec.decode("a type", () -> CrdtType.of(type)));
    }
    return types;
  }

  static byte[] transaction(TransactionId transaction) {
    return ByteBuffer.allocate(2 * Long.BYTES)
        .putLong(transaction.high())
        .putLong(transaction.low())
        .array();
  }

  public static TransactionId transaction(byte[] value) {
    ByteBuffer in = ByteBuffer.wrap(value);
    return Codec.decode(
        "a transaction's record", () -> new TransactionId(in.getLong(), in.getLong()));
  }
}
