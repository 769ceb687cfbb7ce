package io.osier.datacenter.control;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The datacenters of the cluster, as the keyspace {@code _osier} has them at one moment. Immutable
 * and pure.
 *
 * <p>{@link #OBJECT} is a map with a map for each datacenter:
 *
 * <pre>
 *   id, address, rank     registers
 *   protocol              register: the newest version of the peer protocol that it speaks; said by
 *                         itself, also where the configuration files count
 *   clients               register: how others reach its port for clients; said likewise
 *   gone                  register: when a membership of the name ended, or its last incarnation
 *                         if that is a larger number
 *   STATE ID              flag, enabled and never disabled: this membership has come so far
 *   STEP DC DCID ID       flag: that member has taken a step for this one's going
 *   _by, _at              registers: who changed it last, and when
 * </pre>
 *
 * <p>Until the first change it is empty, and the configuration files count. Concurrent commands of
 * operators have the same result everywhere: of the states of one membership the furthest counts,
 * so that a datacenter that is told to leave leaves in any case; of two additions of one name the
 * later one counts; of several datacenters told to leave at once, the first by name stays if nobody
 * else would.
 */
record Membership(SortedMap<String, Member> all) {
  static final ObjectId OBJECT = new ObjectId(Key.of("datacenters"), CrdtType.OR_MAP);

  /** The id of the memberships of datacenters that the configuration files name. */
  static final String FROM_FILE = "file";

  private static final int NOTE_WORDS = 4;
  private static final String ID = "id";
  private static final String ADDRESS = "address";
  private static final String RANK = "rank";
  private static final String GONE = "gone";
  private static final String PROTOCOL = "protocol";
  private static final String CLIENTS = "clients";
  private static final String BY = "_by";
  private static final String AT = "_at";

  /** No changes so far. */
  static final Membership NOTHING = new Membership(new TreeMap<>());

  static Membership of(Reading.Fields object) {
    List<Member> read = new ArrayList<>();
    object
        .fields()
        .forEach(
            (field, reading) -> {
              if (reading instanceof Reading.Fields of) {
                member(field.name(), of).ifPresent(read::add);
              }
            });
    // Two datacenters added at once may have chosen one rank: the later one takes the next.
    read.sort(
        Comparator.comparingInt(Member::rank)
            .thenComparing(m -> !m.id().equals(FROM_FILE)) // the first keeps its rank
            .thenComparing(Member::id)
            .thenComparing(Member::name));
    Set<Integer> taken = new HashSet<>();
    SortedMap<String, Member> all = new TreeMap<>();
    for (Member m : read) {
      int rank = m.rank();
      while (!taken.add(rank)) {
        rank++;
      }
      all.put(
          m.name(),
          new Member(
              m.name(),
              m.address(),
              m.state(),
              m.wasActive(),
              m.id(),
              rank,
              m.goneMillis(),
              m.notes(),
              m.by(),
              m.atMillis()));
    }
    return new Membership(all);
  }

  private static Optional<Member> member(String name, Reading.Fields of) {
    SortedMap<String, String> texts = ControlState.texts(of);
    String id = texts.get(ID);
    if (id == null) {
      return Optional.empty();
    }
    Member.State state = Member.State.JOINING;
    for (Member.State s : Member.State.values()) {
      state = isMarked(of, s, id) ? s : state;
    }
    return Optional.of(
        new Member(
            name,
            Optional.ofNullable(texts.get(ADDRESS)),
            state,
            isMarked(of, Member.State.ACTIVE, id),
            id,
            (int) ControlState.number(texts, RANK),
            ControlState.number(texts, GONE),
            notes(of, id),
            ControlState.by(texts),
            ControlState.atMillis(texts)));
  }

  private static boolean isMarked(Reading.Fields of, Member.State state, String id) {
    return of.fields().get(mark(state, id)) instanceof Reading.Flag flag && flag.value();
  }

  private static Set<Member.Note> notes(Reading.Fields of, String id) {
    Set<Member.Note> notes = new HashSet<>();
    for (FieldId field : of.fields().keySet()) {
      String[] words = field.name().split(" ");
      for (Member.Step step : Member.Step.values()) {
        if (words.length == NOTE_WORDS && words[0].equals(step.label()) && words[3].equals(id)) {
          notes.add(new Member.Note(step, words[1], words[2]));
        }
      }
    }
    return notes;
  }

  private static FieldId mark(Member.State state, String id) {
    return new FieldId(state.label() + " " + id, CrdtType.EW_FLAG);
  }

  /** Returns whether this counts instead of the configuration files. */
  boolean isInForce() {
    return !all.isEmpty();
  }

  /** Returns the datacenters that replicate, in the order of their names. */
  List<Member> present() {
    return all.values().stream().filter(Member::isPresent).toList();
  }

  /** Returns the datacenters that serve requests and are waited for. */
  List<String> active() {
    return present().stream()
        .filter(m -> m.state() != Member.State.JOINING)
        .map(Member::name)
        .toList();
  }

  /** Returns the last membership of a datacenter, present or not. */
  Optional<Member> find(String name) {
    return Optional.ofNullable(all.get(name));
  }

  /**
   * Returns whether a datacenter that was told to leave does so. If all were told to, one must
   * stay: the first that is active.
   */
  boolean leaves(String name) {
    boolean somebodyStays = present().stream().anyMatch(m -> m.state() == Member.State.ACTIVE);
    List<Member> leaving =
        present().stream().filter(m -> m.state() == Member.State.LEAVING).toList();
    Optional<Member> first = leaving.stream().filter(Member::wasActive).findFirst();
    boolean mustStay = !somebodyStays && first.map(m -> m.name().equals(name)).orElse(true);
    return leaving.stream().anyMatch(m -> m.name().equals(name)) && !mustStay;
  }

  /** Returns the rank for a datacenter that is added. */
  int nextRank() {
    return all.values().stream().mapToInt(Member::rank).max().orElse(-1) + 1;
  }

  /**
   * Returns the same with the datacenters that a configuration file names and this does not know:
   * the file of the first change did not name them, and nobody has told them to leave.
   */
  Membership with(SortedMap<String, Optional<String>> addresses) {
    SortedMap<String, Member> more = new TreeMap<>(all);
    int rank = nextRank();
    for (Map.Entry<String, Optional<String>> e : unknown(addresses).entrySet()) {
      more.put(
          e.getKey(),
          new Member(
              e.getKey(),
              e.getValue(),
              Member.State.ACTIVE,
              true,
              FROM_FILE,
              rank++,
              0,
              Set.of(),
              "",
              0));
    }
    return new Membership(more);
  }

  /** Returns those of these addresses whose datacenters this does not know. */
  SortedMap<String, Optional<String>> unknown(SortedMap<String, Optional<String>> addresses) {
    SortedMap<String, Optional<String>> unknown = new TreeMap<>(addresses);
    unknown.keySet().removeAll(all.keySet());
    return unknown;
  }

  // ---------------------------------------------------------------- changes

  /**
   * Returns the operations that put the files' datacenters into {@code _osier}, or add those that
   * other files did not name.
   *
   * @param addresses the datacenters not known yet with their addresses, as far as known, by name
   */
  List<Operation> initial(SortedMap<String, Optional<String>> addresses) {
    List<Operation> operations = new ArrayList<>();
    int rank = nextRank();
    for (Map.Entry<String, Optional<String>> e : addresses.entrySet()) {
      SortedMap<String, String> fields = new TreeMap<>();
      fields.put(ID, FROM_FILE);
      fields.put(RANK, String.valueOf(rank++));
      e.getValue().ifPresent(address -> fields.put(ADDRESS, address));
      operations.add(update(e.getKey(), fields, List.of(mark(Member.State.ACTIVE, FROM_FILE))));
    }
    return operations;
  }

  Operation add(String name, String address, String id, String by, long nowMillis) {
    SortedMap<String, String> fields = new TreeMap<>();
    fields.put(ID, id);
    fields.put(ADDRESS, address);
    fields.put(RANK, String.valueOf(nextRank()));
    fields.put(PROTOCOL, "0"); // a former member's announcement does not count
    fields.put(CLIENTS, "");
    fields.put(BY, by);
    fields.put(AT, String.valueOf(nowMillis));
    return update(name, fields, List.of());
  }

  /**
   * Returns the operation that notes a membership's state, for an operator or the datacenter
   * itself.
   *
   * @param incarnation the member's last known incarnation; 0 if none is known
   */
  static Operation mark(
      Member member, Member.State state, String by, long nowMillis, long incarnation) {
    SortedMap<String, String> fields = new TreeMap<>();
    if (state.compareTo(Member.State.LEFT) >= 0) {
      // The member's clock may be ahead of this one's, or have been.
      fields.put(GONE, String.valueOf(Math.max(nowMillis, incarnation)));
    }
    fields.put(BY, by);
    fields.put(AT, String.valueOf(nowMillis));
    return update(member.name(), fields, List.of(mark(state, member.id())));
  }

  /** Returns the operation that notes a membership's state. */
  static Operation mark(Member member, Member.State state) {
    return update(member.name(), new TreeMap<>(), List.of(mark(state, member.id())));
  }

  /** Returns the operation that notes a member's step for another one's departure. */
  static Operation note(Member going, Member.Step step, Member by) {
    String words = String.join(" ", step.label(), by.name(), by.id(), going.id());
    FieldId field = new FieldId(words, CrdtType.EW_FLAG);
    return update(going.name(), new TreeMap<>(), List.of(field));
  }

  /** Returns the version of the peer protocol that each datacenter says it speaks, by name. */
  static SortedMap<String, Integer> protocols(Reading.Fields object) {
    SortedMap<String, Integer> protocols = new TreeMap<>();
    object
        .fields()
        .forEach(
            (field, reading) -> {
              int version = (int) ControlState.number(ControlState.texts(reading), PROTOCOL);
              if (version > 0) {
                protocols.put(field.name(), version);
              }
            });
    return protocols;
  }

  /** Returns the addresses of the ports for clients that datacenters have announced, by name. */
  static SortedMap<String, String> clients(Reading.Fields object) {
    SortedMap<String, String> clients = new TreeMap<>();
    object
        .fields()
        .forEach(
            (field, reading) ->
                Optional.ofNullable(ControlState.texts(reading).get(CLIENTS))
                    .filter(at -> !at.isEmpty())
                    .ifPresent(at -> clients.put(field.name(), at)));
    return clients;
  }

  /**
   * Returns the operation by which a datacenter introduces itself.
   *
   * @param protocol the newest version of the peer protocol that it speaks
   * @param clients the address of its port for clients
   */
  static Operation introduction(String name, int protocol, String clients) {
    Map<String, String> fields = Map.of(PROTOCOL, String.valueOf(protocol), CLIENTS, clients);
    return update(name, new TreeMap<>(fields), List.of());
  }

  /** Returns the operation that sets a datacenter's address. */
  static Operation address(String name, String address) {
    return update(name, new TreeMap<>(Map.of(ADDRESS, address)), List.of());
  }

  private static Operation update(
      String name, SortedMap<String, String> registers, List<FieldId> flags) {
    return ControlState.update(ReplicaId.checkDcName(name), registers, flags);
  }
}
