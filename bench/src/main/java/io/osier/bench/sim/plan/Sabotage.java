package io.osier.bench.sim.plan;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.copies.FollowCodec;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Spoils a run at a place where a fault of Osier would show, so that a test can see the check that
 * must notice it fail. A check that nothing can make fail proves nothing.
 */
public interface Sabotage {
  /** Spoils nothing. */
  Sabotage NONE = new Sabotage() {};

  /** The faults without which it would show too seldom. */
  default Set<Fault> needs() {
    return EnumSet.of(Fault.ANSWERS);
  }

  /** What must take part, beside what a seed draws, so that it shows. */
  default Set<Feature> features() {
    return EnumSet.noneOf(Feature.class);
  }

  /** For how many virtual seconds clients must work until it shows. */
  default int seconds() {
    return 60;
  }

  /** What a datacenter gets instead of a frame. */
  default Frame frame(String to, Frame frame) {
    return frame;
  }

  /** Whether a frame so large that a thread of its own decodes it is never decoded. */
  default boolean losesWhatIsApart() {
    return false;
  }

  /** What the streams of a partition may take in the heap. */
  default StreamSettings.Memory memory(StreamSettings.Memory memory) {
    return memory;
  }

  /** Whether a frame that has come is dropped. */
  default boolean drops(Unit unit, Frame frame) {
    return false;
  }

  /** The windows of links that a partition of a unit is told of. */
  default LinkWindows windows(Unit unit, LinkWindows windows) {
    return windows;
  }

  /**
   * Whether a connection's way carries these bytes, rather than swallowing them.
   *
   * @param takesTurns whether the way is one of a link, whose bytes take turns
   */
  default boolean carries(boolean takesTurns, byte[] bytes) {
    return true;
  }

  /** How much longer than the network allows a frame is under way. */
  default long extraDelayNanos(Frame frame) {
    return 0;
  }

  /** What a session says it has seen. */
  default VersionVector after(VersionVector seen) {
    return seen;
  }

  /** Whether a client's command is carried out once more, unnoticed. */
  default boolean again() {
    return false;
  }

  /** What a client sends instead of asking again for a commit. */
  default Request repeat(Request.Repeat repeat) {
    return repeat;
  }

  /** Whether clients take the refusal of a repeat for the answer to the commit. */
  default boolean believesRefusals() {
    return false;
  }

  /** What a client of production sends instead of a request. */
  default Request sent(Request request) {
    return request;
  }

  /** Whether the condition of an update is judged when it comes, and not when it is done. */
  default boolean judgesAtOnce() {
    return false;
  }

  /** Whether a client of production believes that what has no answer was never sent. */
  default boolean takesForNotSent() {
    return false;
  }

  /** Whether a client of production tells that an update has failed of which it does not know. */
  default boolean takesForFailed() {
    return false;
  }

  /** Whether a client of production that is closed says nothing to who waits for answers. */
  default boolean losesCalls() {
    return false;
  }

  /** What a holder does instead of a request that another datacenter has forwarded. */
  default Request forwarded(Request request) {
    return request;
  }

  /** Whether who does not hold a keyspace answers reads as if there were nothing in it. */
  default boolean answersForOthers() {
    return false;
  }

  /** Whether who does not hold a keyspace tells who reads that what was seen there is lost. */
  default boolean tellsLost() {
    return false;
  }

  /** Whether who holds a keyspace by now forgets what others have done for its clients. */
  default boolean forgetsElsewhere() {
    return false;
  }

  /** What is asked of a copy instead of a read. */
  default Request.Read copied(Request.Read read) {
    return read;
  }

  /** Who copies objects asks a holder; what it is told instead of the answer. */
  default UnaryOperator<FollowCodec.Answer> follows(ReplicaId at, FollowCodec.Ask asked) {
    return UnaryOperator.identity();
  }

  /** Whether copies are not told that their subscription has ended. */
  default boolean keepsCopies() {
    return false;
  }

  /** What a copy says of its age instead of what it is. */
  default Duration told(Duration age) {
    return age;
  }

  /** Whether who forwards sends an update again whose answer is lost. */
  default boolean asksTwice() {
    return false;
  }

  /** Whether a holder that is removed drops what it has, whatever the others have. */
  default boolean hurriesRemovals() {
    return false;
  }

  /** Whether a holder that has ceased goes on to serve its clients. */
  default boolean servesOn() {
    return false;
  }

  /** Whether a holder that is removed keeps its rights of bounded counters. */
  default boolean keepsRights() {
    return false;
  }

  /** Settings of keyspaces that nobody reads in {@code _osier}. */
  default Set<String> overlooks() {
    return Set.of();
  }

  /** Whether datacenters do not look to which home a key belongs. */
  default boolean takesForeignKeys() {
    return false;
  }

  /** Whether datacenters take all others for ones that can be reached. */
  default boolean takesForReachable() {
    return false;
  }

  /** Whether a partition never gets what it is told. */
  default boolean refuses(Input input) {
    return false;
  }

  /** What a datacenter's store gives instead of a state. */
  default @Nullable CrdtState loaded(ObjectId object, @Nullable CrdtState state) {
    return state;
  }

  /** What is stored instead of a state. */
  default @Nullable CrdtState stored(
      ReplicaId at, ObjectId object, @Nullable CrdtState before, CrdtState after) {
    return after;
  }

  /** Whether a group of records counts as durable before it is written. */
  default boolean confirmsEarly() {
    return false;
  }

  /** Whether what need not be read from the disk goes before what came earlier and must be. */
  default boolean overtakes() {
    return false;
  }

  /** Whether all take over the rights of one that was given up, each as soon as it knows it was. */
  default boolean everybodyInherits() {
    return false;
  }

  /** What a datacenter does instead of a program, one after the other; the last is answered. */
  default List<Request.Evaluate> turns(Request.Evaluate program) {
    return List.of(program);
  }

  /** Whether nobody lets a partition absorb first what is acknowledged in front of it. */
  default boolean looksPastWhatIsHeld() {
    return false;
  }

  /** By which time who reads without a partition's doing hides what has expired. */
  default long millis(long millis) {
    return millis;
  }

  /** What watchers are told of instead of what has become visible. */
  default Effects.Visible visible(Effects.Visible visible) {
    return visible;
  }

  /** What a partition gets of what was acknowledged in front of it. */
  default Input.Absorbed absorbed(Input.Absorbed input) {
    return input;
  }

  // ---------------------------------------------------------------- in the transport simulation

  /** Whom the ports of datacenters let in, instead of those whom they are to let in. */
  default Users users(Users users) {
    return users;
  }

  /**
   * What comes to a client of production instead of bytes that a datacenter's port has written.
   *
   * @param way the client's way to the datacenter, by its identity
   */
  default byte[] answers(Object way, byte[] bytes) {
    return bytes;
  }

  /** Whether a connection of production says that what had left with it never did. */
  default boolean forgetsWhatLeft() {
    return false;
  }
}
