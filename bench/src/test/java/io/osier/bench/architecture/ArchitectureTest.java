package io.osier.bench.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import io.osier.bench.architecture.House.Room;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Holds the compiled house against {@link Rooms}: who may use whom, and what is pure. */
final class ArchitectureTest {
  private static final House HOUSE = Rooms.production();

  /** All but tests, with bench. */
  static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .withImportOption(l -> !l.contains("/test/") && !l.contains("/package-info.class"))
          // For tests, though they do not lie where tests do.
          .withImportOption(l -> !l.contains("/io/osier/testcontainers/"))
          .withImportOption(l -> !l.contains("/io/osier/testing/"))
          .importPackages("io.osier");

  /** Production's classes: bench's are none. */
  private static final JavaClasses CLASSES =
      ALL.that(describe("are production's", c -> !c.getPackageName().startsWith("io.osier.bench")));

  /** What a pure class may use of packages that it may otherwise not. */
  private static final Set<String> HARMLESS =
      Set.of(
          "java.io.Serializable",
          "java.util.concurrent.TimeUnit",
          // A function of its bytes.
          "java.security.MessageDigest",
          "java.security.NoSuchAlgorithmException");

  /** Packages of threads and of I/O; what is in packages below them, too. */
  private static final Set<String> IMPURE_PACKAGES =
      Set.of(
          "java.io",
          "java.net",
          "java.nio.channels",
          "java.nio.file",
          "java.lang.ref",
          "java.util.concurrent",
          "java.util.prefs",
          "java.security");

  private static final Set<String> IMPURE_CLASSES =
      Set.of(
          "java.lang.Thread",
          "java.lang.Process",
          "java.lang.ProcessBuilder",
          "java.lang.ProcessHandle",
          "java.lang.Runtime",
          "java.time.Clock",
          "java.util.Timer");

  /** A buffer for each thread, empty between two calls: nobody can tell it from a new one. */
  private static final Set<String> WITH_SCRATCH_BUFFERS = Set.of("WireOutput", "FrameCodec");

  /** Of {@link System} no more than what copies, compares and numbers. */
  private static final Set<String> SYSTEM = Set.of("arraycopy", "identityHashCode");

  private static DescribedPredicate<JavaClass> areInARoom() {
    return describe("are in a room", c -> HOUSE.of(c).isPresent());
  }

  /**
   * Not pure, although it is in a pure room: who handles the end of memory must know its thread.
   */
  private static final Set<String> NOT_PURE = Set.of("io.osier.core.memory.OutOfMemory");

  private static boolean isPure(JavaClass type) {
    return HOUSE.of(type).filter(Room::pure).isPresent() && !NOT_PURE.contains(type.getName());
  }

  private static DescribedPredicate<JavaClass> arePure() {
    return describe("are in a pure room", ArchitectureTest::isPure);
  }

  /** Here, as all classes are imported once. */
  @Nested
  final class Client extends ClientRooms {}

  @Test
  void everyClassIsInARoom() {
    classes().should(ArchCondition.from(areInARoom()).as("be in a room")).check(CLASSES);
  }

  /** A room that nothing is in, or a part of replication of another name, holds nothing. */
  @Test
  void everyRoomHasClasses() {
    assertThat(HOUSE.names())
        .allSatisfy(
            name ->
                assertThat(CLASSES.stream())
                    .as(name)
                    .anyMatch(c -> HOUSE.of(c).filter(r -> r.name().equals(name)).isPresent()));
  }

  /** But for the client's API, whose types its rooms are given: {@link ClientRooms}. */
  @Test
  void packagesHaveNoCycles() {
    SlicesRuleDefinition.slices()
        .assignedFrom(
            new SliceAssignment() {
              @Override
              public SliceIdentifier getIdentifierOf(JavaClass type) {
                String name = type.getPackageName();
                return name.equals("io.osier.proxy")
                    ? SliceIdentifier.ignore()
                    : SliceIdentifier.of(name);
              }

              @Override
              public String getDescription() {
                return "packages, but for the client's API";
              }
            })
        .should()
        .beFreeOfCycles()
        .check(CLASSES);
  }

