package io.osier.bench.sim;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.Optional;

/** Sabotages of what clients of production do, and what comes to them. */
final class ClientSabotages {
  private ClientSabotages() {}

  static Sabotage silent() {
    return new Sabotage() {
      @Override
      public VersionVector after(VersionVector seen) {
        return VersionVector.EMPTY;
      }
    };
  }

  static Sabotage unmarked() {
    return new Sabotage() {
      @Override
      public Request repeat(Request.Repeat repeat) {
        return repeat.step();
      }
    };
  }

  static Sabotage believing() {
    return new Sabotage() {
      @Override
      public boolean believesRefusals() {
        return true;
      }
    };
  }

  static Sabotage mistaking() {
    return new Sabotage() {
      @Override
      public boolean takesForFailed() {
        return true;
      }
    };
  }

  static Sabotage repeating() {
    return new Sabotage() {
      @Override
      public boolean takesForNotSent() {
        return true;
      }
    };
  }

  static Sabotage amnesiac() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return switch (request) {
          case Request.Read r ->
              new Request.Read(
                  r.keyspace(),
                  r.key(),
                  r.type(),
                  r.query(),
                  VersionVector.EMPTY,
                  r.ordered(),
                  r.waitMillis());
          case Request.Write w ->
              new Request.Write(
                  w.keyspace(),
                  w.key(),
                  w.type(),
                  w.operation(),
                  VersionVector.EMPTY,
                  0,
                  w.ask(),
                  w.condition());
          default -> request;
        };
      }
    };
  }

  static Sabotage reversing() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return request instanceof Request.Write w && w.ask().isPresent()
            ? new Request.Write(
                w.keyspace(),
                w.key(),
                w.type(),
                w.operation(),
                w.after(),
                w.waitMillis(),
                w.ask().map(ask -> new Request.Ask(true, ask.query())))
            : request;
      }
    };
  }

  static Sabotage unconditional() {
    return new Sabotage() {
      private int requests;

      @Override
      public Request sent(Request request) {
        return request instanceof Request.Write w
                && w.condition().isPresent()
                && ++requests % 10 == 0
            ? new Request.Write(
                w.keyspace(), w.key(), w.type(), w.operation(), w.after(), w.waitMillis())
            : request;
      }
    };
  }

  static Sabotage straying() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        if (!(request instanceof Request.Read r && r.query() instanceof Query.Exists)) {
          return request;
        }
        boolean isSet = r.type().filter(type -> type == CrdtType.AW_SET).isPresent();
        return new Request.Read(
            r.keyspace(),
            r.key(),
            Optional.of(isSet ? CrdtType.PN_COUNTER : CrdtType.AW_SET),
            r.query(),
            r.after(),
            r.ordered(),
            r.waitMillis());
      }
    };
  }

  static Sabotage skipping() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return request instanceof ScanRequest s && s.from().isPresent()
            ? new ScanRequest(
                s.keyspace(),
                Optional.of(Key.of(s.from().get() + "\u007f")),
                s.to(),
                s.type(),
                s.query(),
                s.limit(),
                s.want())
            : request;
      }
    };
  }

  static Sabotage vague() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return switch (request) {
          case Request.ReadAll r ->
              new Request.ReadAll(
                  r.keyspace(), r.reads(), VersionVector.EMPTY, r.ordered(), r.waitMillis());
          case Request.WriteAll w ->
              new Request.WriteAll(w.keyspace(), w.updates(), VersionVector.EMPTY, w.waitMillis());
          default -> request;
        };
      }
    };
  }

  static Sabotage plain() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return request instanceof Request.Repeat r ? r.step() : request;
      }
    };
  }

  static Sabotage taciturn() {
    return new Sabotage() {
      @Override
      public boolean losesCalls() {
        return true;
      }
    };
  }
}
