package io.osier.datacenter.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.placement.DemandCounters.Counts;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What datacenters tell each other of a keyspace's load, and how it is measured. */
final class LoadTest {
  private static Load load(double reads, double wayMillis) {
    return new Load(reads, 300, 2.5, 1.5, 80, 1e6, 5e9, new TreeMap<>(Map.of("us", wayMillis)));
  }

  @Test
  void textIsReadAsItWas_andWhatCannotBeRead_isNothing() {
    assertThat(Load.of(load(12.5, 80).text())).isEqualTo(load(12.5, 80));
    assertThat(load(1, 2).text())
        .isEqualTo(
            "bytes=1000000.000 committed=1.500 read-bytes=300.000 reads=1.000 room=5000000000.000"
                + " shipped-bytes=80.000 updates=2.500 way.us=2.000");
    assertThat(Load.of("")).isEqualTo(Load.NONE);
    assertThat(Load.of("reads=NaN updates=-1 bytes=1e999 =3 way.us=x later=5 reads"))
        .isEqualTo(Load.NONE);
  }

  @Test
  void differenceOfMoreThanATenth_isOne() {
    assertThat(load(100, 80).differs(load(109, 84))).isFalse();
    assertThat(load(100, 80).differs(load(112, 80))).isTrue();
    assertThat(load(0, 80).differs(load(0.01, 80))).isFalse();
    assertThat(load(0, 80).differs(load(0.5, 80))).isTrue();
    assertThat(load(1, 1).differs(load(1, 4))).as("ways waver").isFalse();
    assertThat(load(1, 80).differs(load(1, 100))).isTrue();
    assertThat(Load.NONE.differs(load(0, 80))).isTrue();
  }

  private static Load withRoom(double room) {
    return new Load(1, 300, 2.5, 1.5, 80, 1e6, room, new TreeMap<>());
  }

  @Test
  void room_isToldAnewByFactorsOfTwo() {
    assertThat(withRoom(100e6).differs(withRoom(60e6))).isFalse();
    assertThat(withRoom(100e6).differs(withRoom(190e6))).isFalse();
    assertThat(withRoom(100e6).differs(withRoom(45e6))).isTrue();
    assertThat(withRoom(100e6).differs(withRoom(210e6))).isTrue();
    assertThat(withRoom(1).differs(withRoom(100e6))).as("the disk is full").isTrue();
  }

  @Test
  void ratesAreOfThePeriod_andWhatNothingNewIsKnownOf_staysAsItWas() {
    Measured first =
        new Measured(new Counts(10, 5, 1, 100), 7, 700, 1000, OptionalLong.of(0), new TreeMap<>());
    Measured later =
        new Measured(
            new Counts(30, 9, 3, 700), 17, 2700, 2000, OptionalLong.of(0), new TreeMap<>());
    Load load = later.since(first, Load.NONE, 2_000);
    assertThat(load).isEqualTo(new Load(10, 300, 2, 5, 200, 2000, 1, new TreeMap<>()));
    Load idle = later.since(later, load, 2_000);
    assertThat(idle).isEqualTo(new Load(0, 300, 0, 0, 200, 2000, 1, new TreeMap<>()));
    assertThat(first.since(later, load, 2_000).reads()).as("it has started again").isZero();
    assertThat(later.since(Measured.NOTHING, load, 2_000).shippedBytes())
        .as("what was shipped earlier is of no period")
        .isEqualTo(200);
    Measured gone =
        new Measured(new Counts(30, 9, 3, 700), 0, 0, 0, OptionalLong.of(0), new TreeMap<>());
    assertThat(gone.since(later, load, 2_000).shippedBytes()).as("it is not held here").isZero();
  }

  @Test
  void roomIsTold_andOfOlderVersionsNoneIsKnown() {
    Load older = Load.of("bytes=1000.000 reads=1.000");
    assertThat(older.hasRoom(1e12)).isTrue();
    assertThat(older.text()).doesNotContain("room");
    Measured full = new Measured(Counts.NONE, 0, 0, 0, OptionalLong.of(0), new TreeMap<>());
    Load told = Load.of(full.since(Measured.NOTHING, Load.NONE, 1_000).text());
    assertThat(told.hasRoom(0)).isFalse();
    assertThat(Load.NONE.differs(told)).isTrue();
    assertThat(load(1, 1).hasRoom(1e9)).isTrue();
    assertThat(load(1, 1).hasRoom(2e9)).as("while it is merged").isFalse();
  }

  private static Load shipping(double committed, double bytes) {
    return new Load(0, 0, 0, committed, bytes, 1e6, 0, new TreeMap<>());
  }

  @Test
  void updateTakesWhatMostOfThemTake_whereverTheyAreCommitted() {
    Load many = shipping(10_000, 50);
    assertThat(Load.shippedBytes(List.of(many, shipping(0.001, 1e6))).orElse(0))
        .as("one of 1 MB an hour")
        .isBetween(50.0, 55.0);
    assertThat(Load.shippedBytes(List.of(shipping(10, 50), shipping(30, 90))).orElse(0))
        .isBetween(79.0, 81.0);
    assertThat(Load.shippedBytes(List.of(shipping(0, 64), Load.NONE))).hasValue(64);
    assertThat(Load.shippedBytes(List.of(Load.NONE))).isEmpty();
  }
}
