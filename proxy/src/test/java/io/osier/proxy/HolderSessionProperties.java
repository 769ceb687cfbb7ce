package io.osier.proxy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.client.ClientSettings;
import io.osier.proxy.connection.Datacenters;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * One session, keyspaces with different holders, datacenters that come, go and lose their memory:
 * whoever answers has all that the session had seen of the keyspace when it asked.
 */
final class HolderSessionProperties {
  private static final int STEPS = 300;
  private static final int ANSWERS_MIN = 10;

  /** In one order in each process, so that a seed means the same run again. */
  private static final SortedMap<String, List<String>> HOLDERS =
      new TreeMap<>(
          Map.of(
              "k", List.of("ap", "eu", "us"), "carts", List.of("eu", "us"), "bank", List.of("ap")));

  /** A datacenter, what it has of each keyspace, and how far its own updates are. */
  private static final class Dc {
    final Far far;
    final Map<String, VersionVector> has = new HashMap<>();
    long last;

    Dc(String name, double roundTrip) {
      far = new Far(name, roundTrip);
    }

    VersionVector has(String keyspace) {
      return has.getOrDefault(keyspace, VersionVector.EMPTY);
    }
  }

  @Property
  void whoeverAnswers_hasWhatTheSessionHadSeen(@ForAll long seed) {
    new World(seed).run();
  }

  /** A session and the datacenters, which forward what they do not hold. */
  private static final class World {
    private final Steps steps = new Steps();
    private final List<Dc> dcs = List.of(new Dc("ap", 1), new Dc("eu", 40), new Dc("us", 41));
    private final Map<String, VersionVector> seen = new HashMap<>();

    /** The same when each call began, by its key. */
    private final Map<Key, VersionVector> seenBefore = new HashMap<>();

    private int answered;
    private final Random random;

    private World(long seed) {
      random = new Random(seed);
    }

    private Datacenters open(ClientSettings settings) {
      Datacenters datacenters = new Datacenters(settings.endpoints(), settings.preferred());
      for (Dc dc : dcs) {
        String name = dc.far.dc();
        dc.far.keyspaces =
            HOLDERS.keySet().stream()
                .filter(k -> requireNonNull(HOLDERS.get(k)).contains(name))
                .map(k -> new Reply.KeyspaceInfo(k, 500, 1, false))
                .toList();
        dc.far.elsewhere =
            new Reply.Elsewhere(
                HOLDERS.entrySet().stream()
                    .filter(e -> !e.getValue().contains(name))
                    .map(
                        e ->
                            new Reply.HeldElsewhere(
                                new Reply.KeyspaceInfo(e.getKey(), 500, 1, false), e.getValue()))
                    .toList(),
                Map.of());
        datacenters.add(dc.far);
      }
      datacenters.changed();
      return datacenters;
    }

    void run() {
      OsierClient.Builder builder = OsierClient.builder().timeout(Duration.ofSeconds(1));
      dcs.forEach(dc -> builder.endpoint(dc.far.dc(), "nowhere:1"));
      ClientSettings settings = builder.settings();
      Datacenters datacenters = open(settings);
      OsierClient client = new OsierClient(new ClientCore(settings, steps, datacenters, () -> {}));
      Session session = client.session();
      for (int i = 0; i < STEPS || answered < ANSWERS_MIN; i++) { // some seeds answer few
        Dc dc = dcs.get(random.nextInt(dcs.size()));
        switch (random.nextInt(10)) {
          case 0 -> {
            dc.far.up = !dc.far.up;
            dc.far.trouble = dc.far.up ? null : "down";
            while (!dc.far.up && !dc.far.open.isEmpty()) {
              dc.far.isLost(random.nextBoolean());
            }
            datacenters.changed();
          }
          case 1 -> {
            if (!dc.far.up) { // it comes again, without anything
              ReplicaId former = dc.far.replica;
              dc.far.replica = new ReplicaId(former.dc(), former.incarnation() + 1);
              dc.has.clear();
            }
          }
          case 2 -> steps.pass(random.nextInt(50));
          case 3 -> {
            if (random.nextInt(4) == 0) {
              session.pin(dc.far.dc());
            } else {
              session.unpin();
            }
          }
          case 4, 5, 6 -> begin(session, i);
          default -> answer(dc);
        }
      }
    }

    private void begin(Session session, int number) {
      String keyspace = List.copyOf(HOLDERS.keySet()).get(random.nextInt(HOLDERS.size()));
      String key = "c" + number;
      seenBefore.put(Key.of(key), seen.getOrDefault(keyspace, VersionVector.EMPTY));
      CounterHandle counter = session.keyspace(keyspace).counter(key);
      var unused = random.nextBoolean() ? counter.incrementAsync(1) : counter.getAsync();
    }

    /** It has what the oldest of its requests carries by the time at which it answers. */
    private void answer(Dc dc) {
      if (dc.far.open.isEmpty()) {
        return;
      }
      Far.Sent sent = dc.far.open.remove();
      Reply reply =
          switch (sent.request()) {
            case Request.Write w -> {
              Dc by = doer(dc, w.keyspace());
              Dot dot = new Dot(by.far.replica, ++by.last);
              covers(
                  by,
                  w.keyspace(),
                  w.key(),
                  w.after(),
                  VersionVector.of(dot.replica(), dot.number()));
              yield new Reply.Done(dot);
            }
            case Request.Read r -> {
              Dc by = doer(dc, r.keyspace());
              covers(by, r.keyspace(), r.key(), r.after(), VersionVector.EMPTY);
              yield new Reply.Answer(
                  Optional.of(CrdtType.PN_COUNTER),
                  Optional.of(new Reading.Count(1)),
                  true,
                  by.has(r.keyspace()));
            }
            default -> throw new AssertionError(sent.request());
          };
      sent.answered().answered(reply);
    }

    /** Who does what a datacenter is asked for: it, or any holder whom it asks in turn. */
    private Dc doer(Dc asked, String keyspace) {
      List<String> holders = requireNonNull(HOLDERS.get(keyspace));
      List<Dc> all = dcs.stream().filter(dc -> holders.contains(dc.far.dc())).toList();
      return all.contains(asked) ? asked : all.get(random.nextInt(all.size()));
    }

    private void covers(Dc dc, String keyspace, Key key, VersionVector after, VersionVector own) {
      assertThat(HOLDERS.get(keyspace)).contains(dc.far.dc());
      VersionVector has = dc.has(keyspace).join(after);
      VersionVector before = requireNonNull(seenBefore.get(key));
      assertThat(before.isAtMost(has))
          .as("%s has %s of %s, and the session had seen %s", dc.far.dc(), has, keyspace, before)
          .isTrue();
      VersionVector now = has.join(own);
      dc.has.put(keyspace, now);
      seen.merge(keyspace, own.isEmpty() ? now : own, VersionVector::join);
      answered++;
    }
  }
}
