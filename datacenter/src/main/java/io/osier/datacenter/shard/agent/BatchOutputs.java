package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;

import io.osier.core.net.InFlight;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Carries out the effects of a {@link PartitionAgent}'s batches and knows who waits for answers: a
 * batch's records go to the journal as one group, and its replies and frames leave when the group
 * is durable. Used by the thread that steps; the journal reports durable groups in any thread.
 */
final class BatchOutputs {
  private final PartitionPorts ports;
  private final Time time;
  private final boolean tellsApart;
  private final PartitionAgent.Driver driver;
  private final Consumer<Input> back;

  /** The commands that are not answered, by ticket. */
  private final InFlight<Inbox.Command> waiting = new InFlight<>();

  private final InFlight<CompletableFuture<PartitionReport>> inspections = new InFlight<>();

  /** The outputs of the batch that is being handed to the journal. */
  private Completions leaving = Completions.NONE;

  private PendingReplies told = PendingReplies.NONE;
  private long groups;

  /** The number of the last group with records. */
  private long groupRecorded;

  /**
   * The number of groups that are durable and whose outputs have left; written by the journal's
   * thread.
   */
  private volatile long groupsOut;

  /** The last group with records that is durable; set before its outputs leave. */
  private volatile long recordedOut;

  /**
   * @param back takes the inputs that follow from long answers
   */
  BatchOutputs(
      PartitionPorts ports,
      Time time,
      boolean tellsApart,
      PartitionAgent.Driver driver,
      Consumer<Input> back) {
    this.ports = ports;
    this.time = time;
    this.tellsApart = tellsApart;
    this.driver = driver;
    this.back = back;
  }

  /** Notes that a command waits for its answer. */
  void await(long ticket, Inbox.Command command) {
    waiting.put(ticket, command);
  }

  /** Notes that somebody waits for a report. */
  void await(long ticket, CompletableFuture<PartitionReport> report) {
    inspections.put(ticket, report);
  }

  /** Returns whether all groups have left, and nobody waits for an answer. */
  boolean areOut() {
    return groupsOut == groups && waiting.isEmpty();
  }

  /**
   * Hands a batch's records to the journal; its other effects leave after them.
   *
   * @param waited what commands of the batch had waited for
   */
  void carryOut(Effects effects, List<Waited.Command> waited) {
    for (Waited.Command w : waited) {
      Inbox.Command command = waiting.get(w.ticket());
      if (command != null) {
        command.phased().waited(w.waited());
      }
    }
    Completions departure = completions(effects);
    departure.executed(time);
    leaving = departure; // to be failed if this throws
    groups++;
    if (!effects.records().isEmpty()) {
      groupRecorded = groups;
    }
    Leaving out = new Leaving(departure, groups, groupRecorded);
    effects.keep(ports.journal(), out);
    leaving = Completions.NONE;
    Completions answers = out.stepEnds();
    if (answers != Completions.NONE || !effects.atOnce().isEmpty()) {
      told = new PendingReplies(answers, reports(effects.atOnce()));
    }
  }

  /** Takes the commands that these effects answer out of those that wait. */
  private Completions completions(Effects effects) {
    return Completions.of(
        effects.whenDurable(), waiting, driver::couldNotLeave, ports.sender()::later, back);
  }

  /** Releases a batch's outputs once its group is durable. */
  private final class Leaving implements Runnable {
    private final Completions departure;
    private final long group;
    private final long recorded;
    private final Thread stepping = Thread.currentThread();

    // These two are used only by the thread that steps.
    private boolean stepHasEnded;
    private Completions answers = Completions.NONE;

    Leaving(Completions departure, long group, long recorded) {
      this.departure = departure;
      this.group = group;
      this.recorded = recorded;
    }

    /** Notes that the batch's step has ended; returns the answers that are left to send. */
    Completions stepEnds() {
      stepHasEnded = true;
      return answers;
    }

    @Override
    public void run() {
      recordedOut = recorded; // first: who gets an answer reads next
      if (tellsApart && Thread.currentThread() == stepping && !stepHasEnded) {
        departure.send(ports.sender());
        answers = departure;
      } else {
        departure.leave(ports.sender());
      }
      groupsOut = group;
      driver.groupIsOut();
    }
  }

  /** See {@link PartitionAgent#recorded}. */
  long recorded() {
    return recordedOut;
  }

  private List<PendingReplies.Reported> reports(List<Effects.Report> made) {
    if (made.isEmpty()) {
      return List.of();
    }
    List<PendingReplies.Reported> reports = new ArrayList<>(made.size());
    for (Effects.Report r : made) {
      reports.add(
          new PendingReplies.Reported(
              requireNonNull(inspections.remove(r.ticket()), "a report nobody asked for"),
              r.report()));
    }
    return reports;
  }

  /** Returns and clears the replies that the last batch left to be sent. */
  PendingReplies takeReplies() {
    PendingReplies taken = told;
    told = PendingReplies.NONE;
    return taken;
  }

  /**
   * Answers all who still wait: no batch follows.
   *
   * @param last the effects that were gathered and do not leave
   * @param unknown the answer to commands that may have been executed
   * @param instead the answer to commands that were not executed, by ticket
   * @param gone the exception for those who wait for a report
   */
  void abandon(
      Effects last, Reply.Failure unknown, LongFunction<Reply.Failure> instead, Throwable gone) {
    completions(last).abandon(unknown);
    leaving.abandon(unknown);
    told.abandon(unknown);
    waiting.forEach((command, ticket) -> command.accept(instead.apply(ticket)));
    waiting.removeAll();
    inspections.removeAll().forEach(i -> i.completeExceptionally(gone));
  }
}
