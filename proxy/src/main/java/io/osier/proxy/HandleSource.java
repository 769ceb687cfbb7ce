package io.osier.proxy;

import io.osier.crdt.CrdtType;
import io.osier.proxy.objects.ObjectRef;

/** Makes handles of objects by their keys, or of a map's fields by their names. */
abstract class HandleSource {
  /** Returns the object or field that a handle of this name stands for. */
  abstract ObjectRef target(String name, CrdtType type);

  /** A counter that goes up and down. */
  public CounterHandle counter(String name) {
    return new CounterHandle(target(name, CrdtType.PN_COUNTER));
  }

  /** A counter that only goes up. */
  public CounterHandle growOnlyCounter(String name) {
    return new CounterHandle(target(name, CrdtType.G_COUNTER));
  }

  /** A register in which the last assignment wins. */
  public RegisterHandle register(String name) {
    return new RegisterHandle(target(name, CrdtType.LWW_REGISTER));
  }

  /** A register that keeps the values of concurrent assignments. */
  public MultiRegisterHandle multiRegister(String name) {
    return new MultiRegisterHandle(target(name, CrdtType.MV_REGISTER));
  }

  /** A register whose value is the least that was assigned. */
  public RegisterHandle minRegister(String name) {
    return new RegisterHandle(target(name, CrdtType.MIN_REGISTER));
  }

  /** A register whose value is the greatest that was assigned. */
  public RegisterHandle maxRegister(String name) {
    return new RegisterHandle(target(name, CrdtType.MAX_REGISTER));
  }

  /** A string of bytes, which can be incremented where it is a number. */
  public StringHandle string(String name) {
    return new StringHandle(target(name, CrdtType.STRING));
  }

  /** A flag in which enabling wins. */
  public FlagHandle flag(String name) {
    return new FlagHandle(target(name, CrdtType.EW_FLAG));
  }

  /** A flag in which disabling wins. */
  public FlagHandle disableWinsFlag(String name) {
    return new FlagHandle(target(name, CrdtType.DW_FLAG));
  }

  /** A set in which adding wins. */
  public SetHandle set(String name) {
    return new SetHandle(target(name, CrdtType.AW_SET));
  }

  /** A set that only grows. */
  public SetHandle growOnlySet(String name) {
    return new SetHandle(target(name, CrdtType.G_SET));
  }

  /** A set in which removing wins. */
  public SetHandle removeWinsSet(String name) {
    return new SetHandle(target(name, CrdtType.RW_SET));
  }

  /** A map of named fields of any type. */
  public MapHandle map(String name) {
    return new MapHandle(target(name, CrdtType.OR_MAP));
  }

  /** A register of a class's objects, in which the last assignment wins. */
  public <T> TypedRegister<T> register(String name, Class<T> type) {
    return register(name).as(type);
  }

  /** A register of a class's objects that keeps the objects of concurrent assignments. */
  public <T> TypedMultiRegister<T> multiRegister(String name, Class<T> type) {
    return multiRegister(name).as(type);
  }

  /** A set of a class's objects, in which adding wins. */
  public <E> TypedSet<E> set(String name, Class<E> type) {
    return set(name).as(type);
  }

  /** A map whose fields are a record's components. */
  public <R extends Record> RecordMap<R> map(String name, Class<R> type) {
    return map(name).as(type);
  }
}
