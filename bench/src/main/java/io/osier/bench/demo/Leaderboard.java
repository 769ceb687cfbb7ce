package io.osier.bench.demo;

import io.osier.bench.cluster.Tally;
import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.bench.cluster.Zipf;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.MapHandle;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/** A leaderboard: a map with a counter of points for each player. */
final class Leaderboard extends Kind {
  private static final String BOARD = "board";
  private static final int PLAYERS = 1_000;
  private static final int POINTS_MAX = 10;

  private final Tally tally = new Tally();
  private final Zipf zipf = new Zipf(PLAYERS);

  Leaderboard() {
    super(
        "leaderboard",
        "5s",
        1,
        "one map: a window's joined update has each player's points once, and one head");
  }

  @Override
  Part part(int number, Keyspace space, SplittableRandom random) {
    MapHandle board = space.map(BOARD);
    return calls -> {
      String player = "player:" + zipf.next(random);
      long points = 1L + random.nextInt(POINTS_MAX);
      calls.update(
          board.counter(player).incrementAsync(points),
          tally.acknowledged(player, points),
          tally.unknown(player, points));
    };
  }

  @Override
  Audit audit(Map<String, Reading> there, long fromMillis, long toMillis) {
    Map<String, Long> points = new HashMap<>();
    if (there.get(BOARD) instanceof Reading.Fields board) {
      board
          .fields()
          .forEach((field, value) -> points.merge(field.name(), Tally.count(value), Long::sum));
    }
    Set<String> strangers = new HashSet<>(there.keySet());
    strangers.remove(BOARD);
    strangers.addAll(points.keySet());
    return tally.audit(player -> points.getOrDefault(player, 0L), strangers);
  }
}
