package io.osier.bench.demo;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.bench.cluster.Zipf;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Who is in which room: sets whose elements expire unless they are renewed. */
final class Presence extends Kind {
  /** At each datacenter at a time: with 4,000 operations a second each is renewed every 5 s. */
  private static final int USERS = 670;

  private static final Duration TIME_TO_LIVE = Duration.ofSeconds(15);
  private static final int ROOMS = 100;
  private static final double EXPONENT = 0.99;

  /** Then a user goes, without a word, and another one comes. */
  private static final int RENEWALS = 4;

  private final Members members = new Members();
  private final Zipf rooms = new Zipf(ROOMS, EXPONENT);

  Presence() {
    super(
        "presence",
        "5s",
        1,
        "those who renew themselves in one room travel together; each is still named, with a"
            + " deadline");
  }

  private static final class User {
    final String room;
    final Value name;
    int renewed;
    volatile boolean isBusy;

    User(String room, String name) {
      this.room = room;
      this.name = Value.of(name);
    }
  }

  @Override
  Part part(int number, Keyspace space, SplittableRandom random) {
    return new Part() {
      private int users;
      private final User[] here =
          IntStream.range(0, USERS).mapToObj(i -> user()).toArray(User[]::new);
      private int at;

      private User user() {
        return new User("room:" + rooms.next(random), "user:" + number + ":" + users++);
      }

      @Override
      public void call(Calls calls) {
        do {
          at = (at + 1) % USERS;
        } while (here[at].isBusy);
        if (here[at].renewed == RENEWALS) {
          here[at] = user();
        }
        renew(space, here[at], calls);
      }
    };
  }

  private void renew(Keyspace space, User user, Calls calls) {
    user.isBusy = true;
    user.renewed++;
    long calledMillis = System.currentTimeMillis();
    calls.update(
        space.set(user.room).expiring(TIME_TO_LIVE).addAsync(List.of(user.name)),
        () -> {
          members.renewed(
              user.room,
              user.name,
              calledMillis,
              System.currentTimeMillis(),
              TIME_TO_LIVE.toMillis());
          user.isBusy = false;
        },
        mayBeDone -> {
          if (mayBeDone) {
            members.perhapsRenewed(user.room, user.name);
          }
          user.isBusy = false;
        });
  }

  @Override
  boolean expires() {
    return true;
  }

  @Override
  Audit audit(Map<String, Reading> there, long fromMillis, long toMillis) {
    return members.audit(room -> elements(there, room), there.keySet(), fromMillis, toMillis);
  }
}
