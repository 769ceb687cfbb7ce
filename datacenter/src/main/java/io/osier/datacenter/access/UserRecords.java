package io.osier.datacenter.access;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.scram.ScramCredential;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The users as an object of a keyspace that every datacenter holds, read from it, and changed by
 * operations on it. Immutable. It is a map:
 *
 * <pre>
 *   *                  flag               whether rights are in force; never disabled
 *   NAME               map                a user, with
 *     made             set (add-wins)       creations: "ID BY"
 *     password ID      register             the credential
 *     rights ID        set (remove-wins)    rights, as texts
 * </pre>
 *
 * <p>Concurrent changes at two datacenters have these outcomes, in whatever order they arrive:
 *
 * <ul>
 *   <li>A dropped user stays dropped, whatever else is done to it concurrently: rights and
 *       passwords belong to a creation, which is gone.
 *   <li>A right that is concurrently taken away and given stays away.
 *   <li>Of two passwords the later one counts. Of two creations of one name the later one counts,
 *       with only its own password and rights.
 *   <li>If the last two users who may administer drop each other, both are dropped. Then nobody may
 *       change users, but nothing becomes open; a datacenter's next start makes the users of its
 *       configuration that do not exist.
 * </ul>
 */
public final class UserRecords {
  public static final ObjectId OBJECT = new ObjectId(Key.of("users"), CrdtType.OR_MAP);

  private static final FieldId IN_FORCE = new FieldId("*", CrdtType.EW_FLAG);
  private static final FieldId MADE = new FieldId("made", CrdtType.AW_SET);

  /**
   * A creation of a user.
   *
   * @param id unique, and larger than the ids of earlier creations
   * @param by the author
   */
  private record Creation(String id, String by) implements Comparable<Creation> {
    static Creation parse(String text) {
      int space = text.indexOf(' ');
      return space < 0
          ? new Creation(text, "")
          : new Creation(text.substring(0, space), text.substring(space + 1));
    }

    Value value() {
      return Value.of(id + " " + by);
    }

    @Override
    public int compareTo(Creation other) {
      return id.compareTo(other.id);
    }
  }

  /**
   * The author and the time of a change.
   *
   * @param by a user and a datacenter, to be shown later
   * @param millis the time, in milliseconds since 1970
   * @param unique a random number
   */
  public record Author(String by, long millis, long unique) {
    private Creation creation() {
      return new Creation("%013d-%016x".formatted(millis, unique), by);
    }
  }

  /** The records before any user was made. */
  public static final UserRecords NONE = new UserRecords(new Reading.Fields(new TreeMap<>()));

  private final boolean inForce;
  private final Map<String, List<Creation>> creations = new TreeMap<>();
  private final Map<String, Reading.Fields> fields = new TreeMap<>();
  private final Users users;

  /**
   * Reads the records.
   *
   * @param object the whole reading of {@link #OBJECT}
   */
  public UserRecords(Reading.Fields object) {
    this.inForce = object.fields().get(IN_FORCE) instanceof Reading.Flag flag && flag.value();
    object
        .fields()
        .forEach(
            (field, reading) -> {
              if (reading instanceof Reading.Fields of && User.isName(field.name())) {
                fields.put(field.name(), of);
                List<Creation> made =
                    texts(of, MADE).stream().map(Creation::parse).sorted().toList();
                if (!made.isEmpty()) {
                  creations.put(field.name(), made);
                }
              }
            });
    List<User> all = new ArrayList<>();
    creations.forEach((name, made) -> all.add(read(name, made.getLast())));
    this.users = inForce ? new Users(all) : Users.OPEN;
  }

  private User read(String name, Creation creation) {
    Reading.Fields of = requireNonNull(fields.get(name));
    Optional<ScramCredential> credential = Optional.empty();
    if (of.fields().get(password(creation)) instanceof Reading.Single line
        && !name.equals(Users.DEFAULT)) {
      credential = line.value().map(v -> ScramCredential.parse(v.toString()));
    }
    // Concurrent changes may have given more rights than fit: the first ones in order count.
    List<Grant> grants =
        texts(of, rights(creation)).stream().limit(User.GRANTS_MAX).map(Grant::parse).toList();
    return new User(name, credential, grants);
  }

