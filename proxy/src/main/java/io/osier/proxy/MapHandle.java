package io.osier.proxy;

import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;

/** A map of named fields. Cheap; thread-safe. */
public final class MapHandle {
  private final Target target;

  MapHandle(Target target) {
    this.target = target;
  }

  /**
   * The same map, of which some fields are a record's components.
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if a component cannot be a field
   */
  public <R extends Record> RecordMap<R> as(Class<R> type) {
    return new RecordMap<>(this, RecordFields.of(type, target.values()));
  }

  /** A counter in a field. */
  public CounterHandle counter(String field) {
    return new CounterHandle(target.field(field, CrdtType.PN_COUNTER));
  }

  /** A grow-only counter in a field. */
  public CounterHandle growOnlyCounter(String field) {
    return new CounterHandle(target.field(field, CrdtType.G_COUNTER));
  }

  /** A last-writer-wins register in a field. */
  public RegisterHandle register(String field) {
    return new RegisterHandle(target.field(field, CrdtType.LWW_REGISTER));
  }

  /** A multi-value register in a field. */
  public MultiRegisterHandle multiRegister(String field) {
    return new MultiRegisterHandle(target.field(field, CrdtType.MV_REGISTER));
  }

  /** An enable-wins flag in a field. */
  public FlagHandle flag(String field) {
    return new FlagHandle(target.field(field, CrdtType.EW_FLAG));
  }

  /** A disable-wins flag in a field. */
  public FlagHandle disableWinsFlag(String field) {
    return new FlagHandle(target.field(field, CrdtType.DW_FLAG));
  }

  /** An add-wins set in a field. */
  public SetHandle set(String field) {
    return new SetHandle(target.field(field, CrdtType.AW_SET));
  }

  /** A grow-only set in a field. */
  public SetHandle growOnlySet(String field) {
    return new SetHandle(target.field(field, CrdtType.G_SET));
  }

  /** A remove-wins set in a field. */
  public SetHandle removeWinsSet(String field) {
    return new SetHandle(target.field(field, CrdtType.RW_SET));
  }

  /** A map in a field. */
  public MapHandle map(String field) {
    return new MapHandle(target.field(field, CrdtType.OR_MAP));
  }

  /** A register of objects of a class, in which the last assignment wins. */
  public <T> TypedRegister<T> register(String field, Class<T> type) {
    return register(field).as(type);
  }

  /** A register of objects of a class that keeps those of concurrent assignments. */
  public <T> TypedMultiRegister<T> multiRegister(String field, Class<T> type) {
    return multiRegister(field).as(type);
  }

  /** A set of objects of a class, in which adding wins. */
  public <E> TypedSet<E> set(String field, Class<E> type) {
    return set(field).as(type);
  }

  /** A map whose fields are a record's components. */
  public <R extends Record> RecordMap<R> map(String field, Class<R> type) {
    return map(field).as(type);
  }

  /** Updates several fields at once: all or none. */
  public void update(List<Operation.FieldUpdate> updates) {
    Calls.join(updateAsync(updates));
  }

  /** As {@link #update}. */
  public CompletableFuture<Void> updateAsync(List<Operation.FieldUpdate> updates) {
    return target.update(new Operation.UpdateFields(updates));
  }

  /** Removes fields: resets what is seen of them. */
  public void remove(List<String> fields) {
    Calls.join(removeAsync(fields));
  }

  /** As {@link #remove}. */
  public CompletableFuture<Void> removeAsync(List<String> fields) {
    return target.update(new Operation.RemoveFields(fields));
  }

  /** The fields that are present. */
  public SortedMap<FieldId, Reading> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<SortedMap<FieldId, Reading>> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Fields) r).fields());
  }

  /** Some of the fields, those that are present. */
  public SortedMap<FieldId, Reading> get(List<String> fields) {
    return Calls.join(getAsync(fields));
  }

  /** As {@link #get}. */
  public CompletableFuture<SortedMap<FieldId, Reading>> getAsync(List<String> fields) {
    return target.read(new Query.Select(fields), r -> ((Reading.Fields) r).fields());
  }

  /**
   * Resets it to a new one, as far as this session's datacenter has seen it: what is concurrent
   * stays.
   */
  public void clear() {
    Calls.join(clearAsync());
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return target.update(new Operation.Clear());
  }
}
