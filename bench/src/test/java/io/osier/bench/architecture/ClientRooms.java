package io.osier.bench.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The client's API lies on top of its rooms, in one package, since its names are promised; and what
 * the rooms are given and make is of the API, too. So their order shows in classes, not in
 * packages.
 */
abstract class ClientRooms {
  private static final String API = "io.osier.proxy";

  /** What programs see of the client besides its API. */
  private static final Set<String> OPEN =
      Set.of(API, "io.osier.proxy.values", "io.osier.proxy.observe");

  private static Stream<JavaClass> client() {
    return ArchitectureTest.ALL.stream().filter(c -> c.getPackageName().startsWith(API));
  }

  private static Stream<JavaClass> usedBy(JavaClass type) {
    return type.getDirectDependenciesFromSelf().stream()
        .map(Dependency::getTargetClass)
        .map(JavaClass::getBaseComponentType)
        .filter(c -> c.getPackageName().startsWith(API) && !c.equals(type));
  }

  /** A class and all that it uses, directly or by others. */
  private static Set<JavaClass> below(JavaClass type) {
    Set<JavaClass> seen = new HashSet<>(Set.of(type));
    Deque<JavaClass> open = new ArrayDeque<>(seen);
    while (!open.isEmpty()) {
      usedBy(open.remove()).filter(seen::add).forEach(open::add);
    }
    return seen;
  }

  @Test
  void classes_haveNoCyclesAcrossPackages() {
    Set<String> cycles = new TreeSet<>();
    for (JavaClass type : client().toList()) {
      usedBy(type)
          .filter(c -> !c.getPackageName().equals(type.getPackageName()))
          .filter(c -> below(c).contains(type))
          .forEach(c -> cycles.add(type.getName() + " and " + c.getName()));
    }
    assertThat(cycles).isEmpty();
  }

  @Test
  void rooms_areUsedByTheClientAlone() {
    Set<String> intruders = new TreeSet<>();
    ArchitectureTest.ALL.stream()
        .filter(c -> !c.getPackageName().startsWith(API))
        .forEach(
            c ->
                usedBy(c)
                    .filter(used -> !OPEN.contains(used.getPackageName()))
                    .forEach(used -> intruders.add(c.getName() + " uses " + used.getName())));
    assertThat(intruders).isEmpty();
  }

  /** A class that is not public is there for the public ones that inherit its calls. */
  @Test
  void api_holdsNothingElse() {
    List<JavaClass> api = client().filter(c -> c.getPackageName().equals(API)).toList();
    assertThat(api.stream().filter(JavaClass::isTopLevelClass))
        .hasSizeGreaterThan(40)
        .allSatisfy(
            c -> assertThat(api).as(c.getName()).anyMatch(of -> isPublic(of) && isOf(of, c)));
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC);
  }

  private static boolean isOf(JavaClass type, JavaClass above) {
    return type.isAssignableTo(above.getName());
  }
}