  /** The names of the client's API are promised to its users: they cannot move. */
  @Test
  void packagesHaveAtMost25Files_exceptTheClientsApi() {
    Map<String, Long> files =
        CLASSES.stream()
            .filter(c -> c.isTopLevelClass() && !c.getPackageName().equals("io.osier.proxy"))
            // A sealed class's own classes can be nowhere else than beside it.
            .filter(
                c ->
                    c.getRawSuperclass()
                        .filter(above -> above.getName().equals("io.osier.core.OsierException"))
                        .isEmpty())
            .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
    assertThat(files).allSatisfy((name, n) -> assertThat(n).as(name).isLessThanOrEqualTo(25));
  }

  /** A class has one job: where that takes more than 400 lines, there is a second one in it. */
  @Test
  void filesHaveAtMost400Lines() throws IOException {
    Map<String, Integer> larger = new TreeMap<>();
    int files = 0;
    for (Path module : DocumentsTest.modules()) {
      List<Path> sources;
      try (Stream<Path> all = Files.walk(module.resolve("src"))) {
        sources = all.filter(f -> f.toString().endsWith(".java")).toList();
      }
      files += sources.size();
      for (Path file : sources) {
        int lines = Files.readAllLines(file).size();
        if (lines > 400) {
          larger.put(file.getFileName().toString(), lines);
        }
      }
    }
    assertThat(larger).isEmpty();
    assertThat(files).as("files that were looked at").isGreaterThan(500);
  }

  @Test
  void everyRoomUsesOnlyWhatItMay() {
    ArchCondition<JavaClass> condition =
        new ArchCondition<>("use only the rooms and libraries that their room may use") {
          @Override
          public void check(JavaClass type, ConditionEvents events) {
            Room room = HOUSE.of(type).orElseThrow();
            for (Dependency d : type.getDirectDependenciesFromSelf()) {
              if (!HOUSE.mayUse(room, d.getTargetClass())) {
                events.add(SimpleConditionEvent.violated(type, d.getDescription()));
              }
            }
          }
        };
    classes().that(areInARoom()).should(condition).check(CLASSES);
  }

