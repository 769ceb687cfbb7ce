package io.osier.datacenter.testing;

import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.partition.machine.Now;

/** A partition to which a test adds something. */
public class ForwardingMachine implements Machine {
  private final Machine inner;

  protected ForwardingMachine(Machine inner) {
    this.inner = inner;
  }

  @Override
  public void on(Input input, Now now) {
    inner.on(input, now);
  }

  @Override
  public Effects takeEffects() {
    return inner.takeEffects();
  }

  @Override
  public long nextTickNanos() {
    return inner.nextTickNanos();
  }

  @Override
  public boolean isReady() {
    return inner.isReady();
  }

  @Override
  public boolean isDrained() {
    return inner.isDrained();
  }

  @Override
  public void handled(int shipments, long nanos) {
    inner.handled(shipments, nanos);
  }
}
