package io.osier.bench.sample;

import io.osier.crdt.FieldId;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.MapHandle;
import io.osier.proxy.values.Values;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;

/** Keeps a leaderboard: a map with a counter for each player, which both datacenters increment. */
@Command(
    name = "leaderboard",
    mixinStandardHelpOptions = true,
    description = "Points that are added at two datacenters at once, and the best players.")
final class LeaderboardSample implements Callable<Integer> {
  private static final List<String> PLAYERS = List.of("ada", "bob", "cleo", "dan", "eve");
  private static final int GAMES = 2_000;
  private static final int BEST = 3;

  private record Place(String player, long points) {}

  @Override
  public Integer call() {
    try (TwoDatacenters dcs = new TwoDatacenters("games { sla = 200ms }", Values.plain())) {
      Keyspace eu = dcs.eu().keyspace("games");
      Keyspace us = dcs.us().keyspace("games");
      System.out.println(GAMES + " games end at each datacenter, all at once");
      long given = play(eu, 1) + play(us, 2);
      TwoDatacenters.until("eu has all " + given + " points", () -> sum(eu) == given);
      TwoDatacenters.until("us has all " + given + " points", () -> sum(us) == given);
      System.out.println("  the best at us: " + best(us));

      System.out.println("A new season at eu: what it has seen is taken away");
      board(eu).clear();
      board(us).counter("eve").increment(7);
      TwoDatacenters.until(
          "a game that ended at us meanwhile counts: " + new Place("eve", 7),
          () -> best(eu).equals(List.of(new Place("eve", 7))) && best(eu).equals(best(us)));
      return 0;
    }
  }

  private static MapHandle board(Keyspace games) {
    return games.map("board");
  }

  /** Plays without waiting, and returns how many points were given. */
  private static long play(Keyspace games, long seed) {
    Random random = new Random(seed);
    List<CompletableFuture<Void>> all = new ArrayList<>();
    long given = 0;
    for (int i = 0; i < GAMES; i++) {
      String player = PLAYERS.get(random.nextInt(PLAYERS.size()));
      int points = 1 + random.nextInt(10);
      given += points;
      all.add(board(games).counter(player).incrementAsync(points));
    }
    all.forEach(CompletableFuture::join);
    return given;
  }

  private static List<Place> places(Keyspace games) {
    return board(games).get().entrySet().stream().map(LeaderboardSample::place).toList();
  }

  private static Place place(Map.Entry<FieldId, Reading> field) {
    return new Place(field.getKey().name(), ((Reading.Count) field.getValue()).value());
  }

  private static long sum(Keyspace games) {
    return places(games).stream().mapToLong(Place::points).sum();
  }

  private static List<Place> best(Keyspace games) {
    return places(games).stream()
        .filter(p -> p.points() != 0)
        .sorted(Comparator.comparingLong(Place::points).reversed().thenComparing(Place::player))
        .limit(BEST)
        .toList();
  }
}