  /** The server answers a client of its own process; the rest of the client is for its users. */
  @Test
  void theServerKnowsOfTheClientOnlyTheWayIn() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "io.osier.datacenter.server..",
            "io.osier.datacenter.frontend..",
            "io.osier.datacenter.shard..",
            "io.osier.datacenter.admin..",
            "io.osier.datacenter.control..")
        .should()
        .dependOnClassesThat(
            describe(
                "are the client's",
                c ->
                    c.getPackageName().startsWith("io.osier.proxy")
                        && !c.getSimpleName().equals("InProcess")))
        .check(CLASSES);
  }

  /** What ships and what takes know no other part of replication; what repairs knows what takes. */
  @Test
  void replicationsPartsKnowOnlyWhatTheyNeed() {
    separate("send", "receive", "repair", "pull");
    separate("receive", "send", "repair");
    separate("repair", "send");
    separate("pull", "send", "receive", "repair");
  }

  private static void separate(String part, String... others) {
    String[] packages = new String[others.length];
    for (int i = 0; i < others.length; i++) {
      assertThat(HOUSE.names()).contains("propagation." + others[i]);
      packages[i] = "io.osier.propagation." + others[i];
    }
    noClasses()
        .that()
        .resideInAPackage("io.osier.propagation." + part)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(packages)
        .check(CLASSES);
  }

  @Test
  void pureRoomsHaveNoThreadsAndNoInputOrOutput() {
    noClasses()
        .that(arePure())
        .should()
        .dependOnClassesThat(describe("are of threads or of I/O", ArchitectureTest::isImpure))
        .check(CLASSES);
  }

  @Test
  void pureRoomsKeepNothingBesideTheirObjectsForAThread() {
    noClasses()
        .that(arePure())
        .and(describe("have no buffer", c -> !WITH_SCRATCH_BUFFERS.contains(c.getSimpleName())))
        .should()
        .dependOnClassesThat()
        .areAssignableTo(ThreadLocal.class)
        .check(CLASSES);
  }

  private static boolean isImpure(JavaClass type) {
    String name = type.getBaseComponentType().getName();
    return !HARMLESS.contains(name)
        && (IMPURE_CLASSES.contains(name)
            || IMPURE_PACKAGES.stream().anyMatch(p -> name.startsWith(p + '.')));
  }

  @Test
  void pureRoomsReadNoClockAndNoChance() {
    noClasses()
        .that(arePure())
        .should()
        .accessTargetWhere(describe("a clock or chance is read", ArchitectureTest::isChance))
        .check(CLASSES);
  }

  private static boolean isChance(JavaAccess<?> access) {
    String owner = access.getTargetOwner().getName();
    String name = access.getName();
    return switch (owner) {
      case "java.lang.System" -> !SYSTEM.contains(name);
      case "java.lang.Math", "java.lang.StrictMath" -> name.equals("random");
      case "java.util.random.RandomGenerator" -> name.equals("getDefault") || name.equals("of");
      case "java.util.UUID" -> name.equals("randomUUID");
      case "java.util.Random", "java.util.SplittableRandom" ->
          name.equals("<init>") && hasNoArguments(access);
      case "java.util.Date" -> name.equals("<init>") && hasNoArguments(access);
      case "java.util.Collections" ->
          name.equals("shuffle") && access.getDescription().contains("(java.util.List)");
      default -> owner.startsWith("java.time.") && name.equals("now");
    };
  }

  private static boolean hasNoArguments(JavaAccess<?> access) {
    return access.getTarget().getFullName().endsWith("()");
  }

  @Test
  void pureRoomsHaveNoLockedMethods() {
    methods()
        .that()
        .areDeclaredInClassesThat(arePure())
        .should()
        .notHaveModifier(JavaModifier.SYNCHRONIZED)
        .check(CLASSES);
  }

  @Test
  void pureRoomsDoNotWait_norWorkInParallel() {
    noClasses()
        .that(arePure())
        .should()
        .callMethodWhere(
            describe(
                "waits, wakes or has other threads work",
                c ->
                    c.getName().startsWith("parallel")
                        || (c.getTargetOwner().isEquivalentTo(Object.class)
                            && Set.of("wait", "notify", "notifyAll").contains(c.getName()))))
        .check(CLASSES);
  }

  @Test
  void pureRoomsHaveNoLockedBlocks() {
    Set<String> locking = new TreeSet<>();
    CLASSES.stream()
        .filter(ArchitectureTest::isPure)
        .filter(ArchitectureTest::entersMonitor)
        .forEach(c -> locking.add(c.getName()));
    assertThat(locking).as("pure classes with a synchronized block").isEmpty();
  }

  /** ArchUnit sees methods that are synchronized, but not blocks. */
  private static boolean entersMonitor(JavaClass type) {
    boolean[] enters = {false};
    MethodVisitor method =
        new MethodVisitor(Opcodes.ASM9) {
          @Override
          public void visitInsn(int opcode) {
            enters[0] |= opcode == Opcodes.MONITORENTER;
          }
        };
    ClassVisitor visitor =
        new ClassVisitor(Opcodes.ASM9) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            return method;
          }
        };
    try (InputStream in = type.getSource().orElseThrow().getUri().toURL().openStream()) {
      new ClassReader(in.readAllBytes()).accept(visitor, ClassReader.SKIP_DEBUG);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return enters[0];
  }

  /** What is kept beside the objects would be shared by all that a test makes. */
  @Test
  void pureRoomsKeepNothingBesideTheirObjects() {
    fields()
        .that(
            describe(
                "are static, of a pure class",
                f -> f.getModifiers().contains(JavaModifier.STATIC) && isPure(f.getOwner())))
        .should()
        .beFinal()
        .check(CLASSES);
    assertThat(
            CLASSES.stream().filter(ArchitectureTest::isPure).flatMap(c -> c.getMembers().stream()))
        .hasSizeGreaterThan(1_000); // the rules above have looked at something
  }
}
