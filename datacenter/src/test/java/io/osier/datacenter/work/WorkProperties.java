package io.osier.datacenter.work;

import io.osier.crdt.CrdtType;
import io.osier.datacenter.shard.agent.CombinerWork;
import io.osier.datacenter.store.GroupWork;
import java.util.function.BiConsumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Invariant I11: whatever is done costs at most about what the sizes of what is given and of the
 * answer justify. Counted in steps, so that neither a fast machine hides a quadratic path nor a
 * busy one invents it.
 */
final class WorkProperties {
  private static final BiConsumer<String, Long> TYPES = counted(TypesWork.class);
  private static final BiConsumer<String, Long> PARTITION = counted(PartitionWork.class);
  private static final BiConsumer<String, Long> PROGRAMS = counted(ProgramsWork.class);
  private static final BiConsumer<String, Long> REPLICATION = counted(ReplicationWork.class);

  private static final BiConsumer<String, Long> COLLIDING = counted(CollidingWork.class);
  private static final BiConsumer<String, Long> COMBINER = counted(CombinerWork.class);
  private static final BiConsumer<String, Long> GROUPS = counted(GroupWork.class);
  private static final BiConsumer<String, Long> ENCODING = counted(EncodingWork.class);

  /** An object of the class, which must be loaded anew to be counted. */
  @SuppressWarnings("unchecked") // the classes that are given here implement it
  private static BiConsumer<String, Long> counted(Class<? extends BiConsumer<String, Long>> type) {
    try {
      return (BiConsumer<String, Long>)
          new CountingLoader().loadClass(type.getName()).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(type + " cannot be loaded", e);
    }
  }

  /** Every operation, join, encoding and question, of every type, of objects large and small. */
  @Property(tries = 150)
  void dataTypes_doWorkInProportionToTheirInput(@ForAll CrdtType type, @ForAll long seed) {
    TYPES.accept(type.name(), seed);
  }

  /** The partition's own bookkeeping: history, transactions, rights, logs. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "clearing",
        "removing",
        "repeatedNames",
        "conflictingFields",
        "recentReads",
        "openSnapshot",
        "manySnapshots",
        "manySteps",
        "manyCommits",
        "collidingTransactions",
        "resuming",
        "waitingForRights"
      })
  void partition_doesWorkInProportionToItsRequests(String scene) {
    PARTITION.accept(scene, 0L);
  }

  /** What a program's calls see of those before them, and what they move, measure and draw. */
  @ParameterizedTest
  @ValueSource(strings = {"keys", "oneSet", "lengths", "renaming", "taking", "takingTogether"})
  void program_doesWorkInProportionToItsCalls(String scene) {
    PROGRAMS.accept(scene, 0L);
  }

  /** Two partitions: batches, what an outage left, what is held, in both kinds of keyspaces. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "batches",
        "batchesCausal",
        "oneBatch",
        "oneBatchCausal",
        "outage",
        "outageCausal",
        "held",
        "heldCausal",
        "heldSet",
        "heldSetCausal"
      })
  void replication_doesWorkInProportionToItsUpdates(String scene) {
    REPLICATION.accept(scene, 0L);
  }

  /** Clients choose the elements: whoever knows how they are hashed must gain nothing by it. */
  @ParameterizedTest
  @ValueSource(strings = {"among", "absent", "changed", "rebased", "cleared", "pulled"})
  void elementsOfOneHash_takeNoMoreWorkThanOthers(String scene) {
    COLLIDING.accept(scene, 0L);
  }

  @Test
  void elementsOfOneHash_takeNoMoreWorkInAWindow() {
    COMBINER.accept("", 0L);
  }

  /** Clients choose the keys, too, and one thread writes what all of them change. */
  @ParameterizedTest
  @ValueSource(strings = {"pruning", "dropping"})
  void keysOfOneHash_takeNoMoreWorkToWrite(String scene) {
    GROUPS.accept(scene, 0L);
  }

  /** The journal, the frames to all peers and the sizes share an update's bytes. */
  @ParameterizedTest
  @ValueSource(strings = {"operations", "states", "fullStates"})
  void update_isEncodedOnce(String scene) {
    ENCODING.accept(scene, 1L);
    ENCODING.accept(scene, 0L);
  }
}
