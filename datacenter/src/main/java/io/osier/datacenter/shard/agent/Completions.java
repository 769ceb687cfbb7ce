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
 * What a batch lets go, with those whom it answers: what cannot leave stops nothing else, but is
 * told of.
 *
 * @param outputs in their order
 * @param answered in the order of the answers among the outputs
 * @param couldNotLeave hears, in whatever thread lets things go, what was thrown instead
 * @param later has an answer made that takes long
 * @param back brings the partition what follows from such an answer
 */
record Completions(
    List<Effects.Output> outputs,
    List<Consumer<Reply>> answered,
    BiConsumer<Effects.Output, RuntimeException> couldNotLeave,
    Consumer<PendingAnswer> later,
    Consumer<Input> back) {
  static final Completions NONE =
      new Completions(List.of(), List.of(), (output, e) -> {}, PendingAnswer::run, input -> {});

  /** Takes those who are answered out of those who wait. */
  static Completions of(
      List<Effects.Output> outputs,
      InFlight<Consumer<Reply>> waiting,
      BiConsumer<Effects.Output, RuntimeException> couldNotLeave,
      Consumer<PendingAnswer> later,
      Consumer<Input> back) {
    if (outputs.isEmpty()) {
      return NONE;
    }
    List<Consumer<Reply>> answered = new ArrayList<>();
    for (Effects.Output output : outputs) {
      if (output instanceof Effects.ToClient a) {
        answered.add(waiting.remove(a.ticket()));
      }
    }
    return new Completions(outputs, answered, couldNotLeave, later, back);
  }

  /** Tells those who are answered that their batch is through. */
  void executed(Time time) {
    long nanos = 0;
    for (Consumer<Reply> waiting : answered) {
      if (waiting instanceof Inbox.Command c && c.reply() instanceof Phased p) {
        nanos = nanos == 0 ? time.nanos() : nanos;
        p.executed(nanos);
      }
    }
  }

  /** Tells them that the answers have been given. */
  private void told() {
    for (Consumer<Reply> waiting : answered) {
      if (waiting instanceof Inbox.Command c && c.reply() instanceof Phased p) {
        p.told();
      }
    }
  }

  /** Lets everything go, in its order. */
  void leave(PartitionPorts.Sender sender) {
    leave(sender, true);
    told();
  }

  /** Lets go what is no answer. */
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

  /** With those of its authors who want to know which changes are their own. */
  private Effects.Visible authored(Effects.Visible visible) {
    Map<Long, Long> authors = Map.of();
    int next = 0;
    for (Effects.Output output : outputs) {
      if (output instanceof Effects.ToClient a
          && answered.get(next++) instanceof Inbox.Command c
          && c.reply() instanceof Phased p
          && p.author() != 0) {
        authors = authors.isEmpty() ? new HashMap<>() : authors;
        authors.put(a.ticket(), p.author());
      }
    }
    return authors.isEmpty() ? visible : visible.by(authors);
  }

  /** Lets the answers go that {@link #send} has left. */
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

  /** Lets go what was made in another thread. */
  private void tell(Effects.LongAnswer answer, Consumer<Reply> to, Reply made) {
    answer.follows(made).ifPresent(back); // first: whoever is told may ask for more at once
    try {
      to.accept(made);
    } catch (RuntimeException e) {
      couldNotLeave.accept(answer, e);
    }
  }

  /** Answers all with something else: this has not left. */
  void abandon(Reply instead) {
    answered.forEach(reply -> reply.accept(instead));
    told();
  }
}
