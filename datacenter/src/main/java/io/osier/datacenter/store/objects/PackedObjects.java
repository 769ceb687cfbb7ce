package io.osier.datacenter.store.objects;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.ObjectForm;
import io.osier.crdt.state.PackedReader;
import io.osier.crdt.state.StateCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Packs a key with its objects into one array of bytes, about as many as they take on the disk.
 *
 * <pre>
 *   flags | length, key | per object: head | form's rest | operations, their bytes | replicas
 *       | content
 * </pre>
 *
 * <p>The flags say whether the key was used, whether operations are counted, and whether the store
 * may have versions (without a store there are none). The head has the type, whether the object is
 * full, whether another object follows, and whether the content names its replicas itself. Mostly
 * it does not: the contexts of many objects have the same few lists of replicas, so each list gets
 * a number here. Safe for any thread.
 */
final class PackedObjects {
  private static final int USED = 1;
  private static final int COUNTED = 2;
  private static final int VERSIONS = 4;
  private static final int FULL = 1;
  private static final int FORM_SHIFT = 1;
  private static final int GENERAL = 0x40;
  private static final int MORE = 0x80;

  /** Longer lengths of keys take two bytes. */
  private static final int SHORT_LENGTH_MAX = 0x7f;

  /** The offset of the key's length, after the flags. */
  private static final int KEY_AT = 1;

  /**
   * How many lists of replicas get a number: a store that often loses data has many incarnations,
   * hence the bound.
   */
  static final int LISTS_MAX = 4_096;

  private static final ThreadLocal<WireInput> INPUT = ThreadLocal.withInitial(WireInput::new);

  private final Map<List<ReplicaId>, Integer> numbers = new ConcurrentHashMap<>();
  private volatile List<List<ReplicaId>> lists = List.of();

  // ---------------------------------------------------------------- lengths and keys

  /** Returns how many bytes a length takes, which is at most {@link Key#LENGTH_MAX}. */
  static int lengthBytes(int length) {
    return length <= SHORT_LENGTH_MAX ? 1 : 2;
  }

  static int length(byte[] bytes, int at) {
    int first = bytes[at];
    return first >= 0 ? first : (first & SHORT_LENGTH_MAX) << 8 | (bytes[at + 1] & 0xff);
  }

  /** Writes a key after its length; returns the offset after it. */
  static int put(Key key, byte[] target, int at) {
    int length = key.length();
    int from = at + lengthBytes(length);
    if (length <= SHORT_LENGTH_MAX) {
      target[at] = (byte) length;
    } else {
      target[at] = (byte) (length >> 8 | ~SHORT_LENGTH_MAX);
      target[at + 1] = (byte) length;
    }
    key.copyTo(target, from);
    return from + length;
  }

  static boolean isOf(byte[] packed, Key key) {
    int length = length(packed, KEY_AT);
    return key.isAt(packed, KEY_AT + lengthBytes(length), length);
  }

  static Key key(byte[] packed) {
    int length = length(packed, KEY_AT);
    int from = KEY_AT + lengthBytes(length);
    return Key.of(packed, from, from + length);
  }

  static long hash(byte[] packed, KeyedHash hash) {
    int length = length(packed, KEY_AT);
    return hash.of(packed, KEY_AT + lengthBytes(length), length);
  }

  /** Marks packed objects as used; it does not matter how soon other threads see that. */
  static void use(byte[] packed) {
    if ((packed[0] & USED) == 0) {
      packed[0] |= USED;
    }
  }

  /** Returns whether packed objects were used, and clears the mark. */
  static boolean takeUse(byte[] packed) {
    boolean used = (packed[0] & USED) != 0;
    packed[0] &= ~USED;
    return used;
  }

  // ---------------------------------------------------------------- objects

