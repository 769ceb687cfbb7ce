package io.osier.datacenter.store.records;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.VersionSearch;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * The keys of the LSM tree, whose order is that of their bytes:
 *
 * <pre>
 *   in place  partition | 'o' | key, escaped | 0 0 | type | 0
 *   version   partition | 'o' | key, escaped | 0 0 | type | ~max | hash | kind | vector
 *   entry     partition | 'e' | key, escaped | 0 0 | type | element or field
 *   log       partition | 'l' | commit number
 *   commit    partition | 't' | last commit number of a transaction
 *   removed   partition | 'r' | key, escaped | 0 0 | type
 *   deadline  partition | 'd' | milliseconds | key, escaped | 0 0 | type
 *   state     partition | 's'
 *   types     partition | 'y'
 *   replica   FF FF | 'r' | number
 *   header    FF FF | 'h'
 *   starts    FF FF | 's'
 * </pre>
 *
 * <p>{@code max} is the largest number in the version's vector (the second key design of the
 * thesis, 4.5.2), stored as its complement, so that an object's newest versions come first; its
 * first byte is never 0, so the state in place comes before them. A zero byte of a key is followed
 * by FF, so that no key is a prefix of another.
 */
public final class RecordKeys {
  static final int PARTITIONS_MAX = 0xFFFE;
  private static final byte OBJECTS = 'o';
  private static final byte ENTRIES = 'e';
  private static final byte LOG = 'l';
  private static final byte DEADLINES = 'd';
  private static final byte STATE = 's';
  private static final byte REMOVED = 'r';
  private static final byte TYPES = 'y';
  private static final byte TRANSACTIONS = 't';
  private static final int HASH_BYTES = 4;
  private static final int PREFIX_BYTES = 3;

  /** The bytes after the object: max, hash, kind. */
  private static final int FIXED_BYTES = Long.BYTES + HASH_BYTES + 1;

  /** Numbers replicas within a database. */
  public interface Dictionary {
    int numberOf(ReplicaId replica);

    /** Returns the replicas that have a number by now, in the order of their numbers. */
    List<ReplicaId> numbered();

    ReplicaId replica(int number);
  }

  private final short partition;

  public RecordKeys(int partition) {
    this.partition = (short) partition;
  }

  /** Returns the partition's number. */
  public int partition() {
    return Short.toUnsignedInt(partition);
  }

  /**
   * Returns the number of the partition to which a record belongs; for global records a number that
   * no partition has.
   */
  public static int partitionOf(byte[] key) {
    return Short.toUnsignedInt(ByteBuffer.wrap(key).getShort());
  }

  /** Returns the tag of a record's kind, as in the table above. */
  public static char tagOf(byte[] key) {
    return (char) key[PREFIX_BYTES - 1];
  }

  private static byte[] global(char tag, int number) {
    return ByteBuffer.allocate(7).putShort((short) 0xFFFF).put((byte) tag).putInt(number).array();
  }

  public static byte[] header() {
    return global('h', 0);
  }

  public static byte[] starts() {
    return global('s', 0);
  }

  static byte[] replica(int number) {
    return global('r', number);
  }

  /** Returns the key at which a partition's records begin and those of the one before it end. */
  public static byte[] partitionBegin(int number) {
    return new byte[] {(byte) (number >> 8), (byte) number};
  }

  private byte[] prefix(byte tag) {
    return new byte[] {(byte) (partition >> 8), (byte) partition, tag};
  }

  public byte[] state() {
    return prefix(STATE);
  }

  /**
   * Returns the key of the partition's types, whose record says that each object has a state in
   * place.
   */
  public byte[] types() {
    return prefix(TYPES);
  }

  public byte[] firstLogged(long after) {
    return logged(after + 1);
  }

  public byte[] logged(long number) {
    return ByteBuffer.allocate(PREFIX_BYTES + Long.BYTES).put(prefix(LOG)).putLong(number).array();
  }

  public byte[] logEnd() {
    return prefix((byte) (LOG + 1));
  }

  public byte[] transaction(long number) {
    return ByteBuffer.allocate(PREFIX_BYTES + Long.BYTES)
        .put(prefix(TRANSACTIONS))
        .putLong(number)
        .array();
  }

  public byte[] transactionsEnd() {
    return prefix((byte) (TRANSACTIONS + 1));
  }

  public static long loggedNumber(byte[] key) {
    return ByteBuffer.wrap(key).getLong(PREFIX_BYTES);
  }

  public byte[] objectsBegin() {
    return prefix(OBJECTS);
  }

  public byte[] objectsEnd() {
    return prefix((byte) (OBJECTS + 1));
  }

  /** Returns the key at which the versions of a key's objects begin. */
  public byte[] keyBegin(Key key) {
    byte[] plain = key.toBytes();
    int zeros = 0;
    for (byte b : plain) {
      zeros += b == 0 ? 1 : 0;
    }
    ByteBuffer out = ByteBuffer.allocate(PREFIX_BYTES + plain.length + zeros + 2);
    out.put(prefix(OBJECTS));
    for (byte b : plain) {
      out.put(b);
      if (b == 0) {
        out.put((byte) 0xFF);
      }
    }
    return out.put((byte) 0).put((byte) 0).array();
  }

  public byte[] keyEnd(Key key) {
    byte[] end = keyBegin(key);
    end[end.length - 1] = 1;
    return end;
  }

  public byte[] objectBegin(ObjectId object) {
    byte[] key = keyBegin(object.key());
    byte[] begin = Arrays.copyOf(key, key.length + 1);
    begin[key.length] = (byte) object.type().number();
    return begin;
  }