  private static List<String> texts(Reading.Fields of, FieldId field) {
    return of.fields().get(field) instanceof Reading.Many many
        ? many.values().stream().map(Value::toString).toList()
        : List.of();
  }

  private static FieldId password(Creation creation) {
    return new FieldId("password " + creation.id, CrdtType.LWW_REGISTER);
  }

  private static FieldId rights(Creation creation) {
    return new FieldId("rights " + creation.id, CrdtType.RW_SET);
  }

  /**
   * Returns operations that remove leftovers of changes to users that were dropped concurrently;
   * often none.
   */
  public List<Operation> cleaning() {
    List<String> gone =
        fields.keySet().stream().filter(name -> !creations.containsKey(name)).toList();
    return gone.isEmpty() ? List.of() : List.of(new Operation.RemoveFields(gone));
  }

  /**
   * Returns whether a user was ever made, so that these users are in force and not those of a
   * configuration.
   */
  public boolean isInForce() {
    return inForce;
  }

  /** Returns whether no user is left who may change users. */
  public boolean isLockedOut() {
    return inForce && !isAdministered(users);
  }

  /** Returns the present users: {@link Users#OPEN} if none was ever made. */
  public Users users() {
    return users;
  }

  /** Returns the author of a user's creation; empty if there is no such user. */
  public Optional<String> madeBy(String user) {
    return Optional.ofNullable(creations.get(user)).map(c -> c.getLast().by);
  }

  /** Returns when a user was made, in milliseconds since 1970; empty if there is no such user. */
  public Optional<Long> madeAtMillis(String user) {
    return Optional.ofNullable(creations.get(user))
        .map(c -> Long.parseLong(c.getLast().id.replaceFirst("-.*", "")));
  }

  // ---------------------------------------------------------------- changes

  /**
   * Returns the operations of a command. The first user puts rights into force. With it the default
   * user is made, with all rights, so that existing clients go on until it is dropped.
   *
   * @throws OsierException INVALID_ARGUMENT if the command's user exists already, or does not
   *     exist, or nobody could administer afterwards
   */
  public List<Operation> operations(UserCommand command, Author author) {
    List<Operation> operations =
        switch (command) {
          case UserCommand.Create c -> create(c, author);
          case UserCommand.ChangePassword c -> {
            User.checkName(c.user());
            if (c.user().equals(Users.DEFAULT)) {
              throw bad("the user default is who does not log in, and so has no password");
            }
            FieldId field = password(present(c.user()));
            yield List.of(
                update(
                    c.user(),
                    new Operation.FieldUpdate(
                        field, new Operation.Assign(Value.of(c.credential().line())))));
          }
          case UserCommand.GiveRight c -> {
            Creation of = present(c.user());
            if (user(c.user()).grants().size() >= User.GRANTS_MAX) {
              throw bad(
                  "user " + c.user() + " has " + User.GRANTS_MAX + " rights, and no more fit");
            }
            yield List.of(changeRights(c.user(), of, new Operation.Add(text(c.grant()))));
          }
          case UserCommand.TakeRight c -> {
            Creation of = present(c.user());
            if (!user(c.user()).grants().contains(c.grant())) {
              throw bad(
                  "user "
                      + c.user()
                      + " was not given: "
                      + c.grant()
                      + "; there are "
                      + user(c.user()).grants());
            }
            yield List.of(changeRights(c.user(), of, new Operation.Remove(text(c.grant()))));
          }
          case UserCommand.Drop c -> {
            present(c.user());
            yield List.of(new Operation.RemoveFields(List.of(c.user())));
          }
        };
    checkAdministered(command);
    return operations;
  }

