package io.osier.core.codec;

import com.esotericsoftware.kryo.io.Input;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Utf8;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link WireOutput} wrote, and trusts nothing: it checks every count and length against
 * the bytes that are left before it allocates anything, limits the depth of nesting, and refuses
 * what a constructor would refuse. Throws {@link MalformedException}. Not thread-safe.
 *
 * <p>For many records, as of a connection, {@link #set} begins the next one, and the input keeps
 * the last replicas and the last name that it created.
 */
public final class WireInput extends Input {
  private static final String NO_UTF8 = "a text is not UTF-8";

  /** Deepest nesting of maps in maps that is read. */
  public static final int DEPTH_MAX = 16;

  /** A vector has room for this many entries at first: more than there are datacenters. */
  private static final int VECTOR_ENTRIES = 8;

  private List<ReplicaId> dictionary;

  /** Created when a replica is first to be kept: most inputs read one record, of known replicas. */
  private @Nullable RecentReplicas recent;

  private String lastName = "";
  private int depth;

  /** Creates an input that reads nothing until {@link #set} is called. */
  public WireInput() {
    this(new byte[0]);
  }

  /** Creates an input of the bytes from {@code offset} on. */
  public WireInput(byte[] bytes, int offset, int length) {
    super(bytes, offset, length);
    dictionary = new ArrayList<>(4);
  }

  public WireInput(byte[] bytes) {
    this(bytes, 0, bytes.length);
  }

  /**
   * Creates an input of all the bytes, with replicas known beforehand; see {@link #presetReplica}.
   */
  public WireInput(byte[] bytes, List<ReplicaId> known) {
    super(bytes);
    dictionary = new ArrayList<>(known);
  }

  /** Begins another record: the bytes from {@code offset} on. */
  public void set(byte[] bytes, int offset, int length) {
    setBuffer(bytes, offset, length);
    dictionary.clear();
    depth = 0;
  }

  /** Makes a replica known beforehand; see {@link WireOutput#presetReplica}. */
  public void presetReplica(ReplicaId replica) {
    dictionary.add(replica);
  }

  /** Returns how many bytes were not read yet. */
  public int remaining() {
    return limit - position;
  }

  /** Throws if bytes are left: a record ends where its bytes end. */
  public void expectEnd() {
    if (remaining() != 0) {
      throw new MalformedException(remaining() + " bytes are left after the end of the record");
    }
  }

  /** Reads a non-negative number. */
  public long readNumber() {
    long number = readVarLong(true);
    if (number < 0) {
      throw new MalformedException("a number is out of range");
    }
    return number;
  }

  /** Reads any number. */
  public long readSigned() {
    return readVarLong(false);
  }

  /**
   * Reads how many items follow.
   *
   * @param itemBytesMin the fewest bytes that an item can take, at least 1
   * @throws MalformedException if this many items cannot be left
   */
  public int readCount(int itemBytesMin) {
    int count = readVarInt(true);
    if (count < 0 || (long) count * itemBytesMin > remaining()) {
      throw new MalformedException(
          "a count of " + (count & 0xffffffffL) + " does not fit in " + remaining() + " bytes");
    }
    return count;
  }

  /** Reads a length of at most {@code lengthMax} and that many bytes. */
  public byte[] readBlob(int lengthMax) {
    return readBytes(readLength(lengthMax));
  }

  /** Reads a text of at most {@code lengthMax} bytes of UTF-8. */
  public String readText(int lengthMax) {
    int length = readLength(lengthMax);
    position += length;
    return decode(position - length, length);
  }

  /** Skips a text of at most {@code lengthMax} bytes. */
  public void skipText(int lengthMax) {
    int length = readLength(lengthMax);
    position += length;
  }

  /**
   * Reads a text and compares it with one of ASCII characters: as {@code
   * readText(lengthMax).compareTo(ascii)}, without creating the text.
   */
  public int compareText(String ascii, int lengthMax) {
    int length = readLength(lengthMax);
    position += length;
    return Utf8.compareWithAscii(buffer, position - length, length, ascii);
  }

  /** As {@link #readText}, for a text that is likely to equal the one that was read last. */
  public String readName(int lengthMax) {
    int length = readLength(lengthMax);
    if (!Utf8.isAscii(buffer, position, length, lastName)) {
      lastName = decode(position, length);
    }
    position += length;
    return lastName;
  }

  private int readLength(int lengthMax) {
    int length = readCount(1);
    if (length > lengthMax) {
      throw new MalformedException("a length of " + length + " is over the limit " + lengthMax);
    }
    return length;
  }

  private String decode(int from, int length) {
    try {
      return Utf8.decode(buffer, from, length);
    } catch (CharacterCodingException e) {
      throw new MalformedException(NO_UTF8, e);
    }
  }

  /** Reads a byte that must be 0 or 1. */
  public boolean readFlag() {
    int b = readByte();
    if (b != 0 && b != 1) {
      throw new MalformedException("a flag must be 0 or 1, not " + b);
    }
    return b == 1;
  }

  public Key readKey() {
    int length = readCount(1);
    if (length == 0 || length > Key.LENGTH_MAX) {
      throw new MalformedException("a key of " + length + " bytes");
    }
    position += length;
    return Key.of(buffer, position - length, position);
  }

  public ReplicaId readReplica() {
    int number = readVarInt(true);
    if (number == 0) {
      dictionary.add(readNewReplica());
      return dictionary.getLast();
    }
    if (number < 0 || number > dictionary.size()) {
      throw new MalformedException("replica number " + number + " is not in the dictionary");
    }
    return dictionary.get(number - 1);
  }

  private ReplicaId readNewReplica() {
    int length = readLength(ReplicaId.DC_NAME_LENGTH_MAX);
    int from = position;
    position += length;
    long incarnation = readNumber();
    ReplicaId known = recent == null ? null : recent.find(buffer, from, length, incarnation);
    if (known != null) {
      return known;
    }
    try {
      recent = recent == null ? new RecentReplicas() : recent;
      return recent.keep(new ReplicaId(decode(from, length), incarnation));
    } catch (IllegalArgumentException e) {
      throw new MalformedException(e.getMessage(), e);
    }
  }

  public Dot readDot() {
    ReplicaId replica = readReplica();
    long number = readNumber();
    if (number == 0) {
      throw new MalformedException("a dot's commit number is 0");
    }
    return new Dot(replica, number);
  }

  /** Reads a version vector. Its arrays grow with the entries that are really there, in order. */
  public VersionVector readVector() {
    int n = readCount(2);
    ReplicaId[] replicas = new ReplicaId[Math.min(n, VECTOR_ENTRIES)];
    long[] numbers = new long[replicas.length];
    for (int i = 0; i < n; i++) {
      ReplicaId replica = readReplica();
      long number = readNumber();
      if (number < 1 || (i > 0 && replicas[i - 1].compareTo(replica) >= 0)) {
        throw new MalformedException("a version vector's entries are not in order");
      }
      if (i == replicas.length) {
        // A count alone is no reason to reserve memory: a wrong count shows at one of the entries.
        int size = Math.min(n, 2 * i);
        replicas = Arrays.copyOf(replicas, size);
        numbers = Arrays.copyOf(numbers, size);
      }
      replicas[i] = replica;
      numbers[i] = number;
    }
    return VersionVector.ofSorted(List.of(replicas), numbers);
  }

  public CausalContext readContext() {
    int n = readCount(4);
    CausalContext.Builder context = new CausalContext.Builder();
    for (int i = 0; i < n; i++) {
      readRanges(context, readReplica());
    }
    return context.build();
  }

  /** Reads the causal context of these replicas, as {@link WireOutput#writeRanges} wrote it. */
  public CausalContext readRanges(List<ReplicaId> replicas) {
    CausalContext.Builder context = new CausalContext.Builder();
    for (ReplicaId replica : replicas) {
      readRanges(context, replica);
    }
    return context.build();
  }

  /**
   * Reads a causal context and returns the last number of each replica in it: as {@code
   * readRanges(replicas).toVersionVector()}, without creating the context.
   */
  public VersionVector readLasts(List<ReplicaId> replicas) {
    int at = position;
    long[] lasts = new long[replicas.size()];
    for (int i = 0; i < lasts.length; i++) {
      int n = readCount(2);
      if (n == 0) { // the vector has no such entry
        position = at;
        return readRanges(replicas).toVersionVector();
      }
      long last = 0;
      for (int k = 0; k < n; k++) {
        long after = last + readNumber();
        long through = after + readNumber();
        if (after < last || (k > 0 && after == last) || through <= after) {
          throw new MalformedException("a causal context's ranges are not in order");
        }
        last = through;
      }
      lasts[i] = last;
    }
    return VersionVector.ofSorted(replicas, lasts);
  }

  private void readRanges(CausalContext.Builder context, ReplicaId replica) {
    int n = readCount(2);
    long from = 0;
    for (int k = 0; k < n; k++) {
      long after = from + readNumber();
      long through = after + readNumber();
      try {
        context.add(replica, after, through);
      } catch (IllegalArgumentException e) {
        throw new MalformedException(e.getMessage(), e);
      }
      from = through;
    }
  }

  /**
   * Reads a part that numbers its replicas by itself, as a record of its own with {@link
   * #presetReplica} would; after the part, the former numbers apply again.
   */
  public <T> T readPart(List<ReplicaId> replicas, Function<WireInput, T> part) {
    List<ReplicaId> outside = dictionary;
    dictionary = new ArrayList<>(replicas);
    try {
      return part.apply(this);
    } finally {
      dictionary = outside;
    }
  }

  /** Returns the bytes that were read since the input was at this position. */
  public byte[] readSince(int from) {
    return Arrays.copyOfRange(buffer, from, position);
  }

  public Value readValue() {
    int kind = readByte();
    return switch (kind) {
      case 0 -> new Value.Bytes(readBlob(Codec.RECORD_BYTES_MAX));
      case 1 -> readStringValue();
      case 2 -> new Value.Int(readSigned());
      case 3 -> new Value.Real(Double.longBitsToDouble(readLong()));
      default -> throw new MalformedException("kind of value " + kind + " is unknown");
    };
  }

  /**
   * Reads a value and compares it with another one: as {@code readValue().compareTo(other)}, but
   * mostly without creating the value.
   */
  public int compareValue(Value other) {
    int from = position;
    int kind = readByte();
    if (kind == 1 && other instanceof Value.Str text && text.isAscii()) {
      return compareText(text.content(), Codec.RECORD_BYTES_MAX);
    }
    if (kind == 0 && other instanceof Value.Bytes bytes) {
      int length = readCount(1);
      position += length;
      byte[] content = bytes.content();
      return Arrays.compareUnsigned(
          buffer, position - length, position, content, 0, content.length);
    }
    position = from;
    return readValue().compareTo(other);
  }

  /** Skips a value. */
  public void skipValue() {
    int from = position;
    int kind = readByte();
    if (kind == 0 || kind == 1) {
      skipText(Codec.RECORD_BYTES_MAX);
    } else {
      position = from;
      Value unused = readValue();
    }
  }

  private Value.Str readStringValue() {
    int length = readLength(Codec.RECORD_BYTES_MAX);
    position += length;
    try {
      return Value.Str.ofUtf8(buffer, position - length, length);
    } catch (CharacterCodingException e) {
      throw new MalformedException(NO_UTF8, e);
    }
  }

  /** Goes one level deeper into nested data; {@link #leave} comes back. */
  public void enter() {
    if (++depth > DEPTH_MAX) {
      throw new MalformedException("data is nested more than " + DEPTH_MAX + " levels deep");
    }
  }

  /** Comes back from a level. */
  public void leave() {
    depth--;
  }
}
