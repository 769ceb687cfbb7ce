package io.osier.datacenter.partition.machine;

import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Gathers {@link Effects} until they are taken. Not thread-safe. */
public final class EffectsBuilder {
  private final boolean recording;
  private List<Effects.Recorded> records = new ArrayList<>();
  private List<Effects.Output> outputs = new ArrayList<>();
  private List<Effects.Report> reports = new ArrayList<>();
  private List<Waited.Command> waited = new ArrayList<>();

  /** The bytes of the updates that were committed here since the last {@link #take}. */
  private long committedBytes;

  /** The commands {@link #waited} for before the last {@link #take}. */
  private List<Waited.Command> waitedTaken = List.of();

  /**
   * @param recording whether somebody keeps records; if not, none are made
   */
  public EffectsBuilder(boolean recording) {
    this.recording = recording;
  }

  /** Records an applied update with its object's new state. */
  public void applied(Shipment update, CrdtState state) {
    if (recording) {
      records.add(new Effects.Applied(update, state));
    }
  }

  /** Records a committed transaction. */
  public void committed(TransactionId transaction, long number) {
    if (recording) {
      records.add(new Effects.Committed(transaction, number));
    }
  }

  public void forgotten(ObjectId object) {
    if (recording) {
      records.add(new Effects.Forgotten(object));
    }
  }

  /** Notes that a command, which goes on now, has waited. */
  public void waited(long ticket, Waited.For what, String details, long nanos) {
    waited.add(new Waited.Command(ticket, new Waited(what, details, nanos)));
  }

  /** Returns what commands have waited for, those that went on before the last {@link #take}. */
  public List<Waited.Command> takeWaited() {
    return waitedTaken;
  }

  public void answer(long ticket, Reply reply) {
    answer(new Effects.Answer(ticket, reply));
  }

  /** Answers a command by a reply that takes long to make. */
  public void answerLater(long ticket, Supplier<Reply> reply) {
    answer(new Effects.LongAnswer(ticket, reply, Optional.empty()));
  }

  public void answer(Effects.ToClient answer) {
    outputs.add(answer);
  }

  /** Sends a frame to an incarnation of a datacenter. */
  public void send(ReplicaId to, Frame frame) {
    outputs.add(new Effects.Send(to, frame));
  }

  /** Reports visible changes to watchers, ahead of all answers of this batch. */
  public void visible(Effects.Visible visible) {
    outputs.addFirst(visible);
  }

  /** Answers an {@link Input.Inspect}. */
  public void report(long ticket, PartitionReport report) {
    reports.add(new Effects.Report(ticket, report));
  }

  /** Counts the bytes of an update that was committed here. */
  public void committed(long bytes) {
    committedBytes += bytes;
  }

  /** Returns the encoded size of the updates committed here, about, in bytes. */
  public long committedBytes() {
    return committedBytes;
  }

  public boolean hasRecords() {
    return !records.isEmpty();
  }

  /** Takes the effects, with the partition's own progress to store. */
  public Effects take(Optional<PartitionProgress> progress) {
    committedBytes = 0;
    waitedTaken = waited.isEmpty() ? List.of() : waited;
    waited = waited.isEmpty() ? waited : new ArrayList<>();
    if (records.isEmpty() && outputs.isEmpty() && reports.isEmpty() && progress.isEmpty()) {
      return Effects.NONE;
    }
    List<Effects.Recorded> recorded = List.of();
    List<Effects.Output> output = List.of();
    List<Effects.Report> reported = List.of();
    if (!records.isEmpty()) {
      recorded = records;
      records = new ArrayList<>();
    }
    if (!outputs.isEmpty()) {
      output = outputs;
      outputs = new ArrayList<>();
    }
    if (!reports.isEmpty()) {
      reported = reports;
      reports = new ArrayList<>();
    }
    return new Effects(recorded, progress, output, reported);
  }
}
