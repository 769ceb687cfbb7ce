package io.osier.bench.demo;

import io.osier.bench.cluster.Members;
import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.bench.cluster.Zipf;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Who is in which room: sets whose elements expire unless they are renewed. */
final class Presence extends Kind {
  /** Users at each datacenter; at 4,000 operations a second each is renewed every 5 s. */
  private static final int USERS = 670;

  private static final Duration TIME_TO_LIVE = Duration.ofSeconds(15);

  /**
   * One user of this many stays for {@link #STAYS}. The presence of all others has expired when the
   * datacenters are compared, and an expired one cannot be missing.
   */
  private static final int STAYS_ONE_IN = 16;

  private static final Duration STAYS = Duration.ofHours(1);
  private static final int ROOMS = 100;

  /** After this many renewals a user goes without logging out, and another one comes. */
  private static final int RENEWALS = 4;

  private final Duration timeToLive;
  private final Members members = new Members();
  private final Zipf rooms = new Zipf(ROOMS);

  Presence() {
    this(TIME_TO_LIVE);
  }

  /** Creates the kind with another time to live of users who do not stay. */
  Presence(Duration timeToLive) {
    super(
        "presence",
        "5s",
        1,
        "those who renew themselves in one room travel together; each is still named, with a"
            + " deadline");
    this.timeToLive = timeToLive;
  }

  private static final class User extends Open {
    final String room;
    final Value name;
    final Duration timeToLive;

    User(String room, String name, Duration timeToLive) {
      this.room = room;
      this.name = Value.of(name);
      this.timeToLive = timeToLive;
    }
  }

  @Override
  Part part(int number, Keyspace space, SplittableRandom random) {
    Open.Pool<User> here =
        new Open.Pool<>(
            USERS,
            RENEWALS,
            n ->
                new User(
                    "room:" + rooms.next(random),
                    "user:" + number + ":" + n,
                    (n + 1) % STAYS_ONE_IN == 0 ? STAYS : timeToLive));
    AtomicInteger renewed = new AtomicInteger();
    return calls -> {
      User user = here.take(() -> renewed.incrementAndGet() % USERS);
      long calledMillis = System.currentTimeMillis();
      user.update(
          calls,
          space.set(user.room).expiring(user.timeToLive).addAsync(List.of(user.name)),
          () ->
              members.renewed(
                  user.room,
                  user.name,
                  calledMillis,
                  System.currentTimeMillis(),
                  user.timeToLive.toMillis()),
          () -> members.perhapsRenewed(user.room, user.name));
    };
  }

  @Override
  boolean expires() {
    return true;
  }

  @Override
  Audit audit(Map<String, Reading> there, long fromMillis, long toMillis) {
    return members.audit(
        room -> Members.elements(there, room), there.keySet(), fromMillis, toMillis);
  }
}
