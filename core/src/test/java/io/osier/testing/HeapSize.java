package io.osier.testing;

import java.lang.instrument.Instrumentation;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.agent.ByteBuddyAgent;
import org.jspecify.annotations.Nullable;

/**
 * Measures how many bytes of the heap objects take with everything that they reach, each object
 * counted once, with the size that the virtual machine reports. No collection is waited for, so
 * other activity of the process changes nothing. Classes and threads, and the targets of references
 * of {@code java.lang.ref}, are not counted. For one thread.
 */
public final class HeapSize {
  private static final Instrumentation MACHINE = ByteBuddyAgent.install();

  private final Set<Object> counted = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Map<Class<?>, List<Field>> fields = new HashMap<>();

  /**
   * Counts an object: returns the bytes of everything that it reaches and that was not counted
   * before.
   */
  public long add(Object object) {
    Deque<Object> reached = new ArrayDeque<>();
    reach(object, reached);
    long bytes = 0;
    for (Object next = reached.poll(); next != null; next = reached.poll()) {
      bytes += MACHINE.getObjectSize(next);
      if (next instanceof Object[] array) {
        for (Object element : array) {
          reach(element, reached);
        }
      } else if (!next.getClass().isArray() && !(next instanceof Reference)) {
        for (Field field : fields.computeIfAbsent(next.getClass(), HeapSize::references)) {
          reach(read(field, next), reached);
        }
      }
    }
    return bytes;
  }

  private void reach(@Nullable Object object, Deque<Object> reached) {
    if (object == null
        || object instanceof Class
        || object instanceof ClassLoader
        || object instanceof Thread) {
      return;
    }
    if (counted.add(object)) {
      reached.push(object);
    }
  }

  private static @Nullable Object read(Field field, Object object) {
    try {
      return field.get(object);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  private static List<Field> references(Class<?> type) {
    List<Field> fields = new ArrayList<>();
    for (Class<?> of = type; of != null; of = of.getSuperclass()) {
      Module module = of.getModule();
      if (!module.isOpen(of.getPackageName(), HeapSize.class.getModule())) {
        var open = Map.of(of.getPackageName(), Set.of(HeapSize.class.getModule()));
        MACHINE.redefineModule(module, Set.of(), Map.of(), open, Set.of(), Map.of());
      }
      for (Field field : of.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
          field.setAccessible(true);
          fields.add(field);
        }
      }
    }
    return fields;
  }
}
