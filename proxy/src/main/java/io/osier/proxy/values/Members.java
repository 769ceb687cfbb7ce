package io.osier.proxy.values;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Takes objects of a class apart into their members, and makes them again: a record's components,
 * or the fields of a class that has a constructor without arguments. Members have names, so that a
 * newer class may add some and leave some out. Immutable.
 */
public final class Members<T> {
  /** Reads a member's value. */
  private interface Getter {
    @Nullable Object of(Object object) throws ReflectiveOperationException;
  }

  /**
   * A member.
   *
   * @param name its name in the class
   * @param type its declared type, which may be primitive
   */
  public record Member(String name, Class<?> type) {}

  private record Part(Member member, Getter getter, @Nullable Field field) {}

  private static final @Nullable Object[] NOTHING = {};

  private final Class<T> type;
  private final Constructor<T> constructor;

  /** In the order of the declaration, as a record's constructor needs them. */
  private final List<Part> parts;

  private final Map<String, Integer> byName = new TreeMap<>();

  private Members(Class<T> type, Constructor<T> constructor, List<Part> parts) {
    this.type = type;
    this.constructor = constructor;
    this.parts = parts;
    for (int i = 0; i < parts.size(); i++) {
      String name = parts.get(i).member.name;
      if (byName.put(name, i) != null) {
        throw wrong(type, "has two fields of the name " + name + ", one of them inherited");
      }
    }
  }

  /**
   * Finds the members of a class.
   *
   * @throws OsierException INVALID_ARGUMENT if its objects cannot be taken apart or made again; the
   *     message says why
   */
  public static <T> Members<T> of(Class<T> type) {
    if (type.isRecord()) {
      return ofRecord(type);
    }
    if (type.isInterface()
        || type.isArray()
        || type.isPrimitive()
        || Modifier.isAbstract(type.getModifiers())) {
      throw wrong(type, "has no objects of its own: register its classes or records");
    }
    if (type.isAnonymousClass()
        || type.isLocalClass()
        || (type.isMemberClass() && !Modifier.isStatic(type.getModifiers()))) {
      throw wrong(type, "belongs to an object or a method around it: make it static");
    }
    return ofClass(type);
  }

  private static <T> Members<T> ofRecord(Class<T> type) {
    RecordComponent[] components = requireNonNull(type.getRecordComponents(), "it is a record");
    List<Part> parts = new ArrayList<>();
    for (RecordComponent component : components) {
      Method accessor = opened(component.getAccessor(), type);
      parts.add(
          new Part(member(type, component.getName(), component.getType()), accessor::invoke, null));
    }
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      return new Members<>(type, opened(type.getDeclaredConstructor(types), type), parts);
    } catch (NoSuchMethodException e) {
      throw new AssertionError("every record has it", e);
    }
  }

  private static <T> Members<T> ofClass(Class<T> type) {
    List<Part> parts = new ArrayList<>();
    for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass()) {
      for (Field field : at.getDeclaredFields()) {
        int modifiers = field.getModifiers();
        if (Modifier.isStatic(modifiers) || Modifier.isTransient(modifiers)) {
          continue;
        }
        if (Modifier.isFinal(modifiers)) {
          throw wrong(type, "has the final field " + field.getName() + ": make it a record");
        }
        opened(field, type);
        parts.add(new Part(member(type, field.getName(), field.getType()), field::get, field));
      }
    }
    try {
      return new Members<>(type, opened(type.getDeclaredConstructor(), type), parts);
    } catch (NoSuchMethodException e) {
      throw wrong(type, "has no constructor without arguments: make it a record, or add one");
    }
  }

  private static Member member(Class<?> of, String name, Class<?> type) {
    boolean isCollection =
        Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
    if (isCollection
        && type != List.class
        && type != Set.class
        && type != Map.class
        && type != Collection.class) {
      throw wrong(
          of,
          "declares " + name + " as " + type.getSimpleName() + ": declare it as List, Set or Map");
    }
    if (type.isArray() && type != byte[].class) {
      throw wrong(of, "declares " + name + " as an array: declare it as List");
    }
    return new Member(name, type);
  }

  private static <A extends AccessibleObject> A opened(A member, Class<?> type) {
    try {
      member.setAccessible(true);
      return member;
    } catch (RuntimeException e) { // InaccessibleObjectException, or a security manager's
      throw wrong(
          type,
          "is not open to io.osier.proxy: its module must say 'opens "
              + type.getPackageName()
              + "'");
    }
  }

  private static OsierException wrong(Class<?> type, String why) {
    return OsierException.of(ErrorCode.INVALID_ARGUMENT, type.getName() + " " + why);
  }

  /** Returns the members, in the order of their declaration. */
  public List<Member> list() {
    return parts.stream().map(Part::member).toList();
  }

  /** Returns a member's index in {@link #list}; -1 if no member has that name. */
  public int indexOf(String name) {
    return byName.getOrDefault(name, -1);
  }

  /** Returns the members' indexes, in the order of their names. */
  Collection<Integer> sorted() {
    return byName.values();
  }

  /** Returns a member's value in an object. */
  public @Nullable Object get(T object, int index) {
    try {
      return parts.get(index).getter.of(object);
    } catch (InvocationTargetException e) {
      throw failed("the accessor of " + parts.get(index).member.name + " failed", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw failed("it cannot be read", e);
    }
  }

  /** Returns the members' values in a new object, as an array to fill in. */
  public @Nullable Object[] blank() {
    @Nullable Object[] blank = new Object[parts.size()];
    T fresh = type.isRecord() ? null : make(NOTHING);
    for (int i = 0; i < blank.length; i++) {
      blank[i] = fresh == null ? zero(parts.get(i).member.type) : get(fresh, i);
    }
    return blank;
  }

  private static @Nullable Object zero(Class<?> type) {
    return type.isPrimitive() ? Array.get(Array.newInstance(type, 1), 0) : null;
  }

  /**
   * Makes an object.
   *
   * @param values the members' values, by index; for a class that is no record the first ones
   *     suffice
   * @throws OsierException MALFORMED if the constructor refuses them
   */
  public T make(@Nullable Object[] values) {
    try {
      if (type.isRecord()) {
        return constructor.newInstance(values);
      }
      T object = constructor.newInstance();
      for (int i = 0; i < values.length; i++) {
        requireNonNull(parts.get(i).field, "a class has fields").set(object, values[i]);
      }
      return object;
    } catch (InvocationTargetException e) {
      throw failed("its constructor threw an exception for the stored values", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw failed("no object of the class can be created", e);
    }
  }

  private OsierException failed(String what, @Nullable Throwable cause) {
    return OsierException.of(
        ErrorCode.MALFORMED, type.getName() + ": " + what + ": " + cause, cause);
  }
}
