package io.osier.datacenter.frontend;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.net.ByteBudget;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.Set;

/** Reads scripts that other datacenters forward, so that their steps are done here. */
@FunctionalInterface
public interface Scripts {
  /** Refuses all scripts. */
  Scripts NONE =
      (keyspace, form, named, answers) -> {
        throw new MalformedException("scripts of other datacenters are not known");
      };

  /** A script that is about to be done, once. */
  interface Begun {
    /** Returns its steps, with all keys that they use. */
    Call.Script script();

    /** Returns the bytes of its answers, about; once it is done. */
    long bytes();

    /**
     * Returns the answer for the asking datacenter, and gives back the bytes of the steps' answers.
     *
     * @param reply the reply to the program whose only call the script was
     * @param seen the updates that its steps were shown
     */
    Reply answer(Reply reply, VersionVector seen);
  }

  /**
   * Reads the form of a script.
   *
   * @param form as {@link Call.Script#form} made it
   * @param named keys that its program names: the script uses them even if it has no step
   * @param answers the budget of the answers of its steps
   * @throws MalformedException if the form cannot be read here
   */
  Begun read(String keyspace, byte[] form, Set<Key> named, ByteBudget answers);
}
