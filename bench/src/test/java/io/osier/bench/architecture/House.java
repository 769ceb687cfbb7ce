package io.osier.bench.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

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

  /**
   * Reads a table of rooms, of which each comes after those that it uses.
   *
   * @param table as {@link Rooms} explains it; a kind is pure, shell (all that is not pure), or
   *     client: a shell below the client's API, which gives it types of its own, see {@link
   *     ClientRooms}
   */
  House(String table) {
    Map<String, List<String>> sets = new TreeMap<>();
    for (String line : table.replaceAll("\n +", " ").lines().filter(l -> !l.isBlank()).toList()) {
      List<String> head = words(line.substring(0, line.indexOf(':')));
      String[] parts = line.substring(line.indexOf(':') + 1).split("\\|", -1);
      String kind = head.getFirst();
      String name = head.getLast();
      List<String> uses = new ArrayList<>();
      words(parts[0])
          .forEach(w -> uses.addAll(w.startsWith("@") ? sets.get(w.substring(1)) : List.of(w)));
      if (!rooms.keySet().containsAll(uses)) {
        throw new IllegalStateException(name + " comes before a room that it uses");
      }
      if (kind.equals("set")) {
        sets.put(name, uses);
        continue;
      }
      if (!List.of("pure", "shell", "client").contains(kind)) {
        throw new IllegalStateException(name + " has no kind: " + kind);
      }
      if (kind.equals("client")) {
        uses.add("proxy");
      }
      List<String> libraries = parts.length > 1 ? words(parts[1]) : List.of();
      rooms.put(name, new Room(name, kind.equals("pure"), uses, libraries));
    }
  }

  private static List<String> words(String text) {
    return text.isBlank() ? List.of() : List.of(text.strip().split(" +", -1));
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