  byte[] pack(Key key, KeyObjects objects) {
    List<CrdtState> states = objects.states();
    int[] listed = new int[states.size()];
    byte[][] contents = new byte[states.size()][];
    for (int i = 0; i < listed.length; i++) {
      listed[i] = number(states.get(i).context());
      // Before the thread's buffer is in use.
      CrdtState state = states.get(i);
      contents[i] =
          listed[i] < 0
              ? WireOutput.bytesOf(out -> StateCodec.write(out, state))
              : StateCodec.pack(state);
    }
    return WireOutput.bytesOf(
        out -> {
          byte[] start = new byte[KEY_AT + lengthBytes(key.length()) + key.length()];
          boolean counted = !objects.written().isEmpty();
          start[0] = (byte) ((counted ? COUNTED : 0) | (objects.hasVersions() ? VERSIONS : 0));
          put(key, start, KEY_AT);
          out.writeBytes(start);
          for (int i = 0; i < contents.length; i++) {
            CrdtState state = states.get(i);
            int form = state.form();
            out.writeByte(
                (state.isFull() ? FULL : 0)
                    | ObjectForm.bits(form) << FORM_SHIFT
                    | (listed[i] < 0 ? GENERAL : 0)
                    | (i + 1 < contents.length ? MORE : 0));
            ObjectForm.writeRest(out, form);
            if (counted) {
              out.writeNumber(objects.written().get(i).operations());
              out.writeNumber(objects.written().get(i).bytes());
            }
            if (listed[i] >= 0) {
              out.writeNumber(listed[i]);
            }
            out.writeBytes(contents[i]);
          }
        });
  }

  /**
   * Answers a query of a key that holds one object; null if the object must be unpacked for that.
   */
  @Nullable PackedReader answer(byte[] packed, Query query) {
    WireInput in = behindKey(packed);
    int head = in.remaining() == 0 ? 0 : in.readByteUnsigned();
    if ((head & (FULL | GENERAL | MORE)) != FULL) {
      return null;
    }
    int form = ObjectForm.read(head >> FORM_SHIFT, in);
    if ((packed[0] & COUNTED) != 0) {
      in.readNumber();
      in.readNumber();
    }
    return PackedReader.of(form, lists.get((int) in.readNumber()), query, in);
  }

  /** Returns the form of the only object; negative if there is not exactly one. */
  static int onlyForm(byte[] packed) {
    WireInput in = behindKey(packed);
    int head = in.remaining() == 0 ? MORE : in.readByteUnsigned();
    return (head & MORE) == 0 ? ObjectForm.read(head >> FORM_SHIFT, in) : -1;
  }

  private static WireInput behindKey(byte[] packed) {
    int length = length(packed, KEY_AT);
    int from = KEY_AT + lengthBytes(length) + length;
    WireInput in = INPUT.get();
    in.set(packed, from, packed.length - from);
    return in;
  }

  KeyObjects unpack(byte[] packed) {
    WireInput in = behindKey(packed);
    boolean counted = (packed[0] & COUNTED) != 0;
    boolean versions = (packed[0] & VERSIONS) != 0;
    if (in.remaining() == 0) {
      return new KeyObjects(List.of(), List.of(), versions, 0);
    }
    int head = in.readByteUnsigned();
    int form = ObjectForm.read(head >> FORM_SHIFT, in);
    KeyObjects.Written written = written(counted, in);
    CrdtState first = unpack(head, form, in);
    if ((head & MORE) == 0) {
      return new KeyObjects(List.of(first), counted ? List.of(written) : List.of(), versions, 0);
    }
    List<CrdtState> states = new ArrayList<>(2);
    List<KeyObjects.Written> all = new ArrayList<>(2);
    states.add(first);
    all.add(written);
    while ((head & MORE) != 0) {
      head = in.readByteUnsigned();
      form = ObjectForm.read(head >> FORM_SHIFT, in);
      all.add(written(counted, in));
      states.add(unpack(head, form, in));
    }
    return KeyObjects.of(states, all, versions, 0);
  }

  private static KeyObjects.Written written(boolean counted, WireInput in) {
    return counted
        ? new KeyObjects.Written((int) in.readNumber(), in.readNumber())
        : KeyObjects.Written.NOTHING;
  }

  private CrdtState unpack(int head, int form, WireInput in) {
    boolean full = (head & FULL) != 0;
    if ((head & GENERAL) != 0) {
      return in.readPart(List.of(), part -> StateCodec.read(form, full, part));
    }
    return StateCodec.unpack(form, full, lists.get((int) in.readNumber()), in);
  }

  /**
   * Returns the number of a context's list of replicas; negative if there is no room for another
   * list.
   */
  private int number(CausalContext context) {
    List<ReplicaId> replicas = context.replicas();
    Integer known = numbers.get(replicas);
    return known != null ? known : newNumber(replicas);
  }

  private synchronized int newNumber(List<ReplicaId> replicas) {
    Integer known = numbers.get(replicas);
    if (known != null) {
      return known;
    }
    int number = lists.size();
    if (number == LISTS_MAX) {
      return -1;
    }
    List<List<ReplicaId>> more = new ArrayList<>(lists);
    more.add(replicas);
    lists = List.copyOf(more);
    numbers.put(replicas, number);
    return number;
  }
}
