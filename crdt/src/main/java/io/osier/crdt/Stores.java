package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import java.util.List;

/** The data types' classes by type: the one place that lists them. */
final class Stores {
  private Stores() {}

  /** A new object's content. */
  static DotStore<?> empty(CrdtType type) {
    return switch (type) {
      case PN_COUNTER -> PnCounter.EMPTY;
      case G_COUNTER -> GCounter.EMPTY;
      case LWW_REGISTER -> LwwRegister.EMPTY;
      case MV_REGISTER -> MvRegister.EMPTY;
      case EW_FLAG -> EwFlag.EMPTY;
      case DW_FLAG -> DwFlag.EMPTY;
      case G_SET -> GSet.EMPTY;
      case AW_SET -> AwSet.EMPTY;
      case RW_SET -> RwSet.EMPTY;
      case LWW_SET_ADD_BIAS -> LwwSet.EMPTY_ADD_BIAS;
      case LWW_SET_REMOVE_BIAS -> LwwSet.EMPTY_REMOVE_BIAS;
      case OR_MAP -> OrMap.EMPTY;
      case BOUNDED_COUNTER -> BoundedCounter.EMPTY;
    };
  }

  /**
   * Reads the content of a type, as {@link DotStore#write} wrote it.
   *
   * @param replicas as in {@link CellStore#read}
   */
  static DotStore<?> read(CrdtType type, WireInput in, List<ReplicaId> replicas) {
    return switch (type) {
      case PN_COUNTER -> PnCounter.read(in);
      case G_COUNTER -> GCounter.read(in);
      case LWW_REGISTER -> LwwRegister.read(in);
      case MV_REGISTER -> MvRegister.read(in);
      case EW_FLAG -> EwFlag.read(in);
      case DW_FLAG -> DwFlag.read(in);
      case G_SET -> GSet.EMPTY.read(in, replicas);
      case AW_SET -> AwSet.EMPTY.read(in, replicas);
      case RW_SET -> RwSet.EMPTY.read(in, replicas);
      case LWW_SET_ADD_BIAS -> LwwSet.EMPTY_ADD_BIAS.read(in, replicas);
      case LWW_SET_REMOVE_BIAS -> LwwSet.EMPTY_REMOVE_BIAS.read(in, replicas);
      case OR_MAP -> OrMap.EMPTY.read(in, replicas);
      case BOUNDED_COUNTER -> BoundedCounter.read(in);
    };
  }

  /** Joins two stores of one type. */
  @SuppressWarnings("unchecked") // a type has one class, and callers compare types
  static <S extends DotStore<S>> DotStore<?> join(
      DotStore<?> left, DotStore<?> right, Joining joining) {
    return ((S) left).join((S) right, joining);
  }

  /** See {@link Causal#packLeaves}. */
  static DotStore<?> packLeaves(DotStore<?> store, List<ReplicaId> replicas) {
    return store instanceof CellStore<?, ?, ?> cells ? cells.packLeaves(replicas) : store;
  }

  static OsierException wrongOperation(CrdtType type, Operation operation) {
    return new OsierException(
        ErrorCode.WRONG_TYPE,
        "a " + type + " has no operation " + operation.getClass().getSimpleName());
  }

  static OsierException wrongQuery(CrdtType type, Query query) {
    return new OsierException(
        ErrorCode.WRONG_TYPE, "a " + type + " has no query " + query.getClass().getSimpleName());
  }
}
