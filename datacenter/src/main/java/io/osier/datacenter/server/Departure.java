package io.osier.datacenter.server;

import io.netty.util.collection.LongObjectMap;
import io.osier.datacenter.partition.Effects;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a batch lets go, with those whom it answers: what cannot leave stops nothing else.
 *
 * @param outputs in their order
 * @param answered in the order of the answers among the outputs
 */
record Departure(List<Effects.Output> outputs, List<Consumer<Reply>> answered) {
  private static final Logger LOG = LoggerFactory.getLogger(Departure.class);

  static final Departure NONE = new Departure(List.of(), List.of());

  /** Takes those who are answered out of those who wait. */
  static Departure of(List<Effects.Output> outputs, LongObjectMap<Consumer<Reply>> waiting) {
    if (outputs.isEmpty()) {
      return NONE;
    }
    List<Consumer<Reply>> answered = new ArrayList<>();
    for (Effects.Output output : outputs) {
      if (output instanceof Effects.Answer a) {
        answered.add(waiting.remove(a.ticket()));
      }
    }
    return new Departure(outputs, answered);
  }

  /** Lets everything go, in its order. */
  void leave(Seat.Sender sender) {
    leave(sender, true);
  }

  /** Lets the frames go alone. */
  void send(Seat.Sender sender) {
    leave(sender, false);
  }

  private void leave(Seat.Sender sender, boolean answering) {
    int next = 0;
    for (Effects.Output output : outputs) {
      try {
        switch (output) {
          case Effects.Send s -> sender.send(s.dc(), s.frame());
          case Effects.Answer a -> {
            if (answering) {
              answered.get(next++).accept(a.reply());
            }
          }
        }
      } catch (RuntimeException e) {
        couldNotLeave(output, e);
      }
    }
  }

  /** Lets the answers go that {@link #send} has left. */
  void answer() {
    int next = 0;
    for (Effects.Output output : outputs) {
      if (output instanceof Effects.Answer a) {
        try {
          answered.get(next++).accept(a.reply());
        } catch (RuntimeException e) {
          couldNotLeave(a, e);
        }
      }
    }
  }

  private static void couldNotLeave(Effects.Output output, RuntimeException e) {
    LOG.error("{} could not leave", output.getClass().getSimpleName(), e);
  }

  /** Answers all with something else: this has not left. */
  void abandon(Reply instead) {
    answered.forEach(reply -> reply.accept(instead));
  }
}