  /**
   * Returns the operations that make those of the users that do not exist, and put rights into
   * force. Existing users stay as they are, and the default user is only made if it is among them.
   *
   * @param author the author of all creations
   */
  public List<Operation> initial(Collection<User> all, Author author) {
    List<Operation> operations = new ArrayList<>();
    if (!inForce) {
      operations.add(putInForce());
    }
    for (User user : all) {
      if (!creations.containsKey(user.name())) {
        operations.add(creation(user, author.creation()));
      }
    }
    return operations;
  }

  private List<Operation> create(UserCommand.Create c, Author author) {
    User made = new User(c.user(), c.credential(), c.grants());
    if (creations.containsKey(c.user())) {
      throw bad(
          "there is a user "
              + c.user()
              + " already"
              + madeBy(c.user())
                  .map(
                      by ->
                          ", made by "
                              + by
                              + " at "
                              + Instant.ofEpochMilli(madeAtMillis(c.user()).orElse(0L))
                                  .truncatedTo(ChronoUnit.SECONDS))
                  .orElse(""));
    }
    List<Operation> operations = new ArrayList<>();
    if (!inForce) {
      operations.add(putInForce());
      if (!c.user().equals(Users.DEFAULT)) {
        User open = Users.OPEN.find(Users.DEFAULT).orElseThrow();
        operations.add(creation(open, author.creation()));
      }
    }
    operations.add(creation(made, author.creation()));
    return operations;
  }

  private static Operation putInForce() {
    return new Operation.UpdateFields(IN_FORCE, new Operation.SetFlag(true));
  }

  private static Operation creation(User user, Creation creation) {
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    updates.add(new Operation.FieldUpdate(MADE, new Operation.Add(creation.value())));
    user.credential()
        .ifPresent(
            credential ->
                updates.add(
                    new Operation.FieldUpdate(
                        password(creation), new Operation.Assign(Value.of(credential.line())))));
    if (!user.grants().isEmpty()) {
      List<Value> texts = user.grants().stream().distinct().map(UserRecords::text).toList();
      updates.add(new Operation.FieldUpdate(rights(creation), new Operation.Add(texts)));
    }
    return update(user.name(), updates.toArray(Operation.FieldUpdate[]::new));
  }

  private static Operation changeRights(String user, Creation creation, Operation operation) {
    return update(user, new Operation.FieldUpdate(rights(creation), operation));
  }

  private static Operation update(String user, Operation.FieldUpdate... updates) {
    return new Operation.UpdateFields(
        new FieldId(user, CrdtType.OR_MAP), new Operation.UpdateFields(List.of(updates)));
  }

  private static Value text(Grant grant) {
    return Value.of(grant.toString());
  }

  private User user(String name) {
    return users.find(name).orElseThrow();
  }

  private Creation present(String user) {
    List<Creation> all = inForce ? creations.get(user) : null;
    if (all == null) {
      throw bad(
          "there is no user "
              + (User.isName(user) ? user : "of that name")
              + (inForce ? "" : ": no user was ever created, so everybody may do everything"));
    }
    return all.getLast();
  }

  /** Refuses a command after which no user could change users any more. */
  private void checkAdministered(UserCommand command) {
    Map<String, User> after = new TreeMap<>();
    users.all().forEach(u -> after.put(u.name(), u));
    String name = command.user();
    switch (command) {
      case UserCommand.Create c -> after.put(name, new User(name, c.credential(), c.grants()));
      case UserCommand.Drop c -> after.remove(name);
      case UserCommand.TakeRight c -> {
        List<Grant> left = new ArrayList<>(user(name).grants());
        left.remove(c.grant());
        after.put(name, new User(name, user(name).credential(), left));
      }
      case UserCommand.ChangePassword c -> {}
      case UserCommand.GiveRight c -> {}
    }
    boolean before = isAdministered(users);
    if (before && !isAdministered(new Users(after.values()))) {
      throw bad(
          "nobody would be left with the right admin * who could change users again; give it to"
              + " another one first");
    }
  }

  private static boolean isAdministered(Users all) {
    return all.all().stream().anyMatch(u -> u.may(Grant.onAll(Grant.Right.ADMIN)));
  }

  private static OsierException bad(String what) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, what);
  }
}
