package io.osier.bench.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Rooms, and whether a class may use another one. A room is a package with what is below it, unless
 * that is a room of its own.
 */
final class House {
  /** Annotations that are not there when the program runs. */
  private static final List<String> ANYWHERE =
      List.of("java", "javax", "org.jspecify.annotations", "com.google.errorprone.annotations");

  /**
   * A room.
   *
   * @param pure whether what is in it reads no clock, starts no thread and does no I/O
   * @param uses the rooms that it may use besides itself
   * @param libraries packages that it may use, with what is below them
   */
  record Room(String name, boolean pure, List<String> uses, List<String> libraries) {
    private boolean mayUse(Room other) {
      return equals(other) || uses.contains(other.name);
    }

    private boolean mayUse(String library) {
      return ANYWHERE.stream().anyMatch(p -> isWithin(library, p))
          || libraries.stream().anyMatch(p -> isWithin(library, p));
    }
  }

  private final Map<String, Room> rooms = new TreeMap<>();

  void pure(String name, List<String> uses, String... libraries) {
    add(new Room(name, true, uses, List.of(libraries)));
  }

  void shell(String name, List<String> uses, String... libraries) {
    add(new Room(name, false, uses, List.of(libraries)));
  }

  /** A room below the client's API, which gives it types of that; see {@link ClientRooms}. */
  void client(String name, List<String> uses, String... libraries) {
    shell(name, uses, libraries);
    rooms.put(
        name,
        new Room(
            name,
            false,
            Stream.concat(uses.stream(), Stream.of("proxy")).toList(),
            List.of(libraries)));
  }

  private void add(Room room) {
    if (!rooms.keySet().containsAll(room.uses)) {
      throw new IllegalStateException(room.name + " comes before a room that it uses");
    }
    rooms.put(room.name, room);
  }

  /** The names of all. */
  Set<String> names() {
    return rooms.keySet();
  }

  /** The room that a class is in; empty if it is in none of production's. */
  Optional<Room> of(JavaClass type) {
    return rooms.values().stream()
        .filter(r -> isWithin(type.getPackageName(), "io.osier." + r.name))
        .max((a, b) -> Integer.compare(a.name.length(), b.name.length()));
  }

  /** Whether a class of a room may use another class. */
  boolean mayUse(Room room, JavaClass other) {
    JavaClass type = other.getBaseComponentType();
    if (type.isPrimitive()) {
      return true;
    }
    return isWithin(type.getPackageName(), "io.osier")
        ? of(type).filter(room::mayUse).isPresent()
        : room.mayUse(type.getPackageName());
  }

  private static boolean isWithin(String name, String prefix) {
    return name.equals(prefix) || name.startsWith(prefix + '.');
  }
}
