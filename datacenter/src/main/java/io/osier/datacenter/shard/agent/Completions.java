package io.osier.datacenter.shard.agent;

import io.osier.core.net.InFlight;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The outputs of a batch and the commands that it answers. An output that cannot leave is reported
 * and stops no other.
 *
 * @param outputs in their order
 * @param answered in the order of the answers among the outputs
 * @param couldNotLeave is told, in the releasing thread, of an output and the exception that its
 *     receiver threw
 * @param later has a long answer made
 * @param back takes the input that follows from such an answer to the partition
 */
record Completions(
    List<Effects.Output> outputs,
    List<Inbox.Command> answered,
    BiConsumer<Effects.Output, RuntimeException> couldNotLeave,
    Consumer<PendingAnswer> later,
    Consumer<Input> back) {
  static final Completions NONE =
      new Completions(List.of(), List.of(), (output, e) -> {}, PendingAnswer::run, input -> {});

  /** Takes the commands that these outputs answer out of those that wait. */
  static Completions of(
      List<Effects.Output> outputs,
      InFlight<Inbox.Command> waiting,
      BiConsumer<Effects.Output, RuntimeException> couldNotLeave,
      Consumer<PendingAnswer> later,
      Consumer<Input> back) {
    if (outputs.isEmpty()) {
      return NONE;
    }
    List<Inbox.Command> answered = new ArrayList<>();
    for (Effects.Output output : outputs) {
      if (output instanceof Effects.ToClient a) {
        answered.add(waiting.remove(a.ticket()));
      }
    }
    return new Completions(outputs, answered, couldNotLeave, later, back);
  }

  /** Tells the answered askers that their batch has been executed. */
  void executed(Time time) {
    long nanos = answered.isEmpty() ? 0 : time.nanos();
    for (Inbox.Command command : answered) {
      command.phased().executed(nanos);
    }
  }

  /** Tells them that the answers have been given. */
  private void told() {
    for (Inbox.Command command : answered) {
      command.phased().told();
    }
  }

  /** Lets everything go, in its order. */
  void leave(PartitionPorts.Sender sender) {
    leave(sender, true);
    told();
  }

  /** Releases the outputs that are no answers. */
  void send(PartitionPorts.Sender sender) {
    leave(sender, false);
  }

  private void leave(PartitionPorts.Sender sender, boolean answering) {
    int next = 0;
    for (Effects.Output output : outputs) {
      try {
        switch (output) {
          case Effects.Send s -> sender.send(s.to(), s.frame());
          case Effects.Visible v -> sender.visible(authored(v));
          case Effects.ToClient a -> {
            if (answering) {
              answer(a, answered.get(next++));
            }
          }
        }
      } catch (RuntimeException e) {
        couldNotLeave.accept(output, e);
      }
    }
  }

  /** Adds to visible changes which of their authors want to know their own. */
  private Effects.Visible authored(Effects.Visible visible) {
    Map<Long, Long> authors = Map.of();
    int next = 0;
    for (Effects.Output output : outputs) {
      if (output instanceof Effects.ToClient a) {
        long author = answered.get(next++).phased().author();
        if (author != 0) {
          authors = authors.isEmpty() ? new HashMap<>() : authors;
          authors.put(a.ticket(), author);
        }
      }
    }
    return authors.isEmpty() ? visible : visible.by(authors);
  }

  /** Releases the answers that {@link #send} has left. */
  void answer() {
    int next = 0;
    for (Effects.Output output : outputs) {
      if (output instanceof Effects.ToClient a) {
        try {
          answer(a, answered.get(next++));
        } catch (RuntimeException e) {
          couldNotLeave.accept(a, e);
        }
      }
    }
    told();
  }

  private void answer(Effects.ToClient answer, Consumer<Reply> to) {
    switch (answer) {
      case Effects.Answer a -> to.accept(a.reply());
      case Effects.LongAnswer a ->
          later.accept(new PendingAnswer(a.made(), made -> tell(a, to, made)));
    }
  }

  /** Delivers an answer that another thread has made. */
  private void tell(Effects.LongAnswer answer, Consumer<Reply> to, Reply made) {
    answer.follows(made).ifPresent(back); // first: the asker may send another request at once
    try {
      to.accept(made);
    } catch (RuntimeException e) {
      couldNotLeave.accept(answer, e);
    }
  }

  /** Answers all with this reply instead: the batch has not left. */
  void abandon(Reply instead) {
    answered.forEach(command -> command.accept(instead));
    told();
  }
}
