package io.osier.datacenter.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Grant.Right;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.scram.ScramCredential;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.testing.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Users as objects that two datacenters change, at once, too. */
final class UserRecordsProperties {
  private static final List<ScramCredential> PASSWORDS = List.of(password("one"), password("two"));

  private static ScramCredential password(String text) {
    return ScramCredential.of(text.toCharArray(), new byte[] {1}, ScramCredential.ITERATIONS_MIN);
  }

  private static final Grant READ = Grant.on(Right.READ, "shop");
  private static final Grant WRITE = Grant.on(Right.WRITE, "shop", Key.of("cart:"));
  private static final Grant ADMIN = Grant.onAll(Right.ADMIN);

  /** A datacenter's objects. */
  private static final class Dc {
    private final ReplicaId self;
    private CrdtState object = CrdtState.bottom(UserRecords.OBJECT.type());
    private long dots;
    private long time;

    Dc(String name) {
      self = new ReplicaId(name, 1);
    }

    UserRecords records() {
      return new UserRecords((Reading.Fields) object.read(new Query.Whole()));
    }

    Users users() {
      return records().users();
    }

    Dc does(UserCommand command) {
      apply(records().operations(command, author()));
      return this;
    }

    private UserRecords.Author author() {
      time++;
      return new UserRecords.Author("root@" + self.dc(), time, self.dc().hashCode());
    }

    void apply(List<Operation> operations) {
      for (Operation operation : operations) {
        CrdtState delta =
            object.prepare(operation, self, dots + 1, object.context().through(self), ++time, 0);
        dots = delta.context().last(self);
        object = object.join(delta);
      }
    }

    Dc merge(Dc other) {
      object = object.join(other.object);
      time = Math.max(time, other.time);
      return this;
    }
  }

  private static UserCommand.Create create(String name, Grant... grants) {
    return new UserCommand.Create(name, Optional.of(PASSWORDS.getFirst()), List.of(grants));
  }

  private Dc eu = new Dc("eu");
  private Dc us = new Dc("us");

  /** Both have these users, and no default one. */
  private void begin(UserCommand.Create... commands) {
    eu = new Dc("eu"); // all tries of a property share this object
    us = new Dc("us");
    List<User> all = new ArrayList<>();
    for (UserCommand.Create c : commands) {
      all.add(new User(c.user(), c.credential(), c.grants()));
    }
    eu.apply(eu.records().initial(all, eu.author()));
    us.merge(eu);
  }

  /** Both see what was done at once, and agree. */
  private Users together() {
    Dc before = new Dc("ap").merge(eu);
    eu.merge(us);
    us.merge(before);
    assertThat(us.users()).hasToString(eu.users().toString());
    for (User user : eu.users().all()) {
      assertThat(us.users().find(user.name())).contains(user);
    }
    return eu.users();
  }

  private static void refused(String why, Runnable command) {
    assertThatThrownBy(command::run)
        .is(Refused.with(ErrorCode.INVALID_ARGUMENT))
        .hasMessageContaining(why);
  }

  // ---------------------------------------------------------------- one after the other

  @Example
  void firstUser_leavesEverythingOpen_untilTheDefaultOneIsDropped() {
    assertThat(eu.users()).isSameAs(Users.OPEN);
    eu.does(create("admin", ADMIN));
    assertThat(eu.users().isOpen()).isTrue();
    assertThat(eu.users().find("admin").orElseThrow().grants()).containsExactly(ADMIN);
    assertThat(eu.records().madeBy("admin")).contains("root@eu");
    assertThat(eu.records().madeAtMillis("admin")).contains(1L);
    eu.does(new UserCommand.Drop(Users.DEFAULT));
    assertThat(eu.users().isOpen()).isFalse();
    assertThat(eu.users().all()).extracting(User::name).containsExactly("admin");
  }

  @Example
  void commands_doWhatTheySay() {
    begin(create("admin", ADMIN));
    eu.does(create("cart", READ));
    eu.does(new UserCommand.GiveRight("cart", WRITE));
    assertThat(eu.users().find("cart").orElseThrow().grants())
        .containsExactlyInAnyOrder(READ, WRITE);
    eu.does(new UserCommand.TakeRight("cart", READ));
    assertThat(eu.users().find("cart").orElseThrow().grants()).containsExactly(WRITE);
    eu.does(new UserCommand.ChangePassword("cart", PASSWORDS.get(1)));
    assertThat(eu.users().find("cart").orElseThrow().credential()).contains(PASSWORDS.get(1));
    eu.does(new UserCommand.Drop("cart"));
    assertThat(eu.users().find("cart")).isEmpty();
    eu.does(create("cart"));
    assertThat(eu.users().find("cart").orElseThrow().grants()).as("a new one").isEmpty();
  }

