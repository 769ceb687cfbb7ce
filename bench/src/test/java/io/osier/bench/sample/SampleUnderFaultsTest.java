package io.osier.bench.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import io.osier.crdt.FieldId;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What the samples' readers would see if a snapshot were torn, without a cluster. */
final class SampleUnderFaultsTest {
  private final Wallet wallet = new Wallet();
  private final Social social = new Social();

  /** All accounts with what was paid in, but for the first two. */
  private static List<Long> balances(long first, long second) {
    List<Long> balances = new ArrayList<>(Collections.nCopies(20, 100L));
    balances.set(0, first);
    balances.set(1, second);
    return balances;
  }

  @Test
  void wallet_transfersAndTheEmptyStart_areFine() {
    wallet.check("eu", balances(100, 100));
    wallet.check("eu", balances(0, 200));
    wallet.check("eu", Collections.nCopies(20, 0L));
    assertThat(wallet.firstViolations()).isEmpty();
  }

  @Test
  void wallet_halfATransfer_isNoticed() {
    wallet.check("eu", balances(90, 100));
    assertThat(wallet.firstViolations())
        .singleElement()
        .asString()
        .startsWith("the sum at eu is 1990: [90, 100, ");
  }

  @Test
  void wallet_overdrawnAccount_isNoticed() {
    wallet.check("us", balances(-1, 201));
    assertThat(wallet.firstViolations())
        .singleElement()
        .asString()
        .startsWith("an account is overdrawn at us: [-1, 201, ");
  }

  @Test
  void wallet_transferThatIsMissingInTheEnd_isNoticed() {
    List<Long> balances = new ArrayList<>(Collections.nCopies(20, 0L));
    wallet.checkEnd("ap", balances);
    assertThat(wallet.firstViolations()).isEmpty();
    balances.set(7, 3L);
    wallet.checkEnd("ap", balances);
    assertThat(wallet.firstViolations())
        .containsExactly("ap has 3 in account-7; by the confirmed transfers it is 0");
  }

  @Test
  void sampleThatDidNothing_isNoticed() {
    wallet.stop();
    assertThat(wallet.firstViolations())
        .containsExactly(
            "nothing was checked while it ran",
            "not everything was done that is checked: 0 transfers, 0 declined");
    social.stop();
    assertThat(social.firstViolations()).hasSize(2);
  }

  private void post(long parent, long likes, String... likers) {
    Map<FieldId, Reading> fields =
        Map.of(
            Social.PARENT,
            new Reading.Single(Optional.of(Value.of(parent))),
            Social.LIKES,
            new Reading.Count(likes),
            Social.LIKED_BY,
            new Reading.Many(List.of(likers).stream().map(Value::of).toList()));
    social.checkPost("eu", 9, new TreeMap<>(fields), Set.of(4L, 9L));
  }

  @Test
  void social_postsAndRepliesThatAreWhole_areFine() {
    post(0, 0);
    post(4, 2, "a", "b");
    social.checkFollowers("eu", Map.of(1, Set.of(2L)), Map.of(2, Set.of(1L, 3L)));
    assertThat(social.firstViolations()).isEmpty();
  }

  @Test
  void social_replyWithoutItsPost_isNoticed() {
    post(5, 0);
    assertThat(social.firstViolations()).containsExactly("eu shows reply 9 without post 5");
  }

  @Test
  void social_postWithoutItsText_isNoticed() {
    social.checkPost("eu", 9, new TreeMap<>(), Set.of(9L));
    assertThat(social.firstViolations())
        .containsExactly("eu shows post 9 in a feed and not its text");
  }

  @Test
  void social_likesThatAreNotThoseOfWhoLikes_areNoticed() {
    post(0, 1);
    post(0, 0, "a");
    assertThat(social.firstViolations())
        .containsExactly(
            "eu counts 1 likes of post 9, and 0 who like it",
            "eu counts 0 likes of post 9, and 1 who like it");
  }

  @Test
  void social_followerWhomNobodyKnows_isNoticed() {
    social.checkFollowers("eu", Map.of(1, Set.of(2L)), Map.of(2, Set.of(3L)));
    assertThat(social.firstViolations())
        .containsExactly("eu: user 1 follows 2, who does not know it");
  }
}
