package io.osier.crdt.types;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotPair;
import io.osier.crdt.DotSet;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The classes of the data types by type: the only place that lists them. */
public final class TypeRegistry {
  private TypeRegistry() {}

  /** Returns a new object's content: no operation has been done on it. */
  public static DotStore<?> empty(CrdtType type) {
    return switch (type) {
      case PN_COUNTER -> Counter.EMPTY_PN;
      case G_COUNTER -> Counter.EMPTY_G;
      case LWW_REGISTER -> LwwRegister.EMPTY;
      case MV_REGISTER -> ValueRegister.EMPTY_MULTI;
      case EW_FLAG -> Flag.ENABLE_WINS;
      case DW_FLAG -> Flag.DISABLE_WINS;
      case G_SET -> TaggedSet.GROW_ONLY;
      case AW_SET -> TaggedSet.ADD_WINS;
      case RW_SET -> RwSet.EMPTY;
      case LWW_SET_ADD_BIAS -> LwwSet.EMPTY_ADD_BIAS;
      case LWW_SET_REMOVE_BIAS -> LwwSet.EMPTY_REMOVE_BIAS;
      case OR_MAP -> OrMap.EMPTY;
      case BOUNDED_COUNTER -> BoundedCounter.EMPTY;
      case STRING -> NumericString.EMPTY;
      case MIN_REGISTER -> ValueRegister.EMPTY_MIN;
      case MAX_REGISTER -> ValueRegister.EMPTY_MAX;
    };
  }

  /**
   * Reads the content of a type in the form that {@link DotStore#write} produces.
   *
   * @param replicas as in {@link EntryStore#read}
   */
  public static DotStore<?> read(CrdtType type, WireInput in, List<ReplicaId> replicas) {
    return switch (type) {
      case PN_COUNTER -> Counter.EMPTY_PN.read(in);
      case G_COUNTER -> Counter.EMPTY_G.read(in);
      case LWW_REGISTER -> LwwRegister.read(in);
      case MV_REGISTER -> ValueRegister.EMPTY_MULTI.read(in);
      case EW_FLAG -> Flag.ENABLE_WINS.read(in);
      case DW_FLAG -> Flag.DISABLE_WINS.read(in);
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS, OR_MAP ->
          ((EntryStore<?, ?, ?>) empty(type)).read(in, replicas);
      case BOUNDED_COUNTER -> BoundedCounter.read(in);
      case STRING -> NumericString.read(in);
      case MIN_REGISTER -> ValueRegister.EMPTY_MIN.read(in);
      case MAX_REGISTER -> ValueRegister.EMPTY_MAX.read(in);
    };
  }

  /** Skips the content of a type; returns whether a reader can tell it from a new object's. */
  static boolean skip(CrdtType type, WireInput in) {
    return switch (type) {
      case PN_COUNTER, G_COUNTER -> Counter.readValue(in, type) != null;
      case LWW_REGISTER -> LwwRegister.skip(in);
      case MV_REGISTER, MIN_REGISTER, MAX_REGISTER -> ValueRegister.skip(in);
      case STRING -> NumericString.skip(in);
      case EW_FLAG -> DotSet.skip(in);
      case DW_FLAG -> DotPair.skip(in);
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          ((EntryStore<?, ?, ?>) empty(type)).skipAll(in);
      case OR_MAP -> {
        in.enter();
        boolean isSeen = OrMap.EMPTY.skipAll(in);
        in.leave();
        yield isSeen;
      }
      case BOUNDED_COUNTER -> !BoundedCounter.read(in).isBottom();
    };
  }

  /**
   * Reads the whole value from the bytes of a small content, without decoding the rest of it.
   *
   * @return null, with the input somewhere in the content, if the value needs all of it: mostly
   *     because of its type, or because a reader sees nothing of it
   */
  static @Nullable Reading readValue(CrdtType type, WireInput in) {
    return switch (type) {
      case PN_COUNTER, G_COUNTER -> Counter.readValue(in, type);
      case LWW_REGISTER -> LwwRegister.readValue(in);
      case MV_REGISTER -> ValueRegister.EMPTY_MULTI.readValue(in);
      case STRING -> NumericString.readValue(in);
      case MIN_REGISTER -> ValueRegister.EMPTY_MIN.readValue(in);
      case MAX_REGISTER -> ValueRegister.EMPTY_MAX.readValue(in);
      case EW_FLAG -> DotSet.skip(in) ? new Reading.Flag(true) : null;
      case DW_FLAG -> DotPair.skip(in) ? new Reading.Flag(true) : null;
      default -> null;
    };
  }

  /** Whether {@link #readPacked} may answer a query; known without reading the content. */
  public static boolean mayReadPacked(CrdtType type, Query query) {
    return switch (query) {
      case Query.Exists q -> true;
      case Query.Whole q -> type != CrdtType.BOUNDED_COUNTER && !hasCells(type);
      case Query.Contains q -> hasCells(type) && type != CrdtType.OR_MAP;
      case Query.Size q -> hasCells(type);
      case Query.Select q -> type == CrdtType.OR_MAP && q.names().size() == 1;
      default -> false;
    };
  }

  private static boolean hasCells(CrdtType type) {
    return empty(type) instanceof EntryStore;
  }

  /**
   * Answers a query from a content's bytes, if {@link #mayReadPacked} allows it.
   *
   * @return null if the answer needs all of it, or a reader sees nothing of it
   */
  public static @Nullable Reading readPacked(CrdtType type, Query query, WireInput in) {
    if (empty(type) instanceof EntryStore<?, ?, ?> cells) {
      return cells.readPacked(query, in);
    }
    if (query instanceof Query.Exists) {
      return skip(type, in) ? new Reading.Flag(true) : null;
    }
    return readValue(type, in);
  }

  @SuppressWarnings("unchecked") // a type has one class, and callers compare types
  public static <S extends DotStore<S>> DotStore<?> join(
      DotStore<?> left, DotStore<?> right, JoinContext joining) {
    return ((S) left).join((S) right, joining);
  }

  /** See {@link CrdtState#packLeaves}. */
  public static DotStore<?> packLeaves(DotStore<?> store, List<ReplicaId> replicas) {
    return store instanceof EntryStore<?, ?, ?> cells ? cells.packLeaves(replicas) : store;
  }
}
