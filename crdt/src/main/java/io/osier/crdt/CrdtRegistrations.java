package io.osier.crdt;

import io.osier.core.codec.Codec;
import io.osier.core.codec.CoreRegistrations;
import java.util.List;

/** The registered forms of this module's types. */
public final class CrdtRegistrations {
  /** All of them. */
  public static final List<Codec.Registration<?>> ALL =
      List.of(CoreRegistrations.of(Causal.class, 40, (out, c) -> c.write(out), Causal::read));

  private CrdtRegistrations() {}
}
