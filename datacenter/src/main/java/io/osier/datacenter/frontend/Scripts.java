package io.osier.datacenter.frontend;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.net.ByteBudget;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.Set;

/** Takes the steps of scripts that clients of other datacenters have asked for there. */
@FunctionalInterface
public interface Scripts {
  /** Takes none. */
  Scripts NONE =
      (keyspace, form, named, answers) -> {
        throw new MalformedException("scripts of other datacenters are not known");
      };

  /** One that is about to be done, once. */
  interface Begun {
    /** Its steps, and all keys that they are about. */
    Call.Script script();

    /** What its answers take, in bytes, about; once it is done. */
    long bytes();

    /**
     * What who asks is told; what the answers of the steps took is given back.
     *
     * @param reply to the program whose only call it was
     * @param seen what its steps were shown
     */
    Reply answer(Reply reply, VersionVector seen);
  }

  /**
   * Reads what a script follows.
   *
   * @param form as {@link Call.Script#form} made it
   * @param named keys that its program names: it is about them even if no step is left
   * @param answers what the answers of its steps are taken from
   * @throws MalformedException if nothing here can follow that
   */
  Begun read(String keyspace, byte[] form, Set<Key> named, ByteBudget answers);
}
