package io.osier.bench.sim;

import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** Sabotages of what travels between datacenters, and how much of it. */
final class LinkSabotages {
  private LinkSabotages() {}

  static Sabotage late() {
    return new Sabotage() {
      @Override
      public long extraDelayNanos(Frame frame) {
        return frame instanceof Frame.Updates ? 12_000_000_000L : 0;
      }
    };
  }

  static Sabotage needless() {
    return new Sabotage() {
      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.Updates u
            ? with(u, u.shipments().stream().map(LinkSabotages::needless).toList())
            : frame;
      }
    };
  }

  private static Shipment needless(Shipment s) {
    return new Shipment(
        s.object(),
        s.origin(),
        s.predecessor(),
        VersionVector.EMPTY,
        s.last(),
        s.updates(),
        s.ageMillis(),
        s.content());
  }

  /** The windows, with something else in front of each. */
  private static LinkWindows each(LinkWindows windows, UnaryOperator<LinkWindow> spoils) {
    return dc -> spoils.apply(windows.window(dc));
  }

  private record Spoilt(LinkWindow window, BooleanSupplier opens, BooleanSupplier gives)
      implements LinkWindow {
    @Override
    public boolean isOpen() {
      return window.isOpen() || opens.getAsBoolean();
    }

    @Override
    public void take(long bytes) {
      window.take(bytes);
    }

    @Override
    public void give(long bytes) {
      if (gives.getAsBoolean()) {
        window.give(bytes);
      }
    }
  }

  static Sabotage keeping() {
    return new Sabotage() {
      private int given;

      @Override
      public LinkWindows windows(Unit unit, LinkWindows windows) {
        return each(windows, w -> new Spoilt(w, () -> false, () -> ++given % 100 != 0));
      }
    };
  }

  static Sabotage boundless() {
    return new Sabotage() {
      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.HANGS, Fault.LARGE);
      }

      @Override
      public LinkWindows windows(Unit unit, LinkWindows windows) {
        return each(windows, w -> new Spoilt(w, () -> true, () -> true));
      }
    };
  }

  static Sabotage starving() {
    return new Sabotage() {
      @Override
      public boolean drops(Unit unit, Frame frame) {
        return unit.number() == 1 && frame instanceof Frame.Ack;
      }
    };
  }

  private static Frame.Status claiming(Frame.Status s, VersionVector through, long committed) {
    return new Frame.Status(
        s.wantResume(),
        s.epoch(),
        s.sequence(),
        through,
        s.life(),
        s.changes(),
        committed,
        s.waiting(),
        s.sentMillis());
  }

  /** Each datacenter is said to have what was done by one that nobody has ever heard of. */
  static Sabotage boasting() {
    VersionVector never = VersionVector.of(new ReplicaId("ghost", 1), 7);
    return new Sabotage() {
      @Override
      public int seconds() {
        return 150;
      }

      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.Status s
            ? claiming(s, s.through().join(never), s.committed())
            : frame;
      }
    };
  }

  /** Who removes what has expired believes that nobody has done anything. */
  static Sabotage impatient() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EXPIRY);
      }

      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.LOSS, Fault.REORDER, Fault.HANGS);
      }

      @Override
      public int seconds() {
        return 240;
      }

      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.Status s ? claiming(s, s.through(), 0) : frame;
      }
    };
  }

  /** Others are not told what the removal of an object has seen. */
  static Sabotage careless() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EXPIRY);
      }

      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.Updates u
            ? with(u, u.shipments().stream().map(LinkSabotages::careless).toList())
            : frame;
      }
    };
  }

  private static Shipment careless(Shipment s) {
    CrdtState content = s.content();
    boolean removes =
        s.object().key().toString().startsWith("mortal")
            && content.isBottom()
            && !content.expires()
            && !content.isFull();
    return removes
        ? new Shipment(
            s.object(),
            s.origin(),
            s.predecessor(),
            s.needs(),
            s.last(),
            s.updates(),
            s.ageMillis(),
            Updates.prepareNothing(content.type(), s.origin(), s.last(), s.predecessor()))
        : s;
  }

  private static Frame with(Frame.Updates u, List<Shipment> shipments) {
    return new Frame.Updates(
        u.kind(),
        u.epoch(),
        u.sequence(),
        u.through(),
        u.deps(),
        u.cursor(),
        u.outage(),
        u.sentMillis(),
        shipments);
  }

  static Sabotage rash() {
    return new Sabotage() {
      @Override
      public Set<Fault> needs() {
        return EnumSet.allOf(Fault.class);
      }

      @Override
      public int seconds() {
        return 400;
      }

      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.StatesAndOffer s ? s.states() : frame;
      }
    };
  }
}