  /** Returns the key of an object's state in place. */
  public byte[] inPlace(ObjectId object) {
    byte[] begin = objectBegin(object);
    return Arrays.copyOf(begin, begin.length + 1);
  }

  /** Returns whether an object's record is its state in place, and no version. */
  public static boolean isInPlace(byte[] key, int objectLength) {
    return key.length == objectLength + 1;
  }

  /**
   * Returns whether a record belongs to an object.
   *
   * @param begin the prefix of the object's records
   */
  public static boolean isOf(byte[] key, byte[] begin) {
    return key.length > begin.length && Arrays.mismatch(key, begin) == begin.length;
  }

  /** Adds one to the last byte. */
  private static byte[] behind(byte[] key) {
    key[key.length - 1]++;
    return key;
  }

  public byte[] objectEnd(ObjectId object) {
    return behind(objectBegin(object));
  }

  public byte[] entriesBegin(ObjectId object) {
    byte[] key = objectBegin(object);
    key[PREFIX_BYTES - 1] = ENTRIES;
    return key;
  }

  /**
   * Returns the key of an entry.
   *
   * @param begin the prefix of its object's entries
   */
  public static byte[] entry(byte[] begin, byte[] key) {
    byte[] entry = Arrays.copyOf(begin, begin.length + key.length);
    System.arraycopy(key, 0, entry, begin.length, key.length);
    return entry;
  }

  public byte[] entriesEnd(ObjectId object) {
    return behind(entriesBegin(object));
  }

  public byte[] allEntriesEnd() {
    return prefix((byte) (ENTRIES + 1));
  }

  /** Returns the key of the note that an object only remembers its removal. */
  public byte[] removed(ObjectId object) {
    byte[] key = objectBegin(object);
    key[PREFIX_BYTES - 1] = REMOVED;
    return key;
  }

  public byte[] removedBegin(Optional<ObjectId> after) {
    return after.map(object -> behind(removed(object))).orElseGet(() -> prefix(REMOVED));
  }

  public byte[] removedEnd() {
    return prefix((byte) (REMOVED + 1));
  }

  /** Returns the key of the note of an object's deadline. */
  public byte[] deadline(Deadline deadline) {
    byte[] object = objectBegin(deadline.object());
    return ByteBuffer.allocate(object.length + Long.BYTES)
        .put(prefix(DEADLINES))
        .putLong(deadline.millis())
        .put(object, PREFIX_BYTES, object.length - PREFIX_BYTES)
        .array();
  }

  public byte[] deadlinesBegin(Optional<Deadline> after) {
    return after.map(deadline -> behind(deadline(deadline))).orElseGet(() -> prefix(DEADLINES));
  }

  public byte[] deadlinesEnd() {
    return prefix((byte) (DEADLINES + 1));
  }

  public static Deadline deadline(byte[] key) {
    return Codec.decode("the key of a deadline", () -> readDeadline(key));
  }

  private static Deadline readDeadline(byte[] key) {
    byte[] object = new byte[key.length - Long.BYTES];
    System.arraycopy(
        key, PREFIX_BYTES + Long.BYTES, object, PREFIX_BYTES, object.length - PREFIX_BYTES);
    return new Deadline(ByteBuffer.wrap(key).getLong(PREFIX_BYTES), object(object));
  }

  public byte[] version(
      ObjectId object, VersionVector at, boolean isSnapshot, Dictionary dictionary) {
    byte[] begin = objectBegin(object);
    WireOutput out = new WireOutput();
    for (int i = 0; i < at.size(); i++) {
      out.writeVarInt(dictionary.numberOf(at.replica(i)), true);
      out.writeNumber(at.number(i));
    }
    CRC32 hash = new CRC32();
    hash.update(out.getBuffer(), 0, out.position());
    return ByteBuffer.allocate(begin.length + FIXED_BYTES + out.position())
        .put(begin)
        .putLong(~VersionSearch.maxOf(at))
        .putInt((int) hash.getValue())
        .put((byte) (isSnapshot ? 1 : 0))
        .put(out.getBuffer(), 0, out.position())
        .array();
  }

  public static ObjectId object(byte[] key) {
    return Codec.decode("the key of an object's record", () -> readObject(key));
  }

  private static ObjectId readObject(byte[] key) {
    int end = objectLength(key);
    byte[] plain = new byte[end];
    int length = 0;
    for (int i = PREFIX_BYTES; i < end - 3; i++) {
      plain[length++] = key[i];
      if (key[i] == 0) {
        i++;
      }
    }
    return new ObjectId(Key.of(Arrays.copyOf(plain, length)), CrdtType.of(key[end - 1]));
  }

  /** Returns how many bytes of a record's key name the partition and the object. */
  public static int objectLength(byte[] key) {
    for (int i = PREFIX_BYTES; i < key.length - 1; i++) {
      if (key[i] == 0) {
        if (key[i + 1] == 0) {
          return i + 3;
        }
        i++;
      }
    }
    throw new MalformedException("the key of an object's record does not end");
  }

  public static boolean isSnapshot(byte[] key, int objectLength) {
    return key[objectLength + FIXED_BYTES - 1] == 1;
  }

  public static VersionVector at(byte[] key, int objectLength, Dictionary dictionary) {
    return Codec.decode("the key of a version", () -> readAt(key, objectLength, dictionary));
  }

  private static VersionVector readAt(byte[] key, int objectLength, Dictionary dictionary) {
    int begin = objectLength + FIXED_BYTES;
    WireInput in = new WireInput(key, begin, key.length - begin);
    VersionVector at = VersionVector.EMPTY;
    while (in.remaining() > 0) {
      at = at.with(dictionary.replica(in.readVarInt(true)), in.readNumber());
    }
    return at;
  }
}