  @Example
  void commands_thatMakeNoSense_areRefused() {
    refused("no user was ever created", () -> eu.does(new UserCommand.Drop("cart")));
    begin(create("admin", ADMIN), create("cart", READ));
    refused("already, made by ", () -> eu.does(create("cart")));
    refused("no user card", () -> eu.does(new UserCommand.Drop("card")));
    refused("no user card", () -> eu.does(new UserCommand.GiveRight("card", READ)));
    refused(
        "no user card",
        () -> eu.does(new UserCommand.ChangePassword("card", PASSWORDS.getFirst())));
    refused("there are [read shop]", () -> eu.does(new UserCommand.TakeRight("cart", WRITE)));
    refused("a user's name", () -> eu.does(create("a b")));
    refused("no password", () -> eu.does(create(Users.DEFAULT)));
    refused(
        "no password",
        () -> eu.does(new UserCommand.ChangePassword(Users.DEFAULT, PASSWORDS.getFirst())));
    refused("nobody would be left", () -> eu.does(new UserCommand.Drop("admin")));
    refused("nobody would be left", () -> eu.does(new UserCommand.TakeRight("admin", ADMIN)));
    eu.does(new UserCommand.GiveRight("cart", ADMIN));
    eu.does(new UserCommand.Drop("admin"));
  }

  @Example
  void configuredUsers_areMadeOnce() {
    begin(create("admin", ADMIN));
    eu.does(new UserCommand.ChangePassword("admin", PASSWORDS.get(1)));
    User configured = new User("admin", Optional.of(PASSWORDS.getFirst()), List.of());
    assertThat(eu.records().initial(List.of(configured), eu.author())).isEmpty();
  }

  // ---------------------------------------------------------------- at once

  @Example
  void dropped_andGivenARightOrAPassword_staysDropped() {
    for (UserCommand other :
        List.of(
            new UserCommand.GiveRight("cart", WRITE),
            new UserCommand.TakeRight("cart", READ),
            new UserCommand.ChangePassword("cart", PASSWORDS.get(1)))) {
      UserRecordsProperties run = new UserRecordsProperties();
      run.begin(create("admin", ADMIN), create("cart", READ));
      run.eu.does(new UserCommand.Drop("cart"));
      run.us.does(other);
      assertThat(run.together().find("cart")).isEmpty();
      // Nor does one of the name who is made later inherit anything.
      run.us.does(new UserCommand.Create("cart", Optional.empty(), List.of()));
      User later = run.together().find("cart").orElseThrow();
      assertThat(later.grants()).isEmpty();
      assertThat(later.credential()).isEmpty();
    }
  }

  @Example
  void whatIsLeftOfADroppedUser_isCleanedAway() {
    begin(create("admin", ADMIN), create("cart", READ));
    eu.does(new UserCommand.Drop("cart"));
    us.does(new UserCommand.GiveRight("cart", WRITE));
    together();
    assertThat(eu.records().cleaning()).isNotEmpty();
    eu.apply(eu.records().cleaning());
    assertThat(together().find("cart")).isEmpty();
    assertThat(us.records().cleaning()).isEmpty();
  }

  @Example
  void right_takenAwayAndGivenAgain_staysAway() {
    begin(create("admin", ADMIN), create("cart", READ));
    eu.does(new UserCommand.TakeRight("cart", READ));
    us.does(new UserCommand.GiveRight("cart", READ));
    assertThat(together().find("cart").orElseThrow().grants()).isEmpty();
    eu.does(new UserCommand.GiveRight("cart", READ)); // who has seen it gives it
    assertThat(together().find("cart").orElseThrow().grants()).containsExactly(READ);
  }

  @Example
  void twoRights_givenAtOnce_areBothThere() {
    begin(create("admin", ADMIN), create("cart"));
    eu.does(new UserCommand.GiveRight("cart", READ));
    us.does(new UserCommand.GiveRight("cart", WRITE));
    assertThat(together().find("cart").orElseThrow().grants())
        .containsExactlyInAnyOrder(READ, WRITE);
  }

  @Example
  void twoCreations_ofOneName_areOneUser_andNoMixture() {
    begin(create("admin", ADMIN));
    eu.does(new UserCommand.Create("cart", Optional.of(PASSWORDS.getFirst()), List.of(READ)));
    us.does(new UserCommand.Create("cart", Optional.of(PASSWORDS.get(1)), List.of(WRITE)));
    User cart = together().find("cart").orElseThrow();
    assertThat(cart.grants()).hasSize(1);
    assertThat(cart.credential()).contains(PASSWORDS.get(cart.grants().contains(READ) ? 0 : 1));
    eu.does(new UserCommand.Drop("cart"));
    assertThat(together().find("cart")).as("both are dropped").isEmpty();
  }

