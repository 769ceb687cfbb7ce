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
 *     password ID      register             what is kept of the password
 *     rights ID        set (remove-wins)    rights, as they are written
 * </pre>
 *
 * <p>What two datacenters do at once ends like this, whatever comes where first:
 *
 * <ul>
 *   <li>A user who is dropped stays dropped, whatever else is done to it: rights and passwords
 *       belong to a creation, and that is gone.
 *   <li>A right that is taken away and given again stays away.
 *   <li>Of two passwords the later one counts, and of two creations of one name the later one, with
 *       its password and its rights alone.
 *   <li>Two who drop each other, the last ones who may administer, both go. Nobody may then change
 *       users, and nothing is open that was not; a datacenter's next start makes those users again
 *       that its configuration names and that are not there.
 * </ul>
 */
public final class UserRecords {
  public static final ObjectId OBJECT = new ObjectId(Key.of("users"), CrdtType.OR_MAP);

  private static final FieldId IN_FORCE = new FieldId("*", CrdtType.EW_FLAG);
  private static final FieldId MADE = new FieldId("made", CrdtType.AW_SET);

  /**
   * A creation of a user.
   *
   * @param id unique, and larger than those of earlier ones
   * @param by who made it
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
   * Who changes something, and when.
   *
   * @param by a user and a datacenter, for whoever asks later
   * @param millis the time since 1970
   * @param unique drawn at random
   */
  public record Author(String by, long millis, long unique) {
    private Creation creation() {
      return new Creation("%013d-%016x".formatted(millis, unique), by);
    }
  }

  /** No user was ever made. */
  public static final UserRecords NONE = new UserRecords(new Reading.Fields(new TreeMap<>()));

  private final boolean inForce;
  private final Map<String, List<Creation>> creations = new TreeMap<>();
  private final Map<String, Reading.Fields> fields = new TreeMap<>();
  private final Users users;

  /**
   * @param object all of {@link #OBJECT}
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
    // More than fit came about by two who gave rights at once: the first in their order count.
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

  /** What removes that which was done to users while somebody else dropped them; often nothing. */
  public List<Operation> cleaning() {
    List<String> gone =
        fields.keySet().stream().filter(name -> !creations.containsKey(name)).toList();
    return gone.isEmpty() ? List.of() : List.of(new Operation.RemoveFields(gone));
  }

  /** Whether a user was ever made, so that these users count and not those of a configuration. */
  public boolean isInForce() {
    return inForce;
  }

  /** Whether nobody is left who may change users. */
  public boolean isLockedOut() {
    return inForce && !isAdministered(users);
  }

  /** The users that there are: those of {@link Users#OPEN} while none was ever made. */
  public Users users() {
    return users;
  }

  /**
   * Who made a user.
   *
   * @return empty if there is none of the name
   */
  public Optional<String> madeBy(String user) {
    return Optional.ofNullable(creations.get(user)).map(c -> c.getLast().by);
  }

  /**
   * When a user was made, in milliseconds since 1970.
   *
   * @return empty if there is none of the name
   */
  public Optional<Long> madeAtMillis(String user) {
    return Optional.ofNullable(creations.get(user))
        .map(c -> Long.parseLong(c.getLast().id.replaceFirst("-.*", "")));
  }

  // ---------------------------------------------------------------- changes

  /**
   * What a command does. The first user that is made puts rights in force, and with it comes the
   * default one, with all rights: what worked before still does, until somebody drops that.
   *
   * @throws OsierException INVALID_ARGUMENT if the command makes no sense: its user is there
   *     already, or is not, or nobody could administer afterwards
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
   * What makes those users who are not there, and puts rights in force. The others stay as they
   * are, and no default one is made unless it is among them.
   *
   * @param author whose number is used for all
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
              + (inForce ? "" : ": none was ever made, and everybody may do everything"));
    }
    return all.getLast();
  }

  /** Somebody must be able to undo what is done. */
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
