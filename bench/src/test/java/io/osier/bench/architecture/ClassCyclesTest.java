package io.osier.bench.architecture;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Comparator.comparing;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * A class can be read without those that use it: at most three classes of a package use each other
 * in a circle. Nested classes count as the class that they are in.
 */
final class ClassCyclesTest {
  private static final int MOST = 3;

  /**
   * The circles of more classes that there are, each on a line: package, size, classes. Three stay:
   * those of core and of the protocol are sealed families, and that of the client is its API, whose
   * signatures name what is nested in Keyspace.
   */
  private static final String EXCEPTIONS =
      """
      io.osier.bench.sim.node 13 DcTransport FrontDoor HeldUnits NodeLoop SimControl SimDc \
      SimForwarding SimFrames SimNode SimRemovals StartCheck WatchedStore WitnessedMachine
      io.osier.core 6 AmbiguousException InvalidRequestException OsierException \
      PermanentException TransientException UnavailableException
      io.osier.protocol 8 AdminRequest Call Greeting ProgressRequest Reply Request ScanRequest \
      WatchRequest
      io.osier.proxy 8 Batch BatchException Changes Keyspace ObjectSpace Program Transaction \
      Watch
      """;

  @Test
  void classesUseEachOtherInCirclesOfAtMostThree_butForTheExceptions() throws IOException {
    Map<String, Set<String>> uses = new TreeMap<>();
    for (JavaClass type : ArchitectureTest.ALL) {
      uses.computeIfAbsent(topLevel(type), n -> new TreeSet<>()).addAll(named(type));
    }
    uses.values().forEach(used -> used.retainAll(uses.keySet()));
    assertThat(uses).as("classes that were looked at").hasSizeGreaterThan(500);
    String circles =
        new Circles(uses)
            .all().stream()
                .filter(c -> c.size() > MOST)
                .sorted(comparing(TreeSet::first))
                .map(ClassCyclesTest::line)
                .collect(Collectors.joining());
    assertThat(circles).isEqualTo(EXCEPTIONS);
  }

  private static String topLevel(JavaClass type) {
    String name = type.getName();
    int nested = name.indexOf('$');
    return nested < 0 ? name : name.substring(0, nested);
  }

  /**
   * All that a class file names of its own package: ArchUnit leaves casts and sealed families out.
   */
  private static Set<String> named(JavaClass type) throws IOException {
    Pattern own = Pattern.compile(type.getPackageName().replace('.', '/') + "/\\w+(?![\\w/])");
    try (InputStream in = type.getSource().orElseThrow().getUri().toURL().openStream()) {
      return own.matcher(new String(in.readAllBytes(), ISO_8859_1))
          .results()
          .map(m -> m.group().replace('/', '.'))
          .collect(Collectors.toSet());
    }
  }

  private static String line(TreeSet<String> circle) {
    String first = circle.first();
    int dot = first.lastIndexOf('.') + 1;
    return circle.stream()
        .map(c -> c.substring(dot))
        .collect(
            Collectors.joining(" ", first.substring(0, dot - 1) + ' ' + circle.size() + ' ', "\n"));
  }

  /** Tarjan's strongly connected components of who uses whom. */
  private static final class Circles {
    private final Map<String, Set<String>> uses;
    private final Map<String, Integer> found = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final List<TreeSet<String>> all = new ArrayList<>();

    Circles(Map<String, Set<String>> uses) {
      this.uses = uses;
    }

    List<TreeSet<String>> all() {
      for (String name : uses.keySet()) {
        if (!found.containsKey(name)) {
          visit(name);
        }
      }
      return all;
    }

    /** The number of the first class, as they were found, that a class leads back to. */
    private int visit(String name) {
      int number = found.size();
      int first = number;
      found.put(name, number);
      open.push(name);
      for (String used : uses.get(name)) {
        if (!found.containsKey(used)) {
          first = Math.min(first, visit(used));
        } else if (open.contains(used)) {
          first = Math.min(first, found.get(used));
        }
      }
      if (first == number) {
        TreeSet<String> circle = new TreeSet<>();
        String last;
        do {
          last = open.pop();
          circle.add(last);
        } while (!last.equals(name));
        all.add(circle);
      }
      return first;
    }
  }
}