  @Example
  void lastTwoAdministrators_whoDropEachOther_areGone_andNothingIsOpen() {
    begin(create("a", ADMIN), create("b", ADMIN), create("cart", READ));
    eu.does(new UserCommand.Drop("a"));
    us.does(new UserCommand.Drop("b"));
    Users after = together();
    assertThat(after.isOpen()).isFalse();
    assertThat(administrators(after)).isEmpty();
    assertThat(after.find(Users.DEFAULT)).isEmpty();
    // The configuration brings back those who are not there, and nobody else changes.
    eu.apply(
        eu.records()
            .initial(
                List.of(
                    new User("a", Optional.of(PASSWORDS.getFirst()), List.of(ADMIN)),
                    new User("cart", Optional.empty(), List.of())),
                eu.author()));
    assertThat(administrators(together())).containsExactly("a");
    assertThat(eu.users().find("cart").orElseThrow().grants()).containsExactly(READ);
  }

  @Provide
  Arbitrary<UserCommand> commands() {
    Arbitrary<String> names = Arbitraries.of("cart", "bank", Users.DEFAULT);
    Arbitrary<Grant> grants = Arbitraries.of(READ, WRITE, ADMIN);
    Arbitrary<ScramCredential> passwords = Arbitraries.of(PASSWORDS);
    return Arbitraries.oneOf(
        Combinators.combine(names, grants.list().ofMaxSize(3))
            .as((n, g) -> new UserCommand.Create(n, Optional.empty(), g)),
        Combinators.combine(names, passwords).as(UserCommand.ChangePassword::new),
        Combinators.combine(names, grants).as(UserCommand.GiveRight::new),
        Combinators.combine(names, grants).as(UserCommand.TakeRight::new),
        names.map(UserCommand.Drop::new));
  }

  @Property(tries = 1_000)
  void whateverIsDoneAtOnce_allAgree_andNobodyHasMoreThanWasGiven(
      @ForAll List<@From("commands") UserCommand> here,
      @ForAll List<@From("commands") UserCommand> there) {
    begin(create("admin", ADMIN));
    tryAll(eu, here);
    tryAll(us, there);
    Users after = together();
    for (User user : after.all()) {
      for (Grant grant : user.grants()) {
        assertThat(
                given(user.name(), grant, here)
                    || given(user.name(), grant, there)
                    || user.name().equals("admin"))
            .as("%s has %s", user, grant)
            .isTrue();
      }
    }
    assertThat(administrators(after)).contains("admin");
  }

  private static List<String> administrators(Users users) {
    return users.all().stream().filter(u -> u.may(ADMIN)).map(User::name).toList();
  }

  private static void tryAll(Dc at, List<UserCommand> commands) {
    for (UserCommand command : commands) {
      try {
        at.does(command);
      } catch (OsierException e) {
        assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
      }
    }
  }

  private static boolean given(String user, Grant grant, List<UserCommand> by) {
    return by.stream()
        .anyMatch(
            c ->
                c.user().equals(user)
                    && (c instanceof UserCommand.GiveRight g
                        ? g.grant().equals(grant)
                        : c instanceof UserCommand.Create m && m.grants().contains(grant)));
  }

  @Example
  void text_showsNoSecret() {
    assertThat(create("cart", READ).toString())
        .contains("cart", "read shop")
        .doesNotContain(PASSWORDS.getFirst().line().substring(40));
  }

  // ---------------------------------------------------------------- commands as texts

  @Example
  void commands_areReadFromTexts() {
    String line = PASSWORDS.getFirst().line();
    assertThat(UserCommand.parse("create", "cart", Map.of()))
        .isEqualTo(new UserCommand.Create("cart", Optional.empty(), List.of()));
    assertThat(
            UserCommand.parse(
                "create",
                "cart",
                Map.of("credential", line, "rights", "read shop\nwrite shop cart:\n")))
        .isEqualTo(create("cart", READ, WRITE));
    assertThat(UserCommand.parse("passwd", "cart", Map.of("credential", line)))
        .isEqualTo(new UserCommand.ChangePassword("cart", PASSWORDS.getFirst()));
    assertThat(UserCommand.parse("grant", "cart", Map.of("rights", "read shop")))
        .isEqualTo(new UserCommand.GiveRight("cart", READ));
    assertThat(UserCommand.parse("revoke", "cart", Map.of("rights", "read shop")))
        .isEqualTo(new UserCommand.TakeRight("cart", READ));
    assertThat(UserCommand.parse("drop", "cart", Map.of())).isEqualTo(new UserCommand.Drop("cart"));
  }

  @Example
  void textsThatAreNoCommand_areRefused_andNotShown() {
    refused("create, passwd, grant", () -> UserCommand.parse("rename", "cart", Map.of()));
    refused("a user's name", () -> UserCommand.parse("drop", "*", Map.of()));
    refused("takes no settings", () -> UserCommand.parse("drop", "cart", Map.of("rights", "x")));
    refused("takes [credential]", () -> UserCommand.parse("passwd", "cart", Map.of()));
    refused(
        "takes [credential, rights]",
        () -> UserCommand.parse("create", "cart", Map.of("password", "hunter2")));
    assertThatThrownBy(() -> UserCommand.parse("passwd", "cart", Map.of("credential", "hunter2")))
        .isInstanceOf(OsierException.class)
        .hasMessageNotContaining("hunter2");
  }
}
